# SPDX-License-Identifier: GPL-2.0-or-later
"""One page with every figure of the paper: our measurements next to the paper's statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import get_args

from s80lab.analysis.claims.rules import TOLERANCE, Verdict
from s80lab.analysis.groups import Group, read_groups, read_runs
from s80lab.analysis.profile import read_profile
from s80lab.analysis.sections import Entry
from s80lab.analysis.study import StudyFinding, study_findings
from s80lab.analysis.sweep import sweep_groups, swept
from s80lab.base.errors import UserError
from s80lab.base.format import ABSENT, PERCENT
from s80lab.config.experiment import load_experiment
from s80lab.config.grid import Grid
from s80lab.config.reproduce import FigureOf
from s80lab.report.claims import COUNTED, claims_table
from s80lab.report.figures.all import Picture, draw
from s80lab.report.guest import guests_of_page
from s80lab.report.machine import machine_table
from s80lab.report.page import Topic, origins, render, write_files
from s80lab.report.profile import profile_tables
from s80lab.report.sweep import ratio_table, sweep_picture, sweep_table
from s80lab.report.tables import Cell, Row, Table, intervals_note, table_by_group
from s80lab.report.validity import verdicts_with_reasons
from s80lab.results import paper
from s80lab.results.run_folder import RunFolder
from s80lab.results.study import StudyAnswers, load_answers

_SIGNS: Mapping[Verdict, str] = {"agrees": "=", "differs": "≠", "not comparable": "·"}
_RULE = (
    f"A single number of the study is read as a range, this number ± {TOLERANCE:.0%}. Agrees: our mean is "
    "within the study's range. Differs: the whole 95% interval of our mean is outside the study's range."
)


def study_tables(study: str, groups: Sequence[Group]) -> list[Table]:
    """A table with one column of our numbers; for the conditions of a sweep also a table with one column per
    condition. groups: one per point of the experiment's sweep."""
    answers, findings = load_answers(study), study_findings(study, groups)
    verdicts = Counter(finding.judgement.verdict for finding in findings)
    counts = ", ".join(f"{verdicts[verdict]} {COUNTED[verdict]}" for verdict in get_args(Verdict))
    note = " ".join([f"Of {len(findings)} statements, {counts}.", _RULE, *answers.remarks])
    swept = [finding for finding in findings if finding.statement.at in answers.conditions]
    rest = [finding for finding in findings if finding not in swept]
    tables = [_by_condition(answers, swept, note)] if swept else []
    return [*tables, _one_by_one(f"Comparison with the study: {answers.title}", rest, "" if swept else note)]


def _one_by_one(title: str, findings: Sequence[StudyFinding], note: str) -> Table:
    table = Table(title, ("study", "s80lab", "unit", "verdict"), note=note)
    place = ""
    for finding in findings:
        statement = finding.statement
        if statement.place != place:
            table.rows.append(Row(statement.place, (), head=True))
            place = statement.place
        cells = (
            Cell(statement.stated),
            Cell(finding.text, warm=finding.warm),
            Cell(statement.unit or ABSENT),
            Cell(finding.judgement.verdict),
        )
        at = f", {statement.at}" if statement.at else ""
        table.rows.append(Row(f"{statement.id} {statement.quantity}{at}", cells, detail=finding.reason))
    return table


def _by_condition(answers: StudyAnswers, findings: Sequence[StudyFinding], note: str) -> Table:
    """A table laid out as in the study: one row per quantity, one column per condition."""
    columns = tuple(answers.conditions)
    signs = ", ".join(f"{sign} {verdict}" for verdict, sign in _SIGNS.items())
    table = Table(
        answers.title,
        (*columns, "unit"),
        note=f"Each cell: the study's number, the verdict as a sign, our number if measured. Signs: {signs}. {note}",
    )
    for quantity, found in groupby(findings, key=lambda finding: finding.statement.quantity):
        at = {finding.statement.at: finding for finding in found}
        cells = [_cell(at[column]) if column in at else Cell(ABSENT) for column in columns]
        reasons = dict.fromkeys(finding.reason for finding in at.values() if finding.reason)
        unit = next(iter(at.values())).statement.unit
        table.rows.append(Row(quantity, (*cells, Cell(unit or ABSENT)), detail=" ".join(reasons)))
    return table


def _cell(finding: StudyFinding) -> Cell:
    ours = "" if finding.ours is None else f" {finding.text}"
    return Cell(f"{finding.statement.stated} {_SIGNS[finding.judgement.verdict]}{ours}", warm=finding.warm)


PAPER = "Koka and Lipasti, Characterization of an IMAP Server on a Shared-Memory Multiprocessor"


@dataclass(frozen=True)
class Shown:
    """A figure of the paper and the groups, pictures and tables that were measured for it."""

    figure: FigureOf
    groups: list[Group]
    pictures: list[Picture]
    tables: list[Table]


def show_figure(figure: FigureOf, runs: Mapping[str, Sequence[Path]]) -> Shown:
    """Collects pictures and tables of one figure. runs: the folders of each experiment's runs. For a figure with a
    profile, one run of each mix, or of each point of a sweep, has a profile."""
    folders = [folder for name in figure.experiments for folder in runs[name]]
    if figure.coherence:
        groups = coherence_groups(folders)
        return Shown(figure, groups, draw(groups, figure.pictures), [coherence_table(groups)])
    profiles = _profiles(folders) if figure.profile else []
    if swept(RunFolder(folders[0]).manifest):
        shown = _show_sweeps(figure, runs)
        return replace(shown, tables=[*shown.tables, *profiles])
    groups = read_groups(folders)
    tables = study_tables(figure.study, groups) if figure.study else []
    tables += [_of_claims(figure, groups)] if figure.claims else []
    return Shown(figure, groups, draw(groups, figure.pictures), [*tables, *profiles])


def _show_sweeps(figure: FigureOf, runs: Mapping[str, Sequence[Path]]) -> Shown:
    """Tables and curves of each experiment's sweep. Statements and ratios refer to the first experiment."""
    swept_groups = {name: sweep_groups(read_runs(runs[name])) for name in figure.experiments}
    first = swept_groups[figure.experiments[0]]
    tables = study_tables(figure.study, first) if figure.study else []
    tables += [ratio_table(first, figure.ratios)] if figure.ratios else []
    shows = {name: load_experiment(name, {}).show for name in swept_groups}
    tables += [sweep_table(name, groups, shows[name]) for name, groups in swept_groups.items()]
    pictures = [sweep_picture(groups, shows[name], name) for name, groups in swept_groups.items()]
    return Shown(figure, [group for groups in swept_groups.values() for group in groups], pictures, tables)


def _profiles(folders: Sequence[Path]) -> list[Table]:
    """The table of the sessions' user functions of each run with a profile."""
    tables = []
    for folder in (one for one in folders if RunFolder(one).has_profile()):
        manifest = RunFolder(folder).manifest
        by_function, *_ = profile_tables(read_profile(folder).samples)
        tables.append(
            replace(by_function, title=f"{by_function.title}: {manifest['workload']}, server {manifest['server']}")
        )
    return tables


def write_page(shown: Sequence[Shown], folder: Path) -> Path:
    """Writes report.html with every figure, and the pictures as files in figures/; returns the page's path."""
    topics = [
        Topic(one.figure.title, one.pictures, one.tables, f"{one.figure.whose}: {one.figure.says}") for one in shown
    ]
    # A group is of several figures.
    groups = list({_names(group): group for one in shown for group in one.groups}.values())
    topics.append(Topic("Machine", [], [machine_table(groups)]))
    first = groups[0].runs[0].manifest
    scales = dict.fromkeys(str(group.runs[0].manifest["scale"]) for group in groups)
    papers = [PAPER for one in shown if not one.figure.study]
    studies = [load_answers(one.figure.study).title for one in shown if one.figure.study]
    guests, tables = guests_of_page(groups, _load)
    page = render(
        "Reproduction of the paper, figure by figure" if papers else "Reproduction of the other studies",
        f"{', '.join(dict.fromkeys(papers + studies))}: the published statements next to measurements with "
        f"s80lab. Scale {', '.join(scales)}, engine {first['engine']}. All times are simulated time, the time "
        "of the modelled machine.",
        verdicts=verdicts_with_reasons(groups),
        notes=[*guests, intervals_note(groups)],
        topics=topics,
        origins=[*tables, *(origins(group, kind) for group in groups for kind in ("inputs", "versions"))],
    )
    return write_files(folder, page, [picture for one in shown for picture in _named(one)])


def _named(one: Shown) -> list[Picture]:
    """The pictures, named after the figure of the paper."""
    if len(one.pictures) == 1:
        return [replace(one.pictures[0], name=one.figure.name)]
    return [replace(picture, name=f"{one.figure.name}-{picture.name}") for picture in one.pictures]


def _load(group: Group) -> str:
    """Workload and server of the group, which are equal at every point of a sweep."""
    manifest = group.runs[0].manifest
    return f"{manifest['workload']} on {manifest['server']}"


def _names(group: Group) -> tuple[str, ...]:
    return tuple(str(run.manifest["run"]) for run in group.runs)


def _of_claims(figure: FigureOf, groups: Sequence[Group]) -> Table:
    """The rows of the table of claims that belong to the figure."""
    table = claims_table(groups)
    rows = {row.label.split()[0]: row for row in table.rows}
    missing = [claim for claim in figure.claims if claim not in rows]
    if missing:
        raise UserError(
            f"configs/reproduce.toml: {figure.name} names the claims {', '.join(missing)}, which are not in "
            "results/paper/claims.tsv"
        )
    return Table(table.title, table.columns, [rows[claim] for claim in figure.claims], table.note)


STARTS = 3
"""Runs that a row needs for a meaningful interval."""
MEMORY, E_TO_M = "miss_source_of.session.all.memory", "e_to_m_share_of.session"
COLUMNS: Mapping[str, str] = {
    MEMORY: "from memory",
    "miss_source_of.session.all.M": "from a cache in M",
    "miss_source_of.session.all.O": "from O",
    "miss_source_of.session.all.E": "from E",
    "miss_source_of.session.all.S": "from S",
    "e_share_of.session": "E share",
    E_TO_M: "E-to-M upgrades per E fill",
}
CLAIMS = ("C15", "C16", "C20", "C21", "C22")


def coherence_groups(run_dirs: Sequence[Path]) -> list[Group]:
    """The runs of each workload on each server, labelled with both; highest share serviced by memory first."""
    if not run_dirs:
        raise UserError(
            "the experiments behind this figure have no runs; make runs with `s80lab reproduce` or `s80lab run`"
        )
    groups = [replace(group, label=_load(group)) for group in read_groups(run_dirs)]
    return sorted(groups, key=lambda group: group.mean(MEMORY), reverse=True)


def coherence_table(groups: Sequence[Group]) -> Table:
    """One row per group; the rank by silent E-to-M upgrades is a column."""
    lowest = sorted(groups, key=lambda group: group.mean(E_TO_M))
    last = {
        "rank by E-to-M upgrades per E fill": lambda group: Cell(
            str(lowest.index(group) + 1) if group.estimate(E_TO_M) else ABSENT
        ),
        "valid runs": lambda group: Cell(_starts(group)),
    }
    table = table_by_group(
        "Misses and fills of sessions, ordered by the share serviced by memory",
        groups,
        [Entry(title, metric, PERCENT) for metric, title in COLUMNS.items()],
        last,
        lambda group: " ".join(filter(None, (_point(group), _says(group.workload)))),
    )
    table.note = (
        "Sessions are the processes or threads that serve the clients. The first five columns are the "
        "sources of the sessions' L2 misses. E-to-M upgrades are silent upgrades; rank 1 is the lowest "
        "share. If the intervals of two rows overlap, the order of these rows is not certain. In the "
        "paper (Koka and Lipasti), memory services more of the misses of IMAP (75 to 85%) than of "
        "SPECmail (at most 15%). Of the paper's workloads, IMAP has the lowest share of E-to-M upgrades "
        "per E fill, and SPECweb_SSL the highest (61%). The paper states neither number for SPECjbb2000."
    )
    return table


def _point(group: Group) -> str:
    """A sentence with the values of the sweep's point, except workload and server, which are in the label."""
    varied = group.runs[0].manifest.get("varied", {})
    at = {key: value for key, value in varied.items() if key not in ("workload", "server")}
    return f"At {Grid.of_points([at]).label(at)}." if at else ""


def _starts(group: Group) -> str:
    results = sum(not run.reasons for run in group.runs)
    if results >= STARTS:
        return str(results)
    return f"{results} of {STARTS}" if results else "invalid"


def _says(mix: str) -> str:
    name = paper.STAND_INS.get(mix, mix)
    own = [claim for claim in paper.claims() if claim.id in CLAIMS and name in claim.workloads]
    claims = "; ".join(f"{claim.quantity}: {claim.stated or claim.words} ({claim.id})" for claim in own)
    return f"The paper on {name}: {claims}." if claims else ""

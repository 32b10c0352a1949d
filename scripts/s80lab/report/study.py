# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of a study's published numbers beside our measurements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import get_args

from s80lab.analysis.claims.rules import TOLERANCE, Verdict
from s80lab.analysis.groups import Group
from s80lab.analysis.rows import ABSENT
from s80lab.analysis.study import StudyFinding, study_findings
from s80lab.report.claims import COUNTED
from s80lab.report.tables import Cell, Row, Table
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

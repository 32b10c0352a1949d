# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of the paper's claims in a report, and the page docs/background/claims.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

from s80lab.analysis.claims.judge import Finding, findings, said_by_paper
from s80lab.analysis.claims.rules import TOLERANCE, Verdict
from s80lab.analysis.groups import Group
from s80lab.analysis.interval import number
from s80lab.analysis.sections import SECTIONS
from s80lab.base.format import ABSENT, PERCENT, THREE, Format
from s80lab.base.terminal import counted
from s80lab.report.tables import Cell, Row, Table, markdown_rows, wrap
from s80lab.results.metrics.derive import find_metric

TITLE = "Comparison with the paper"
RULES = (
    f"If the paper states a single number, its range is this number ± {TOLERANCE:.0%}. Agrees: our mean lies in the "
    "paper's range. Differs: our whole 95% interval lies outside the paper's range. Not comparable: the row states the "
    "reason."
)
COUNTED = {"agrees": "agree", "differs": "differ", "not comparable": "are not comparable"}
GENERATED_BY = "s80lab claims --reference"
_STYLES = {entry.metric: entry.style for section in SECTIONS for entry in section.entries}


def claims_table(groups: Sequence[Group]) -> Table:
    """One row per claim: our numbers, the paper's number, the verdict; the reasons are the row's detail."""
    table = Table(TITLE, (*(group.label for group in groups), "paper", "verdict"), note=RULES)
    warm = tuple(group.warm for group in groups)
    for finding in findings(groups):
        ours = [Cell(text, warm=text == ABSENT or settled) for text, settled in zip(_ours(finding), warm, strict=True)]
        claim = finding.claim
        label = f"{claim.id} {claim.quantity} ({_workloads(finding)}{claim.section})"
        cells = (*ours, Cell(said_by_paper(claim)), Cell(finding.verdict_text))
        table.rows.append(Row(label, cells, detail=detail(finding)))
    return table


def claims_tables(groups: Sequence[Group]) -> list[Table]:
    """The table of the claims over the groups that have the paper's design. Empty if there is none."""
    compared = [group for group in groups if group.has_design_of_paper]
    return [claims_table(compared)] if compared else []


def verdict_counts(groups: Sequence[Group]) -> str:
    """The number of claims with each verdict, as a sentence."""
    verdicts = Counter(finding.verdict for finding in findings(groups))
    counts = ", ".join(f"{verdicts[verdict]} {COUNTED[verdict]}" for verdict in get_args(Verdict))
    return f"Of {verdicts.total()} claims, {counts}."


def detail(finding: Finding) -> str:
    """Sentences on how the claim is read, related numbers, reasons, tests of the reasons, and errors of the paper."""
    answer = finding.answer
    sentences = [f"We read the claim as {answer.read_as}." if answer.read_as else ""]
    if finding.claim.metric and finding.metric != finding.claim.metric:
        sentences.append(_beside(finding, "for the whole machine, not only the sessions", finding.claim.metric))
    sentences += [_beside(finding, words, metric) for words, metric in answer.beside.items()]
    sentences += finding.reasons
    if finding.verdict == "differs":
        tests = "; ".join(f"`{command}`" for command in answer.tests)
        sentences.append(f"This explanation was tested with {tests}." if tests else "This explanation was not tested.")
    sentences.append(f"Error in the paper: {answer.slip}" if answer.slip else "")
    return " ".join(sentence for sentence in sentences if sentence)


def _ours(finding: Finding) -> list[str]:
    answer, metric = finding.answer, finding.metric
    if answer.rule == "extremes":
        return [
            ", ".join(f"{one.name} {one.mean_ms:,.0f} ms (mean of {one.count})" for one in (ranking[:1] + ranking[-1:]))
            or ABSENT
            for ranking in finding.rankings
        ]
    if not metric or (answer.rule == "none" and not answer.shown):
        return [ABSENT] * len(finding.labels)
    return [number(numbers[metric], _style(finding.claim.metric or metric)) for numbers in finding.numbers]


def _beside(finding: Finding, words: str, metric: str) -> str:
    values = [(label, numbers[metric]) for label, numbers in zip(finding.labels, finding.numbers, strict=True)]
    known = [f"{number(value, _style(metric))} ({label})" for label, value in values if value is not None]
    return f"{words[:1].upper()}{words[1:]}: {', '.join(known)}." if known else ""


def _style(metric: str) -> Format:
    return _STYLES.get(metric, PERCENT if find_metric(metric).unit == "share" else THREE)


def _workloads(finding: Finding) -> str:
    """The claim's workloads other than the mixes, as a prefix of the section number."""
    others = [name for name in finding.claim.workloads if name not in ("imapb", "imape", "all")]
    return f"{', '.join(others)}; " if others else ""


def claims_page(sections: Mapping[str, Sequence[Group]]) -> str:
    """The page docs/background/claims.md: for each set of runs a heading, the counts of verdicts, and a table."""
    lines = [
        "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->",
        f"<!-- generated by `{GENERATED_BY}`; change results/paper/answers.toml or the runs, not this page -->",
        "# The claims of the paper",
        "",
        "This page compares every statement of *Characterization of an IMAP Server on a Shared-Memory Multiprocessor*",
        "(Koka and Lipasti) with our measurements. Our numbers are means over the runs with 95% intervals.",
        "[fidelity.md](fidelity.md) lists how our load, server and machine differ from the paper's.",
        "",
        "All runs of this page use the default server, Dovecot; the paper measured UW-IMAP. The page judges two sets",
        "of runs:",
        "- *At the paper's scale*: three seeds of one boot for each mix, measured with the",
        "  [earlier clock](clock.md#the-earlier-clock) and before the",
        "  [mail delivery fix](precision.md#results-measured-before-the-mail-delivery-fix).",
        "- *The default experiment*: six boots, one seed each, for each mix at the scale `small`, measured with the",
        "  present [clock](clock.md). The intervals are over the boots.",
        "",
        "The verdict *not comparable* means that these runs neither confirm nor refute the claim. Either the claim is",
        "about another workload, server or operating point, or about an input of the model, or the intervals are too",
        "wide.",
        "",
        *wrap(RULES),
        "",
    ]
    for heading, groups in sections.items():
        table = claims_table(groups)
        lines += [f"## {heading}", *wrap(f"{_runs(groups)}. {verdict_counts(groups)}"), ""]
        lines += [*markdown_rows(table, "claim (workload, section)"), ""]
    return "\n".join(lines)


def _load(group: Group) -> str:
    """Clients and think time as a phrase; empty for replays, which have no clients."""
    return (
        ""
        if group.replayed
        else "{clients} clients with a think time of {think_ms:g} ms, ".format(**group.runs[0].load)
    )


def _runs(groups: Sequence[Group]) -> str:
    """One phrase per group: runs, clients, think time, simulated time."""
    return "; ".join(
        f"{group.label}: {counted(len(group.runs), 'run')}, {_load(group)}"
        f"{sum(run.stats['region']['clock_ns'] for run in group.runs) / 1e9:.2f} simulated seconds in total"
        for group in groups
    )

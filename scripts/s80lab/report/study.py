# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a study's published numbers with our measurements, in the study's order and units, with a verdict each.

study_findings(study, groups) -> list[StudyFinding]
study_tables(study, groups) -> list[Table]   a table with one column of our numbers; for the conditions of a sweep also
                                             a table with one column per condition
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import get_args

from s80lab.report.claims.rules import TOLERANCE, Band, Judgement, Verdict, in_band
from s80lab.report.claims.tables import COUNTED
from s80lab.report.data import Group, varied
from s80lab.report.interval import Estimate, estimate
from s80lab.report.tables import ABSENT, Cell, Row, Table
from s80lab.results.study import Statement, StudyAnswer, StudyAnswers, load_answers, load_statements

_SIGNS: Mapping[Verdict, str] = {"agrees": "=", "differs": "≠", "not comparable": "·"}
_RULE = (
    f"A single number of the study is read as a range, this number ± {TOLERANCE:.0%}. Agrees: our mean is "
    "within the study's range. Differs: the whole 95% interval of our mean is outside the study's range."
)


@dataclass(frozen=True)
class StudyFinding:
    """A statement of the study with our number (in the study's unit, None if nothing was measured) and the verdict."""

    statement: Statement
    answer: StudyAnswer
    ours: Estimate | None
    warm: bool
    judgement: Judgement
    differs: str
    tests: tuple[str, ...]

    @property
    def text(self) -> str:
        if self.ours is None:
            return self.answer.given or ABSENT
        half = "" if self.ours.half_width is None else f" ± {_short(self.ours.half_width, 2)}"
        return f"{_short(self.ours.mean, 3)}{half}"

    @property
    def reason(self) -> str:
        """Why the verdict is not `agrees`; empty if it is."""
        if self.judgement.verdict == "differs":
            tests = "; ".join(f"`{command}`" for command in self.tests)
            tested = f"was tested with {tests}" if tests else "was not tested"
            return f"{self.differs} This explanation {tested}."
        return f"{self.judgement.note}." if self.judgement.verdict == "not comparable" else ""


def _short(value: float, digits: int) -> str:
    """The value with `digits` significant digits, but all digits before the decimal point."""
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def study_findings(study: str, groups: Sequence[Group]) -> list[StudyFinding]:
    """One finding per statement. groups: the experiment's groups, one per point of its sweep."""
    answers = load_answers(study)
    return [_finding(statement, answers, groups) for statement in load_statements(study)]


def _finding(statement: Statement, answers: StudyAnswers, groups: Sequence[Group]) -> StudyFinding:
    answer = answers.of(statement)
    points = [answers.point(statement), *([answer.over] if answer.over else [])] if answer.metrics else []
    measured = [group for point in points for group in groups if _point(group) == point]
    ours = _ours(measured, answer) if measured and len(measured) == len(points) else None
    warm = not any(group.marked(metric) for group in measured for metric in answer.metrics)
    judgement = _judge(statement, answer, ours, measured, points)
    why = answer if answer.differs else answers
    return StudyFinding(statement, answer, ours, warm, judgement, why.differs, why.tests)


def _judge(
    statement: Statement, answer: StudyAnswer, ours: Estimate | None, measured: Sequence[Group], points: Sequence[str]
) -> Judgement:
    if not answer.metrics:
        return Judgement(
            "not comparable",
            note="This value is an input of the experiment, not a measurement"
            if answer.given
            else answer.because.rstrip("."),
        )
    if len(measured) < len(points):
        return Judgement("not comparable", note="The experiment has no run at this point of its sweep")
    if ours is None:
        return Judgement("not comparable", note="At least one run completed no such operation in its measured region")
    reasons = [reason for group in measured for reason in group.reasons]
    if reasons:
        return Judgement("not comparable", note=f"Invalid run: {reasons[0]}")
    if answer.unjudged:
        return Judgement("not comparable", note=answer.unjudged.rstrip("."))
    read = answer.low is not None or answer.high is not None
    low, high = (answer.low, answer.high) if read else (statement.low, statement.high)
    if low is None and high is None:
        return Judgement(
            "not comparable", note="The study states an order without numbers; our number is shown and not judged"
        )
    return in_band(ours, Band.around(low, high))


def _point(group: Group) -> str:
    """The group's point of the sweep; empty for an experiment without a sweep."""
    return varied(group.runs[0].manifest)


def _ours(measured: Sequence[Group], answer: StudyAnswer) -> Estimate | None:
    """Our number in the study's unit. A ratio of two points pairs the seeds that both points have."""
    values, *below = (_by_seed(group, answer) for group in measured)
    for divisors in below:
        values = {seed: _over(values[seed], divisors[seed]) for seed in values if seed in divisors}
    less = 1.0 if answer.more else 0.0
    return estimate([None if value is None else (value - less) * answer.scale for value in values.values()])


def _over(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _by_seed(group: Group, answer: StudyAnswer) -> dict[int, float | None]:
    """For each seed the sum of the answer's metrics; None if one is undefined."""
    sums: dict[int, float | None] = {}
    for run in group.runs:
        parts = [run.metrics.get(metric) for metric in answer.metrics]
        known = [part for part in parts if part is not None]
        sums[run.manifest["seed"]] = sum(known) if len(known) == len(parts) else None
    return sums


def study_tables(study: str, groups: Sequence[Group]) -> list[Table]:
    """See the module's docstring."""
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

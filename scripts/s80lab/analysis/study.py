# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a study's published numbers with our measurements, in the study's order and units, with a verdict each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s80lab.analysis.claims.rules import Band, Judgement, in_band
from s80lab.analysis.groups import Group, varied
from s80lab.analysis.interval import Estimate, estimate, sample
from s80lab.base.format import ABSENT
from s80lab.results.study import Statement, StudyAnswer, StudyAnswers, load_answers, load_statements


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
    answer = answers.answer_to(statement)
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
    """Our number in the study's unit. A ratio of two points pairs the boots and seeds that both points have."""
    values, *below = (_by_boot_and_seed(group, answer) for group in measured)
    for divisors in below:
        values = {key: _over(values[key], divisors[key]) for key in values if key in divisors}
    less = 1.0 if answer.more else 0.0
    scaled = {key: None if value is None else (value - less) * answer.scale for key, value in values.items()}
    paired = [run for run in measured[0].runs if (run.boot, run.seed) in scaled]
    return estimate(sample(paired, lambda run: scaled[run.boot, run.seed]))


def _over(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _by_boot_and_seed(group: Group, answer: StudyAnswer) -> dict[tuple[int, int], float | None]:
    """For each boot and seed the sum of the answer's metrics; None if one is undefined."""
    sums: dict[tuple[int, int], float | None] = {}
    for run in group.runs:
        parts = [run.metrics.get(metric) for metric in answer.metrics]
        known = [part for part in parts if part is not None]
        sums[run.boot, run.seed] = sum(known) if len(known) == len(parts) else None
    return sums

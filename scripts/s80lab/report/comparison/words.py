# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of a comparison as text and as plain values for JSON, and the sentences beside its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from s80lab.analysis.comparison.contrast import FEWEST_PAIRS, Comparison, Contrast, Row
from s80lab.analysis.comparison.difference import MOST, Difference
from s80lab.analysis.comparison.functions import FunctionContrast, compare_functions
from s80lab.analysis.comparison.sides import other_programs
from s80lab.analysis.groups import Group
from s80lab.base.format import ABSENT, Format
from s80lab.base.terminal import counted


def value_text(row: Row, value: float) -> str:
    """A value, for example `52.7%` or `0.478`."""
    return row.style.text(value) + row.style.suffix


def difference_text(one: Contrast) -> str:
    """The difference with its 95% interval and its unit, for example `+5.8 ± 2.1 points`."""
    return difference_number(one) + (" points" if one.row.share else "")


def difference_number(one: Contrast) -> str:
    """The difference with its 95% interval; of a share in percentage points."""
    return signed_text(one.difference, one.row.style)


def signed_text(difference: Difference, style: Format) -> str:
    """A difference with its sign and its 95% interval, without a unit: `+5.8 ± 2.1`."""
    half = "" if difference.half_width is None else f" ± {style.text(difference.half_width)}"
    return style.text(difference.estimate, "+") + half


def ratio_text(one: Contrast) -> str:
    return ABSENT if one.ratio is None else f"{one.ratio:.2f}"


def verdict_lines(comparison: Comparison) -> list[str]:
    """One line per verdict: the rows of the headline with this verdict. Empty if no row is tested."""
    lines = []
    for verdict in ("higher", "lower", "no difference shown"):
        found = [one for one in comparison.tested if one.verdict == verdict]
        shown = verdict in ("higher", "lower")
        rows = [f"{one.row.label} ({difference_text(one)})" if shown else one.row.label for one in found]
        if rows:
            lines.append(f"{verdict[:1].upper()}{verdict[1:]}: {'; '.join(rows)}.")
    return lines


def lead(comparison: Comparison) -> str:
    """What is compared, and in what the designs differ."""
    differing = "; ".join(map(str, comparison.changes)) or "nothing that is recorded"
    return f"A: {comparison.first.label}. B: {comparison.second.label}. From A to B: {differing}."


def notes(comparison: Comparison) -> list[str]:
    """How to read the numbers: observations, method, and what limits the comparison."""
    return [_observations(comparison), *_method(comparison), *_limits(comparison)]


def effort_lines(comparison: Comparison) -> list[str]:
    """For each row without a shown difference: how many further observations would show one."""
    return [_effort(one, comparison.unit) for one in comparison.tested if one.verdict == "no difference shown"]


def _effort(one: Contrast, unit: str) -> str:
    label, worth = one.row.label[:1].upper() + one.row.label[1:], f"a difference of {one.row.worth_text}"
    if one.further is None:
        return f"{label}: more than {MOST:,} {unit}s a side are needed to show {worth}."
    if one.further == 0:
        return f"{label}: these runs are enough to show {worth}."
    return f"{label}: about {one.further} more {unit}{'s' * (one.further > 1)} a side would show {worth}."


def _observations(comparison: Comparison) -> str:
    sides = (("A", comparison.first), ("B", comparison.second))
    counts = " and ".join(f"{_counted_side(side, comparison.unit)} on side {name}" for name, side in sides)
    mean = "" if all(len(side.observations) == len(side.runs) for _, side in sides) else ", the mean over its runs"
    return f"The unit of observation is the {comparison.unit}{mean}: {counts}."


def _counted_side(side: Group, unit: str) -> str:
    return f"{counted(len(side.observations), unit)} ({counted(len(side.runs), 'run')})"


def _method(comparison: Comparison) -> list[str]:
    unit, least = comparison.unit, min(comparison.counts)
    if least < 2:
        return [_without_interval(comparison)]
    if comparison.paired:
        how = f"The difference B - A is taken within each {unit} of both sides; ± is its 95% interval (Student's t)."
    else:
        how = "± beside the difference B - A is the half-width of its 95% interval (Welch's t)."
    tests = len(comparison.tested) * comparison.together
    found = [
        how,
        f"Verdicts are corrected for {tests} tests (Holm): of comparisons of equal designs, 5% at most call any row "
        "higher or lower. Intervals are not corrected, so an interval without 0 is possible in a row without a shown "
        "difference.",
    ]
    if comparison.shared and not comparison.paired:
        found.append(
            f"Both sides have the same boots. With fewer than {FEWEST_PAIRS} boots, they are treated as independent, "
            "which makes the intervals rather too wide."
        )
    return found


def _without_interval(comparison: Comparison) -> str:
    one = [name for name, count in zip("AB", comparison.counts, strict=True) if count < 2]
    sides = f"side{'s' * (len(one) > 1)} {' and '.join(one)} ha{'ve' if len(one) > 1 else 's'} one {comparison.unit}"
    absent = f"The table has neither intervals nor verdicts, because {sides}."
    if comparison.unit == "capture":
        experiment = comparison.first.manifest["experiment"]
        return (
            f"{absent} The differences are exact for the recorded accesses, but other seeds may differ: record other "
            f"seeds (`s80lab capture {experiment} --seed 2`), and name them with `--seeds 1,2`."
        )
    return (
        f"{absent} Seeds of one boot are not independent. Measure on more boots: repeat the comparison with "
        "`--run --boots 1,2,3`."
    )


def _limits(comparison: Comparison) -> list[str]:
    found = []
    programs = other_programs(comparison.first, comparison.second)
    if programs:
        found.append(
            f"The sides also differ in: {', '.join(programs)}. Differences may be due to these, too; measure the older "
            "side again."
        )
    if comparison.unit == "capture":
        found.append(
            "Both designs play the same recorded accesses. Clients do not react to the timing of a design. "
            "Captures are recorded from boot 1, so intervals do not cover other boots."
        )
    return found + _filtered(comparison)


def _filtered(comparison: Comparison) -> list[str]:
    """The statements on the error of filtered captures, each once."""
    statements: Sequence[str] = [
        str(run.manifest["filter_error"]["statement"])
        for side in (comparison.first, comparison.second)
        for run in side.runs
        if run.manifest.get("filter_error")
    ]
    return list(dict.fromkeys(statements))


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """Sides, changes, rows and notes. Values are in the unit of the metric; shares are between 0 and 1."""
    return {
        "first": _side(comparison.first),
        "second": _side(comparison.second),
        "changes": [asdict(change) for change in comparison.changes],
        "unit": comparison.unit,
        "paired": comparison.paired,
        "rows": [_row(one) | _tested(one) for one in comparison.tested],
        "other_rows": [_row(one) for one in comparison.further],
        "functions": [_function(one) for one in compare_functions(comparison)],
        "notes": [*notes(comparison), *effort_lines(comparison)],
    }


def _side(side: Group) -> dict[str, Any]:
    return {
        "label": side.label,
        "observations": len(side.observations),
        "runs": [{"run": run.name, "observation": run.observation, "seed": run.seed} for run in side.runs],
    }


def _row(one: Contrast) -> dict[str, Any]:
    return {"name": one.row.name, **one.values()}


def _tested(one: Contrast) -> dict[str, Any]:
    return {
        "probability": one.difference.probability,
        "corrected": one.corrected,
        "verdict": one.verdict,
        "detectable": one.detectable,
        "worth": one.row.wanted(one.first),
        "further": one.further,
    }


def _function(one: FunctionContrast) -> dict[str, Any]:
    return {
        "function": one.name,
        "first": one.first,
        "second": one.second,
        "difference": one.difference.estimate,
        "half_width": one.difference.half_width,
        "change": one.change,
    }

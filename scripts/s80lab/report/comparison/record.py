# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison as plain values for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from s80lab.analysis.comparison.contrast import Comparison, Contrast
from s80lab.analysis.comparison.functions import FunctionContrast, compare_functions
from s80lab.analysis.groups import Group
from s80lab.report.comparison.words import effort_lines, notes


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

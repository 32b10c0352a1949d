# SPDX-License-Identifier: GPL-2.0-or-later
"""Converts runs, groups and tables into plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from s80lab.analysis.groups import Group, Run, varied
from s80lab.analysis.interval import Estimate
from s80lab.report.tables import Table

# The keys of a run's manifest that distinguish it from other runs.
IDENTITY = ("run", "experiment", "workload", "scale", "machine", "protocol", "image", "server", "engine", "seed")


def run_record(run: Run) -> dict[str, Any]:
    """One run: its identity, the reasons if it is invalid, and every metric in its own unit."""
    return {
        **{key: run.manifest[key] for key in IDENTITY},
        "varied": varied(run.manifest),
        "differences": dict(run.differences),
        "warm": run.warm,
        "invalid": list(run.reasons),
        "metrics": dict(run.metrics),
    }


def groups_record(groups: Iterable[Group]) -> list[dict[str, Any]]:
    """Every group: its runs, the reasons of invalid runs, and every metric as a mean with the half-width of its 95%
    interval (null for one run). unit: what mean and interval are over, boots or the seeds of one boot."""
    return [_group(group) for group in groups]


def _group(group: Group) -> dict[str, Any]:
    first = group.runs[0].manifest
    return {
        "label": group.label,
        **{key: first[key] for key in IDENTITY if key not in ("run", "seed")},
        "differences": dict(group.differences),
        "runs": [run.manifest["run"] for run in group.runs],
        "seeds": [run.seed for run in group.runs],
        "boots": [run.boot for run in group.runs],
        "unit": group.unit,
        "warm": group.warm,
        "invalid": {run.manifest["run"]: list(run.reasons) for run in (*group.runs, *group.excluded) if run.reasons},
        "metrics": estimates_record(group),
    }


def estimates_record(group: Group) -> dict[str, Any]:
    """Every metric of a group as a mean with the half-width of its interval (null for one run)."""
    return {name: estimate_record(group.estimate(name)) for name in metric_names(group.runs)}


def metric_names(runs: Iterable[Run]) -> list[str]:
    """The flattened names of all metrics that any of the runs has, in the order of stats.json."""
    return list(dict.fromkeys(name for run in runs for name in run.metrics))


def estimate_record(estimate: Estimate | None) -> dict[str, Any] | None:
    return None if estimate is None else asdict(estimate)


def tables_record(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """The tables row by row, with their cells as text."""
    return [
        {
            "title": table.title,
            "note": table.note,
            "columns": list(table.columns),
            "rows": [
                {"label": row.label, "cells": [cell.text for cell in row.cells]} for row in table.rows if not row.head
            ],
        }
        for table in tables
    ]

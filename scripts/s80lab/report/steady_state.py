# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of the steady-state test: the drift of each watched share, beside the limit."""

from __future__ import annotations

from collections.abc import Sequence

from s80lab.analysis.groups import Group
from s80lab.analysis.rows import ABSENT
from s80lab.report.tables import Cell, Row, Table
from s80lab.results.metrics.warmup import ALLOWED_DRIFT_POINTS
from s80lab.results.metrics.watched import EARLIER_NAMES, NAMES

NOTE = (
    "Drift: the share in the last third of the warm-up minus the share in the third before, in points (percent); of "
    "all seeds the largest, ± its standard error. A run is valid only if each drift is below the limit, its standard "
    "error is at most half the limit, and no drift is more than chance (5% for all shares together)."
)


def steady_state_table(groups: Sequence[Group]) -> Table:
    """One row per watched share and one column per group. Shares without a drift in any group are left out."""
    table = Table("Drift of the headline shares at the end of the warm-up", tuple(group.label for group in groups))
    table.rows.append(Row("limit", tuple(Cell(_limit(group)) for group in groups)))
    for metric, name in NAMES.items():
        cells = tuple(Cell(_drift(group, metric)) for group in groups)
        if any(cell.text != ABSENT for cell in cells):
            table.rows.append(Row(name, cells))
    table.note = NOTE
    return table


def _limit(group: Group) -> str:
    limits = {float(run.manifest.get("drift_points", ALLOWED_DRIFT_POINTS)) for run in group.runs}
    return f"{', '.join(f'{limit:g}' for limit in sorted(limits))} points"


def _drift(group: Group, metric: str) -> str:
    """The largest drift of the group's runs in points, with its standard error if it is known."""
    found: list[tuple[float, float | None]] = []
    for run in group.runs:
        warmup = run.stats["warmup"]
        drifts, errors = warmup["drift_points"], warmup.get("error_points", {})
        key = metric if metric in drifts else EARLIER_NAMES.get(metric, metric)
        if (drift := drifts.get(key)) is not None:
            found.append((drift, errors.get(key)))
    if not found:
        return ABSENT
    points, error = max(found, key=lambda one: abs(one[0]))
    return f"{points:+.1f}" if error is None else f"{points:+.1f} ± {error:.1f}"

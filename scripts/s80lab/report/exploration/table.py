# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of an exploration: the metrics of each design, and the error of a filtered capture."""

from __future__ import annotations

from collections.abc import Sequence

from s80lab.analysis.groups import Group, Run
from s80lab.analysis.rows import ABSENT, PERCENT, THREE, Entry
from s80lab.base.terminal import counted
from s80lab.capture.error import QUANTITIES
from s80lab.capture.explore.grid import Point
from s80lab.config.grid import Grid
from s80lab.report.tables import Cell, Row, Table, table_by_group

ENTRIES = (
    Entry("L2 MPKI", "l2_mpki.all", THREE),
    Entry("from memory", "miss_source.all.memory", PERCENT),
    Entry("from M", "miss_source.all.M", PERCENT),
    Entry("from O", "miss_source.all.O", PERCENT),
    Entry("from E", "miss_source.all.E", PERCENT),
    Entry("from S", "miss_source.all.S", PERCENT),
    Entry("E share", "e_share", PERCENT),
    Entry("E-to-M per E fill", "e_to_m_share", PERCENT),
    Entry("upgrades", "upgrade_pki.made", THREE),
    Entry("traffic", "traffic_pki.all", THREE),
    Entry("CPI", "cpi.all", THREE),
)


def designs_table(labels: Sequence[str], runs: Sequence[Run]) -> Table:
    """A table with one row per design."""
    groups = [Group(label, (run,)) for label, run in zip(labels, runs, strict=True)]
    table = table_by_group("All designs", groups, ENTRIES, {"verdict": _verdict})
    table.note = (
        "L2 MPKI: L2 misses per 1000 instructions. From memory, M, O, E, S: share of the misses serviced by "
        "memory or by a cache in that state. E share: E fills divided by all fills. E-to-M per E fill: silent "
        "E-to-M upgrades per E fill. Upgrades and traffic (blocks fetched, blocks written back, and upgrades): per "
        "1000 instructions. Verdict: invalid if the caches did not reach steady state before the measured region."
    )
    return table


def verdicts(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """The warning above all numbers if designs are invalid, as verdict and reason. Of a replay, only the steady state
    decides."""
    invalid = sum(bool(run.reasons) for run in runs)
    why = (
        "The caches of these designs did not reach steady state before the measured region. `s80lab replay` states the "
        "reasons for one design."
    )
    return [(f"{invalid} of {counted(len(runs), 'design')}: invalid (not a result).", why)] if invalid else []


def labels(grid: Grid, points: Sequence[Point]) -> list[str]:
    """The label of each row."""
    return [grid.label(point.values) for point in points]


def errors_table(grid: Grid, points: Sequence[Point], runs: Sequence[Run]) -> Table | None:
    """The error of the filtered capture for each design; None for a full capture, or if no error has been measured."""
    if not any((run.manifest["filter_error"] or {}).get("errors") for run in runs):
        return None
    table = Table(
        "Error of the filtered capture",
        tuple(f"{one.title}, {one.unit}" for one in QUANTITIES),
        note="Error: value from a filtered capture minus value from a full capture. It was measured with the "
        "protocol of the row, and with the L2 size of the row or the next smaller measured size; a dash: "
        "not measured. A difference between two designs that is not larger than this error is not "
        "significant.",
    )
    for point, run in zip(points, runs, strict=True):
        errors = run.manifest["filter_error"]["errors"]
        cells = (ABSENT if errors.get(one.name) is None else f"{errors[one.name]:+.2f}" for one in QUANTITIES)
        table.rows.append(Row(grid.label(point.values), tuple(map(Cell, cells))))
    return table


def _verdict(group: Group) -> Cell:
    return Cell("invalid" if group.reasons else "valid")

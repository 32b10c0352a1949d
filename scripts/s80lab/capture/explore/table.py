# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of an exploration: what each design did, and what the capture's form hides of it."""

from __future__ import annotations

from collections.abc import Sequence

from s80lab.capture.error import QUANTITIES
from s80lab.capture.explore.grid import Point
from s80lab.config.axes import Axis, row_label
from s80lab.report.data import NOT_WARM, Run
from s80lab.report.interval import Estimate
from s80lab.report.rows import PERCENT, THREE, Format
from s80lab.report.tables import ABSENT, Cell, Row, Table, number

# Metric, its title, and its form: the columns of the table, and those with a picture.
COLUMNS: tuple[tuple[str, str, Format], ...] = (
    ("l2_mpki.all", "MPKI", THREE),
    ("miss_source.all.memory", "memory", PERCENT),
    ("miss_source.all.M", "from M", PERCENT),
    ("miss_source.all.O", "from O", PERCENT),
    ("miss_source.all.E", "from E", PERCENT),
    ("miss_source.all.S", "from S", PERCENT),
    ("e_share", "E share", PERCENT),
    ("e_to_m_share", "E to M", PERCENT),
    ("upgrade_pki.made", "upgrades", THREE),
    ("traffic_pki.all", "traffic", THREE),
    ("cpi.all", "CPI", THREE),
)


def designs_table(labels: Sequence[str], runs: Sequence[Run]) -> Table:
    """One row a design."""
    table = Table(
        "Every design",
        (*(title for _, title, _ in COLUMNS), "caches"),
        note="MPKI: L2 misses per 1000 instructions; memory, from M, O, E, S: who serviced them; E share: blocks that "
        "entered an L2 in E; E to M: those of them that were stored to there; upgrades and traffic (blocks fetched and "
        "written back, and upgrades) per 1000 instructions.",
    )
    for label, run in zip(labels, runs, strict=True):
        cells = [Cell(number(_value(run, metric), style)) for metric, _, style in COLUMNS]
        cells.append(Cell("warm" if run.warm else NOT_WARM))
        table.rows.append(Row(label, tuple(cells)))
    return table


def labels(axes: Sequence[Axis], points: Sequence[Point]) -> list[str]:
    """The name of each row."""
    return [row_label(axes, point.values) for point in points]


def errors_table(axes: Sequence[Axis], points: Sequence[Point], runs: Sequence[Run]) -> Table | None:
    """What the filter of the capture loses at each design; None where that has not been measured or nothing is lost."""
    if not any((run.manifest["filter_error"] or {}).get("errors") for run in runs):
        return None
    table = Table(
        "What the filtered capture loses",
        tuple(f"{one.title}, {one.unit}" for one in QUANTITIES),
        note="Filtered minus full, as the project measured it with the same protocol and L2 or the next smaller one; a "
        "dash where that has not been measured. A difference between designs that is not larger shows nothing.",
    )
    for point, run in zip(points, runs, strict=True):
        errors = run.manifest["filter_error"]["errors"]
        cells = (ABSENT if errors.get(one.name) is None else f"{errors[one.name]:+.2f}" for one in QUANTITIES)
        table.rows.append(Row(row_label(axes, point.values), tuple(map(Cell, cells))))
    return table


def _value(run: Run, metric: str) -> Estimate | None:
    value = run.metrics.get(metric)
    return None if value is None else Estimate(value, None, 1)

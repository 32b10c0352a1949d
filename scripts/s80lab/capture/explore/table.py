# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of an exploration: the metrics of each design, and the error of a filtered capture."""

from __future__ import annotations

from collections.abc import Sequence

from s80lab.base.terminal import counted
from s80lab.capture.error import QUANTITIES
from s80lab.capture.explore.grid import Point
from s80lab.config.axes import Axis, row_label
from s80lab.report.data import Run
from s80lab.report.interval import Estimate, estimate
from s80lab.report.rows import PERCENT, THREE, Format
from s80lab.report.tables import ABSENT, Cell, Row, Table, number

# Metric, its title, and its form: the columns of the table, and those with a picture.
COLUMNS: tuple[tuple[str, str, Format], ...] = (
    ("l2_mpki.all", "L2 MPKI", THREE),
    ("miss_source.all.memory", "from memory", PERCENT),
    ("miss_source.all.M", "from M", PERCENT),
    ("miss_source.all.O", "from O", PERCENT),
    ("miss_source.all.E", "from E", PERCENT),
    ("miss_source.all.S", "from S", PERCENT),
    ("e_share", "E share", PERCENT),
    ("e_to_m_share", "E-to-M per E fill", PERCENT),
    ("upgrade_pki.made", "upgrades", THREE),
    ("traffic_pki.all", "traffic", THREE),
    ("cpi.all", "CPI", THREE),
)


def designs_table(labels: Sequence[str], runs: Sequence[Sequence[Run]]) -> Table:
    """A table with one row per design. runs: for each design one run per capture; several runs give an interval."""
    table = Table(
        "All designs",
        (*(title for _, title, _ in COLUMNS), "verdict"),
        note="L2 MPKI: L2 misses per 1000 instructions. From memory, M, O, E, S: share of the misses serviced by "
        "memory or by a cache in that state. E share: E fills divided by all fills. E-to-M per E fill: silent "
        "E-to-M upgrades per E fill. Upgrades and traffic (blocks fetched, blocks written back, and upgrades): per "
        "1000 instructions. Verdict: invalid if the caches did not reach steady state before the measured region.",
    )
    for label, of_design in zip(labels, runs, strict=True):
        cells = [Cell(number(value(of_design, metric), style)) for metric, _, style in COLUMNS]
        cells.append(Cell("invalid" if is_invalid(of_design) else "valid"))
        table.rows.append(Row(label, tuple(cells)))
    return table


def is_invalid(of_design: Sequence[Run]) -> bool:
    """Whether any run of a design is invalid."""
    return any(run.reasons for run in of_design)


def verdicts(runs: Sequence[Sequence[Run]]) -> list[tuple[str, str]]:
    """The warning above all numbers if designs are invalid, as verdict and reason. Of a replay, only the steady state
    decides."""
    invalid = sum(map(is_invalid, runs))
    why = (
        "The caches of these designs did not reach steady state before the measured region. `s80lab replay` states the "
        "reasons for one design."
    )
    return [(f"{invalid} of {counted(len(runs), 'design')}: invalid (not a result).", why)] if invalid else []


def labels(axes: Sequence[Axis], points: Sequence[Point]) -> list[str]:
    """The label of each row."""
    return [row_label(axes, point.values) for point in points]


def errors_table(axes: Sequence[Axis], points: Sequence[Point], of_designs: Sequence[Sequence[Run]]) -> Table | None:
    """The error of filtered captures for each design; None for full captures, or if no error has been measured.

    The error is known by protocol and L2 size, so it is the same for all captures.
    """
    runs = [of_design[0] for of_design in of_designs]
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
        table.rows.append(Row(row_label(axes, point.values), tuple(map(Cell, cells))))
    return table


def value(of_design: Sequence[Run], metric: str) -> Estimate | None:
    """The mean of a metric over the runs of a design, with its interval if there are several."""
    return estimate([run.metrics.get(metric) for run in of_design])

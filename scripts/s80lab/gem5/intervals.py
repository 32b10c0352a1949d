# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares gem5 with the model: same mix, same machine, same warm-up, one sampling interval (`interval`) after the
other.

In both engines, the load first runs for equal numbers of instructions without the caches that are compared. Both then
begin with empty caches: gem5 is restored under Ruby, and the model replays a full capture. The replay is cut at the
ends of gem5's sampling intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from s80lab.analysis.interval import Estimate, estimate
from s80lab.base.errors import UserError
from s80lab.config.experiment import Experiment, Gem5Phases
from s80lab.results.metrics.derive import find_metric
from s80lab.results.metrics.registry import Measurement, flatten
from s80lab.results.run_folder import SNAPSHOTS, RunFolder
from s80lab.results.snapshots import Delta, Snapshot, Snapshots

# The intervals of two runs of gem5 may end this far apart, as a share of an interval: each ends at the first look after
# its last instruction.
INTERVAL_TOLERANCE = 0.05
# The region is cut into so many blocks for the intervals.
BLOCKS = 6


@dataclass(frozen=True)
class Quantity:
    """The sum of some metrics of the registry, by their flattened names. Metrics that an engine lacks are left out of
    the sum. points: the quantity is a share, so its differences are in points; otherwise they are in percent."""

    metrics: tuple[str, ...]
    title: str
    points: bool = True

    def value_in(self, span: Delta) -> float | None:
        """The value over a part of a run; None if no metric has a value."""
        declared = [(name, find_metric(name)) for name in self.metrics]
        known = [flatten(one.name, one.compute(Measurement(span, None))).get(name) for name, one in declared]
        parts = [float(value) for value in known if value is not None]
        return sum(parts) if parts else None


QUANTITIES = (
    Quantity(("miss_source.all.memory",), "misses serviced by memory"),
    Quantity(("miss_source.all.M",), "misses serviced by a cache in M"),
    Quantity(("miss_source.all.O",), "misses serviced by a cache in O"),
    Quantity(("miss_source.all.E",), "misses serviced by a cache in E (gem5: M)"),
    Quantity(("miss_source.store.memory",), "store misses serviced by memory"),
    Quantity(("e_share",), "E share"),
    Quantity(("e_to_m_share",), "silent E-to-M upgrades per E fill"),
    Quantity(("upgrades_saved_share",), "upgrades avoided by E"),
    Quantity(("miss_kind.ifetch",), "misses by instruction fetches"),
    Quantity(("miss_kind.store",), "misses by stores"),
    Quantity(("l2_miss_rate.all",), "L2 miss rate"),
    # Not the rates: gem5 fetches for every instruction, the model once a line.
    Quantity(("l1_mpki.ifetch",), "L1I misses per 1000 instructions", points=False),
    # gem5 does not tell the page walker's loads from the others.
    Quantity(
        ("l1_mpki.load", "l1_mpki.walk"), "L1D misses of loads and page walks per 1000 instructions", points=False
    ),
    Quantity(("l1_mpki.store",), "L1D misses of stores per 1000 instructions", points=False),
    Quantity(("l2_mpki.all",), "L2 misses per 1000 instructions", points=False),
    Quantity(("upgrade_pki.made",), "upgrades per 1000 instructions", points=False),
    Quantity(("cpi.memory",), "CPI: stalls on memory", points=False),
    # gem5's upgrades are GETX, which end with another cache's last answer.
    Quantity(("cpi.cache", "cpi.upgrade"), "CPI: stalls on caches and upgrades", points=False),
)


@dataclass(frozen=True)
class Side:
    """The runs of one engine for one design: their sampling intervals since empty caches, by run."""

    label: str
    intervals: tuple[tuple[Delta, ...], ...]

    def values(self, quantity: Quantity) -> list[list[float | None]]:
        """The quantity's values by run and sampling interval."""
        return [[quantity.value_in(interval) for interval in run] for run in self.intervals]

    def by_run(self, quantity: Quantity, first: int, count: int) -> list[float | None]:
        """The quantity of each run, over `count` sampling intervals from number `first` on."""
        spans = [Delta(run[first].header, run[first].begin, run[first + count - 1].end) for run in self.intervals]
        return [quantity.value_in(span) for span in spans]

    def over(self, quantity: Quantity, first: int, count: int) -> float | None:
        """The mean of `by_run` over the runs; None if a run has no value."""
        values = self.by_run(quantity, first, count)
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if len(known) == len(values) else None


@dataclass(frozen=True)
class Row:
    """One quantity over the whole region, and the difference gem5 minus model, in points or in percent of the model's
    value. The confidence intervals are from blocks of consecutive sampling intervals, because neighbouring ones are
    correlated. seeds: the model's value for each seed, which shows the random variation between regions."""

    quantity: Quantity
    gem5: Estimate | None
    model: Estimate | None
    difference: Estimate | None
    control: Estimate | None
    seeds: tuple[float, ...]


def lengths(experiment: Experiment, machine: str) -> Gem5Phases:
    """The lengths of gem5's runs. UserError: the model's side would have another warm-up or another load."""
    part = experiment.gem5
    if part is None or machine not in part.phases:
        raise UserError(
            f"the experiment's file has no table [gem5.phases.{machine}] with the lengths of gem5's runs on "
            f"machine {machine}: add this table"
        )
    phases = experiment.phases.get(part.scale)
    if phases is None or (phases.warmup_min, phases.warmup_max) != (part.settle, part.settle):
        raise UserError(
            f"warm-ups differ: gem5 executes {part.settle} instructions of the load (key `settle` of [gem5]) "
            f"before its caches are switched on; set warmup_min and warmup_max in [phases.{part.scale}] to "
            "this number"
        )
    if phases.think_ms != part.think_ms:
        raise UserError(
            f"loads differ: think_ms is {part.think_ms} in [gem5] but {phases.think_ms} in "
            f"[phases.{part.scale}]; write equal values"
        )
    return part.phases[machine]


def gem5_side(runs: Sequence[Path]) -> Side:
    return Side("gem5", tuple(tuple(Snapshots.read(run / SNAPSHOTS).intervals()) for run in runs))


def ends(gem5: Side) -> list[int]:
    """Instructions since empty caches at the end of each sampling interval. UserError: the intervals of the runs
    differ."""
    by_run = [list(accumulate(interval.instructions for interval in run)) for run in gem5.intervals]
    for number, (first, *others) in enumerate(zip(*by_run, strict=False)):
        for other in others:
            if abs(other - first) > INTERVAL_TOLERANCE * gem5.intervals[0][number].instructions:
                raise UserError(
                    f"sampling interval {number + 1} ends after {first} instructions in one run of gem5 and "
                    f"after {other} in another: runs of different lengths cannot be compared; repeat gem5's "
                    "runs with equal lengths"
                )
    return by_run[0][: min(len(run) for run in by_run)]


def model_side(label: str, runs: Sequence[Path], at: Sequence[int]) -> Side:
    """Replays that began with empty caches, cut at these numbers of instructions. Counts between two snapshots are
    interpolated. UserError: a replay did not begin with empty caches, or ended earlier."""
    return Side(label, tuple(_cut(run, at) for run in runs))


def compare(gem5: Side, model: Side, control: Side, first: int) -> list[Row]:
    """Compare all quantities over the sampling intervals from number `first` on."""
    count = min(len(run) for side in (gem5, model, control) for run in side.intervals) - first
    return [_row(quantity, (gem5, model, control), first, count) for quantity in QUANTITIES]


def _row(quantity: Quantity, sides: tuple[Side, Side, Side], first: int, count: int) -> Row:
    blocks = [(first + int(block[0]), len(block)) for block in np.array_split(np.arange(count), min(BLOCKS, count))]
    whole = [side.over(quantity, first, count) for side in sides]
    parts = [[side.over(quantity, *block) for block in blocks] for side in sides]
    theirs, ours, control = (_estimate(*pair) for pair in zip(whole, parts, strict=True))
    differences = [None if a is None or b is None else a - b for a, b in zip(parts[0], parts[1], strict=True)]
    difference = None if whole[0] is None or whole[1] is None else whole[0] - whole[1]
    seeds = tuple(value for value in sides[1].by_run(quantity, first, count) if value is not None)
    return Row(quantity, theirs, ours, _estimate(difference, differences), control, seeds)


def _estimate(whole: float | None, blocks: Sequence[float | None]) -> Estimate | None:
    """The value over the whole region, with the confidence interval of the blocks' mean."""
    spread = estimate(blocks)
    return None if whole is None or spread is None else Estimate(whole, spread.half_width, spread.n)


def _cut(run: Path, at: Sequence[int]) -> tuple[Delta, ...]:
    snapshots = Snapshots.read(run / SNAPSHOTS)
    first, last = snapshots.lines[0], snapshots.lines[-1]
    counted = int(first.values["instructions"].sum())
    if RunFolder(run).manifest["warm_snapshots"] is not None or counted > first.instructions:
        raise UserError(
            f"{run}: this replay began with the full caches of its checkpoint, but gem5's runs begin with "
            "empty caches, so the two cannot be compared"
        )
    begin = first.instructions - counted
    if last.instructions - begin < at[-1]:
        raise UserError(
            f"{run}: this replay has {last.instructions - begin} instructions, but gem5's runs end after "
            f"{at[-1]}; record a longer capture"
        )
    empty = {name: np.zeros_like(values) for name, values in first.values.items()}
    lines = [replace(first, instructions=begin, clock_ns=0, idle_ns=0, values=empty), *snapshots.lines]
    cuts = [lines[0], *(_between(lines, begin + instructions) for instructions in at)]
    return tuple(Delta(snapshots.header, a, b) for a, b in pairwise(cuts))


def _between(lines: Sequence[Snapshot], instructions: int) -> Snapshot:
    """The snapshot at a number of instructions, interpolated between the two snapshots around it."""
    after = next(number for number, line in enumerate(lines) if line.instructions >= instructions)
    a, b = lines[after - 1], lines[after]
    part = (instructions - a.instructions) / (b.instructions - a.instructions)
    values = {
        name: np.asarray(np.rint(a.values[name] + part * (b.values[name] - a.values[name])), dtype=np.int64)
        for name in b.values
    }
    clock_ns = round(a.clock_ns + part * (b.clock_ns - a.clock_ns))
    return replace(b, instructions=instructions, clock_ns=clock_ns, values=values)


def record(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as JSON objects."""

    def numbers(value: Estimate | None) -> dict[str, float | None] | None:
        return None if value is None else {"mean": value.mean, "half_width": value.half_width, "blocks": value.n}

    return [
        {
            "metric": " + ".join(row.quantity.metrics),
            "gem5": numbers(row.gem5),
            "model": numbers(row.model),
            "difference": numbers(row.difference),
            "control": numbers(row.control),
            "seeds": list(row.seeds),
        }
        for row in rows
    ]


def rows_of(content: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The rows from their JSON objects, see `record`."""
    quantities = {" + ".join(quantity.metrics): quantity for quantity in QUANTITIES}

    def numbers(value: Mapping[str, Any] | None) -> Estimate | None:
        return None if value is None else Estimate(value["mean"], value["half_width"], value["blocks"])

    return [
        Row(
            quantity=quantities[row["metric"]],
            gem5=numbers(row["gem5"]),
            model=numbers(row["model"]),
            difference=numbers(row["difference"]),
            control=numbers(row["control"]),
            seeds=tuple(row["seeds"]),
        )
        for row in content
    ]

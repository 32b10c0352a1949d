# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5 and the model side by side: the same mix on the same machine at the same warm-up, window by window.

Both sides run the mix for the same number of instructions without what is compared, then begin with empty caches: gem5
restored under Ruby; the model as a replay of a full capture, cut where gem5's windows end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from s80lab.checkpoint import SNAPSHOTS
from s80lab.config_experiment import Experiment, Gem5Phases
from s80lab.errors import UserError
from s80lab.folder import read_manifest
from s80lab.metrics import of
from s80lab.metrics_registry import Measurement, flatten
from s80lab.report_interval import Estimate, estimate
from s80lab.snapshots import Delta, Snapshot, Snapshots

# The runs of gem5 may end their windows this far apart, of a window (at the first look after their last instruction).
WINDOW_TOLERANCE = 0.05


@dataclass(frozen=True)
class Quantity:
    """metric: of the registry, flattened. points: a share, whose differences are in points; else in percent."""

    metric: str
    title: str
    points: bool = True


QUANTITIES = (
    Quantity("miss_source.all.memory", "misses serviced by memory"),
    Quantity("miss_source.all.M", "by a cache in M"),
    Quantity("miss_source.all.O", "by a cache in O"),
    Quantity("miss_source.all.E", "by a cache in E (gem5: M)"),
    Quantity("miss_source.store.memory", "store misses serviced by memory"),
    Quantity("e_share", "E share of the fills"),
    Quantity("e_to_m_share", "E to M"),
    Quantity("upgrades_saved_share", "upgrades saved by E"),
    Quantity("miss_kind.ifetch", "misses that are fetches"),
    Quantity("miss_kind.store", "misses that are stores"),
    Quantity("l2_miss_rate.all", "L2 miss rate"),
    # Not the rates: gem5 fetches for every instruction, the model once a line.
    Quantity("l1_mpki.ifetch", "L1I misses per 1000 instructions", points=False),
    Quantity("l1_mpki.load", "L1D misses of loads per 1000 instructions", points=False),
    Quantity("l1_mpki.store", "L1D misses of stores per 1000 instructions", points=False),
    Quantity("l2_mpki.all", "L2 misses per 1000 instructions", points=False),
    Quantity("upgrade_pki.made", "upgrades per 1000 instructions", points=False),
    Quantity("cpi.memory", "CPI, stalls on memory", points=False),
    Quantity("cpi.cache", "CPI, stalls on caches", points=False),
)


@dataclass(frozen=True)
class Side:
    """One engine's runs of one design: windows by run, since empty caches."""

    label: str
    windows: tuple[tuple[Delta, ...], ...]

    def values(self, quantity: Quantity) -> list[list[float | None]]:
        """By run and window."""
        return [[_value(window, quantity) for window in run] for run in self.windows]

    def cut(self, first: int, count: int) -> Side:
        return replace(self, windows=tuple(run[first : first + count] for run in self.windows))


@dataclass(frozen=True)
class Row:
    """One quantity: the mean of the windows on both sides, and of the differences (gem5 minus the model) between
    windows of the same warm-up; points, or percent of the model's mean."""

    quantity: Quantity
    gem5: Estimate | None
    model: Estimate | None
    difference: Estimate | None
    control: Estimate | None


def lengths(experiment: Experiment, machine: str, runs: Sequence[Path]) -> Gem5Phases:
    """What gem5 ran; UserError where the model's side would begin with another warm-up."""
    part = experiment.gem5
    if part is None or machine not in part.phases:
        raise UserError(f"the experiment has no lengths for gem5 on {machine} ([gem5.phases.{machine}])")
    phases = experiment.phases.get(part.scale)
    if phases is None or (phases.warmup_min, phases.warmup_max) != (part.settle, part.settle):
        raise UserError(
            f"unlike warm-up: gem5 runs {part.settle} instructions of the mix before its caches begin (settle), the "
            f"model's [phases.{part.scale}] must have the same warmup_min and warmup_max"
        )
    for run in runs:
        if (scale := read_manifest(run)["scale"]) != part.scale:
            raise UserError(f"{run}: is of the scale {scale}, the comparison's is {part.scale}; run it again")
    return part.phases[machine]


def gem5_side(runs: Sequence[Path]) -> Side:
    return Side("gem5", tuple(tuple(Snapshots.read(run / SNAPSHOTS).windows()) for run in runs))


def ends(gem5: Side) -> list[int]:
    """Instructions since empty caches at the end of each window; UserError where the runs' are not the same."""
    by_run = [list(accumulate(window.instructions for window in run)) for run in gem5.windows]
    for number, (first, *others) in enumerate(zip(*by_run, strict=False)):
        for other in others:
            if abs(other - first) > WINDOW_TOLERANCE * gem5.windows[0][number].instructions:
                raise UserError(
                    f"window {number + 1} of one run of gem5 ends after {first} instructions, of another after "
                    f"{other}: a comparison of unlike warm-up is refused; run them again with the same lengths"
                )
    return by_run[0][: min(len(run) for run in by_run)]


def model_side(label: str, runs: Sequence[Path], at: Sequence[int]) -> Side:
    """Replays that began with empty caches, cut at these numbers of instructions (counts between two snapshots are
    interpolated); UserError for one that did not begin so, or ended earlier."""
    return Side(label, tuple(_cut(run, at) for run in runs))


def compare(gem5: Side, model: Side, control: Side, first: int) -> list[Row]:
    """All quantities over the windows from number `first` on."""
    count = min(len(run) for side in (gem5, model, control) for run in side.windows)
    measured = [side.cut(first, count - first) for side in (gem5, model, control)]
    return [_row(quantity, *measured) for quantity in QUANTITIES]


def _row(quantity: Quantity, gem5: Side, model: Side, control: Side) -> Row:
    ours = _means(model.values(quantity))
    theirs = _means(gem5.values(quantity))
    differences = [None if a is None or b is None else a - b for a, b in zip(theirs, ours, strict=True)]
    return Row(
        quantity,
        estimate(theirs),
        estimate(ours),
        estimate(differences),
        estimate(_means(control.values(quantity))),
    )


def _means(by_run: Sequence[Sequence[float | None]]) -> list[float | None]:
    """By window, over the runs."""
    means: list[float | None] = []
    for column in zip(*by_run, strict=True):
        known = [value for value in column if value is not None]
        means.append(sum(known) / len(known) if len(known) == len(column) else None)
    return means


def _value(window: Delta, quantity: Quantity) -> float | None:
    declared = of(quantity.metric)
    value = flatten(declared.name, declared.compute(Measurement(window, None))).get(quantity.metric)
    return None if value is None else float(value)


def _cut(run: Path, at: Sequence[int]) -> tuple[Delta, ...]:
    snapshots = Snapshots.read(run / SNAPSHOTS)
    first, last = snapshots.lines[0], snapshots.lines[-1]
    counted = int(first.values["instructions"].sum())
    if read_manifest(run)["warm_snapshots"] is not None or counted > first.instructions:
        raise UserError(f"{run}: did not begin with empty caches: a comparison of unlike warm-up is refused")
    begin = first.instructions - counted
    if last.instructions - begin < at[-1]:
        raise UserError(
            f"{run}: is {last.instructions - begin} instructions long, gem5's windows end after {at[-1]}; record longer"
        )
    empty = {name: np.zeros_like(values) for name, values in first.values.items()}
    lines = [replace(first, instructions=begin, clock_ns=0, idle_ns=0, values=empty), *snapshots.lines]
    cuts = [lines[0], *(_between(lines, begin + instructions) for instructions in at)]
    return tuple(Delta(snapshots.header, a, b) for a, b in pairwise(cuts))


def _between(lines: Sequence[Snapshot], instructions: int) -> Snapshot:
    """What a snapshot at that moment would have held, between the two around it."""
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
    """For JSON."""

    def numbers(value: Estimate | None) -> dict[str, float | None] | None:
        return None if value is None else {"mean": value.mean, "half_width": value.half_width, "windows": value.n}

    return [
        {
            "metric": row.quantity.metric,
            "gem5": numbers(row.gem5),
            "model": numbers(row.model),
            "difference": numbers(row.difference),
            "control": numbers(row.control),
        }
        for row in rows
    ]

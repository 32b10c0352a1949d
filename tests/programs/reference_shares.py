# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the headline shares of the mail server with those of the reference order of accesses:

    python -m tests.programs.reference_shares --seeds 1,2,3,4 --boots 1,2

In the reference, each time slice has ten instructions, no access is filtered, and of all processors always the earliest
one in simulated time executes (docs/background/clock.md). One region per order does not decide: any change of the order
sends the guest down another path, and two paths differ by points. So the program measures pairs of regions. Both
regions of a pair begin at the same warm checkpoint and have equal lengths; each pair has a seed and a warm-up of its
own. A third region per checkpoint has the default order with epochs that are one cycle shorter, which gives another
path. The reference is compared with the mean of the two paths. Their difference shows how far chance alone goes.

The program prints the mean differences over the pairs with 95% intervals. The exit code is 1 if a mean difference from
the reference exceeds one point. Measured regions are kept in the folder, so a repeated or extended call measures only
what is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.experiment.short_region import short_region
from tests.lab import Lab

from s80lab.analysis.interval import Estimate, estimate, number
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.format import ABSENT, FINE_PERCENT, PERCENT
from s80lab.base.staging import staging
from s80lab.commands.numbers import parse_boots, parse_seeds
from s80lab.commands.pipeline import make_plans, run_pipeline
from s80lab.experiment import checkpoint
from s80lab.experiment.plan import Options, Plan
from s80lab.report.tables import Cell, Row, Table, markdown_rows
from s80lab.results.metrics import sampling
from s80lab.results.metrics.derive import compute
from s80lab.results.metrics.standing import ALLOWED_TIME_ERROR_US
from s80lab.results.run_folder import RunFolder

ALLOWED_POINTS = 1.0
NAMES = {name: text for name, text in sampling.NAMES.items() if name not in sampling.FROM_SHARED}
"""The headline shares: this machine has no shared cache."""
LENGTH = 200  # million instructions of a region
INTERVAL = 20_000_000  # instructions of a sampling interval

IDLE, BUSY = "O of idle", "O of others"
ATTRIBUTED = {IDLE: "of these, O to idle processors", BUSY: "of these, O to processors that execute a program"}
"""Parts of a headline share that the table shows beside it, without a limit."""

FROM_O = "miss_source.all.O"
_PLACE = list(NAMES).index(FROM_O) + 1
ROWS = dict([*list(NAMES.items())[:_PLACE], *ATTRIBUTED.items(), *list(NAMES.items())[_PLACE:]])
"""Rows of the table, by key of Values."""

Values = Mapping[str, float | None]
"""The shares of one region, by metric."""


@dataclass(frozen=True, eq=False)
class Order:
    """How the guest's processors take turns. clock: values of the machine's table [clock]; plugin: plugin arguments."""

    name: str
    clock: Mapping[str, int] = field(default_factory=dict)
    plugin: Mapping[str, object] = field(default_factory=dict)

    def of(self, plan: Plan) -> Plan:
        clock = plan.machine.clock.model_copy(update=dict(self.clock))
        return replace(plan, machine=plan.machine.model_copy(update={"clock": clock}))


DEFAULT = Order("default")
OTHER_PATH = Order("another path", {"epoch_cycles": 19_999})
REFERENCE = Order("reference", {"filter_instructions": 1}, {"slice": 10})
ORDERS = (DEFAULT, OTHER_PATH, REFERENCE)


def measure_region(plan: Plan, start: checkpoint.Checkpoint, order: Order, length: int, folder: Path) -> None:
    """Write the region of this order and length, in instructions, to a new folder.

    UserError if the processors' times were too far from simulated time for a valid run.
    """
    with staging(folder) as partial:
        region = partial / "region"
        short_region(order.of(plan), start, region, length, INTERVAL, order.plugin)
        run = RunFolder(region)
        error = compute(run.snapshots, None)["epoch_error"] or 0.0
        clock = order.of(plan).machine.clock
        error_us = 1e6 * error * clock.epoch_cycles / run.snapshots.header.clock_hz
        if error_us > ALLOWED_TIME_ERROR_US:
            raise UserError(
                f"{folder.name}: simulated time of the processors is off by {error_us:.0f} microseconds on average "
                f"(limit {ALLOWED_TIME_ERROR_US:g}): choose other seeds"
            )


def read_values(folder: Path) -> Values:
    """The headline shares of a region and their attributed parts."""
    snapshots = RunFolder(folder / "region").snapshots
    metrics, region = compute(snapshots, None), snapshots.region()
    from_o = region.total("miss_source", source="O")
    to_idle = region.total("miss_source", source="O", **{"class": "idle"})
    misses = region.total("l2_misses")
    return {name: metrics[name] for name in NAMES} | {IDLE: to_idle / misses, BUSY: (from_o - to_idle) / misses}


def measure_plan(plan: Plan, length: int, folder: Path) -> dict[str, Values]:
    """The shares of the plan's regions, by the name of the order. Regions that are in the folder are not measured
    again. The warm checkpoint is removed."""
    places = {order.name: folder / f"{plan.keys.warm.name}-{length}-{order.name.replace(' ', '-')}" for order in ORDERS}
    missing = [order for order in ORDERS if not places[order.name].is_dir()]
    if missing:
        run_pipeline([plan], 1, False, "warm")
        start = checkpoint.find(plan.keys.warm.name, plan.keys.warm.key)
        assert start is not None
        for order in missing:
            measure_region(plan, start, order, length, places[order.name])
        checkpoint.drop(start)
    return {name: read_values(place) for name, place in places.items()}


def from_default(pairs: Sequence[Mapping[str, Values]], metric: str) -> Estimate | None:
    """The mean over the pairs of the reference minus the default, with its interval. The default is the mean of its two
    paths. None if a value is undefined."""
    return _difference(pairs, metric, {REFERENCE: 1.0, DEFAULT: -0.5, OTHER_PATH: -0.5})


def between_paths(pairs: Sequence[Mapping[str, Values]], metric: str) -> Estimate | None:
    """The mean over the pairs of one path of the default minus the other, with its interval."""
    return _difference(pairs, metric, {OTHER_PATH: 1.0, DEFAULT: -1.0})


def _difference(pairs: Sequence[Mapping[str, Values]], metric: str, weights: Mapping[Order, float]) -> Estimate | None:
    """The mean over the pairs of the weighted sum of the orders' values."""
    found: list[float | None] = []
    for pair in pairs:
        terms = [(weight, pair[order.name][metric]) for order, weight in weights.items()]
        known = [weight * value for weight, value in terms if value is not None]
        found.append(sum(known) if len(known) == len(terms) else None)
    return estimate(found)


def difference_table(pairs: Sequence[Mapping[str, Values]]) -> Table:
    """One row per share: the means of the default (both paths) and of the reference, and the differences in points."""
    table = Table("", ("default", "reference", "reference - default, points", "path - path, points"))
    for metric, name in ROWS.items():
        default = estimate([pair[order.name][metric] for pair in pairs for order in (DEFAULT, OTHER_PATH)])
        reference = estimate([pair[REFERENCE.name][metric] for pair in pairs])
        means = [ABSENT if mean is None else PERCENT.text(mean.mean) + PERCENT.suffix for mean in (default, reference)]
        points = [_points(found) for found in (from_default(pairs, metric), between_paths(pairs, metric))]
        table.rows.append(Row(name, tuple(map(Cell, (*means, *points)))))
    return table


def _points(found: Estimate | None) -> str:
    return number(found, FINE_PERCENT).removesuffix(FINE_PERCENT.suffix)


def too_far(pairs: Sequence[Mapping[str, Values]]) -> list[str]:
    """The shares whose mean difference from the reference exceeds the limit."""
    found = {name: from_default(pairs, metric) for metric, name in NAMES.items()}
    return [name for name, of in found.items() if of is None or 100 * abs(of.mean) > ALLOWED_POINTS]


def main(arguments: list[str]) -> int:
    """Returns the exit code: 1 if a share is too far from the reference."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs.reference_shares", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--seeds", default="1,2,3,4", help="seeds of the load, for example 1,2,3 (default: 1,2,3,4)")
    parser.add_argument("--boots", default="1", help="numbers of boots; each seed runs from each boot (default: 1)")
    parser.add_argument("--millions", type=int, default=LENGTH, help=f"instructions of a region (default: {LENGTH})")
    parser.add_argument("--folder", type=Path, default=paths.BUILD / "reference-shares", help="regions and checkpoints")
    given = parser.parse_args(arguments)
    folder = given.folder.absolute()
    with Lab(folder / "checkpoints", folder / "results").entered():
        try:
            options = Options(scale="tiny", seeds=parse_seeds(given.seeds), boots=parse_boots(given.boots))
            plans = make_plans(["imapb"], options)
            pairs = [measure_plan(plan, given.millions * 1_000_000, folder / "regions") for plan in plans]
        except UserError as error:
            parser.error(str(error))
    print("\n".join(markdown_rows(difference_table(pairs), "share")))
    far = too_far(pairs)
    print(f"{len(pairs)} pairs; more than {ALLOWED_POINTS:g} point from the reference: {', '.join(far) or 'none'}")
    return min(len(far), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab sweep`: live runs of every design of a grid, each compared with the first design."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from s80lab.analysis.comparison.contrast import Comparison
from s80lab.analysis.comparison.replication import Side, read_side
from s80lab.base.errors import UserError
from s80lab.capture.explore.grid import CORES, parse_axes
from s80lab.commands.compare import show
from s80lab.commands.parts import make_plans, parse_boots, parse_seeds, run_pipeline
from s80lab.commands.run import run_shard
from s80lab.commands.sides import DEFAULT_BOOTS, Changes, Named, Selection, existing_runs, options_of
from s80lab.config.axes import Axis, row_label

_OPTIONS = ("protocol", "machine", "server", "image")
"""Keys of --vary that are options of `s80lab run`; all others are keys of --set."""
GridPoint = tuple[tuple[tuple[str, str], ...], Named]
"""A combination of values, as pairs of key and value, with the side that it is."""


def sweep_command(
    experiment: str,
    vary: list[str] | None,
    settings: list[str] | None,
    scale: str | None,
    seeds: str | None,
    boots: str | None,
    misses: bool,
    jobs: int,
    shard: str | None,
    listed: bool,
    as_json: bool,
) -> None:
    """Run every design of a grid, and compare each design with the first one."""
    axes = parse_axes(vary or [], "sweep")
    grid = designs(experiment, axes, settings or [])
    selection = Selection(scale, parse_seeds(seeds) or [1], parse_boots(boots) or DEFAULT_BOOTS)
    plans = [plan for _, side in grid for plan in make_plans([side.name], options_of(side, selection, misses))]
    if shard or listed:
        run_shard(plans, shard, listed, jobs, False, "nothing", as_json)
        return
    run_pipeline(plans, jobs, False, "run")
    show(*compare_designs(axes, grid, selection), as_json)


def compare_designs(
    axes: Sequence[Axis], grid: Sequence[GridPoint], selection: Selection
) -> tuple[list[Comparison], list[str]]:
    """The comparison of each design with the first, from existing runs; and remarks on runs that were left out."""
    sides: list[Side] = []
    remarks: list[str] = []
    for point, side in grid:
        found = existing_runs(side, selection)
        sides.append(read_side(row_label(axes, [value for _, value in point]), found.folders))
        remarks += found.remarks
    first, *others = sides
    return [Comparison(first, other, len(others)) for other in others], remarks


def designs(experiment: str, axes: Sequence[Axis], settings: Sequence[str]) -> list[GridPoint]:
    """Every combination of the values of the axes, as a side. UserError for a grid of one design.

    settings: pairs KEY=VALUE of all designs.
    """
    if any(axis.key == CORES for axis in axes):
        raise UserError(f"--vary {CORES} is for captures; vary processors.threads_per_core instead")
    points = [
        tuple(zip((axis.key for axis in axes), values, strict=True))
        for values in itertools.product(*(axis.values for axis in axes))
    ]
    if len(points) < 2:
        raise UserError(
            "the grid of --vary has one design; give a key at least two values, for example protocol=moesi,mesi"
        )
    return [(point, Named(experiment, _changes(point, settings))) for point in points]


def _changes(point: Sequence[tuple[str, str]], settings: Sequence[str]) -> Changes:
    chosen = {key: value for key, value in point if key in _OPTIONS}
    varied = tuple(f"{key}={value}" for key, value in point if key not in _OPTIONS)
    return Changes(
        chosen.get("machine"), chosen.get("protocol"), chosen.get("server"), chosen.get("image"), (*settings, *varied)
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab sweep`: live runs of every design of a grid, each compared with the first design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from s80lab.analysis.comparison.contrast import Comparison
from s80lab.analysis.comparison.sides import read_side
from s80lab.analysis.groups import Group
from s80lab.base.errors import UserError
from s80lab.capture.explore.grid import CORES
from s80lab.commands.changes import Changes
from s80lab.commands.compare import show
from s80lab.commands.line.compare import SweepArguments
from s80lab.commands.numbers import parse_boots, parse_seeds
from s80lab.commands.pipeline import make_plans, run_pipeline, tell_estimate
from s80lab.commands.program_plans import refuse, saved_files
from s80lab.commands.programs import run_files
from s80lab.commands.run import run_shard
from s80lab.commands.run_tables import end_invalid
from s80lab.commands.sides import DEFAULT_BOOTS, Named, Selection, existing_runs, options_of
from s80lab.config.grid import Grid, check_size
from s80lab.experiment.plan import Plan

_OPTIONS = ("protocol", "machine", "server", "image")
"""Keys of --vary that are options of `s80lab run`; all others are keys of --set."""


@dataclass(frozen=True)
class Point:
    """A design of the grid: its label, and the side that it is."""

    label: str
    side: Named


def sweep_command(args: SweepArguments) -> None:
    """Run every design of a grid, and compare each design with the first one."""
    if files := saved_files([args.experiment]):
        refuse({"--scale": args.scale})
        changes, grid = Changes(settings=tuple(args.settings or ())), Grid.parse(args.vary or [], "sweep")
        run_files(files, changes, args, False, grid)
        return
    selection = select_runs(args.scale, args.seeds, args.boots)
    points = designs(args.experiment, Grid.parse(args.vary or [], "sweep"), args.settings or [])
    plans = plans_of(args.experiment, points, selection, args.misses)
    if args.shard or args.listed:
        run_shard(plans, args, False, "nothing")
        return
    tell_estimate(plans, args.jobs)
    runs = run_pipeline(plans, args.jobs, False, "run")
    show(*compare_designs(points, selection), args.as_json)
    end_invalid(runs)


def select_runs(scale: str | None, seeds: str | None, boots: str | None) -> Selection:
    """The runs of each design: as the options say, else seed 1 from the default boots."""
    return Selection(scale, parse_seeds(seeds) or [1], parse_boots(boots) or DEFAULT_BOOTS)


def plans_of(
    experiment: str, points: Sequence[Point], selection: Selection, misses: bool = False, build: bool = True
) -> list[Plan]:
    """The plans of all runs of the designs. build: build missing images."""
    check_size(len(points), "run", len(selection.boots or (1,)), len(selection.seeds or (1,)))
    options = [options_of(point.side, selection, misses) for point in points]
    return [plan for one in options for plan in make_plans([experiment], one, build)]


def compare_designs(points: Sequence[Point], selection: Selection) -> tuple[list[Comparison], list[str]]:
    """The comparison of each design with the first, from existing runs; and remarks on runs that were left out."""
    sides: list[Group] = []
    remarks: list[str] = []
    for point in points:
        found = existing_runs(point.side, selection)
        sides.append(read_side(point.label, found.folders))
        remarks += found.remarks
    first, *others = sides
    return [Comparison(first, other, len(others)) for other in others], remarks


def designs(experiment: str, grid: Grid, settings: Sequence[str]) -> list[Point]:
    """Every design of the grid. UserError for a grid of one design.

    settings: pairs KEY=VALUE of all designs.
    """
    if any(axis.key == CORES for axis in grid.axes):
        raise UserError(f"--vary {CORES} is for captures; vary processors.threads_per_core instead")
    points = grid.points()
    if len(points) < 2:
        raise UserError(
            "the grid of --vary has one design; give a key at least two values, for example protocol=moesi,mesi"
        )
    return [Point(grid.label(point), Named(experiment, _changes(point, settings))) for point in points]


def _changes(point: Mapping[str, str], settings: Sequence[str]) -> Changes:
    varied = tuple(f"{key}={value}" for key, value in point.items() if key not in _OPTIONS)
    return Changes(
        point.get("machine"), point.get("protocol"), point.get("server"), point.get("image"), (*settings, *varied)
    )

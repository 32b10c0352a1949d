# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab replay`, `s80lab explore` and `s80lab filter-error`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from s80lab.analysis.groups import Group, group_runs, read_run, read_runs
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.base.store import Store
from s80lab.base.strict import parse_settings, short_path
from s80lab.base.terminal import counted, plain, plain_text, say
from s80lab.capture.design import Design, resolve_design
from s80lab.capture.error import TABLE
from s80lab.capture.explore.grid import PointResolver, resolve_points
from s80lab.capture.explore.plan import Entry, Replays, Varied, make_list, read_plan, write_plan
from s80lab.capture.explore.run import REPLAY_MEMORY, explore, replay_cost
from s80lab.capture.store import STORE, SUFFIX, Capture, Form, Manifest, open_capture
from s80lab.commands.line.explore import ExploreArguments, ReplayArguments
from s80lab.commands.line.maintain import FilterErrorArguments
from s80lab.commands.numbers import parse_seeds
from s80lab.commands.output import print_json, sayer, wide_console
from s80lab.commands.pipeline import on_board
from s80lab.commands.run_tables import check_tables, show_tables
from s80lab.commands.shards import Listed, Part, part, show_list, tell_shard
from s80lab.config.grid import Grid
from s80lab.experiment.resources import Cost
from s80lab.protocol.docs import on_a_bus
from s80lab.report.exploration.page import notes, write_page
from s80lab.report.exploration.table import design_groups, designs_table, errors_table, scatter_of, verdicts
from s80lab.report.filter_error import table_text, write_table
from s80lab.report.record import estimates_record, run_record
from s80lab.report.terminal import print_table
from s80lab.report.write import write_pages
from s80lab.results.products import listed_run
from s80lab.results.run_folder import REPORT, RunFolder

# What captures of one experiment have in common.
_COMMON: Mapping[str, Callable[[Capture], object]] = {
    "experiment": lambda capture: capture.origin.get("experiment"),
    "scale": lambda capture: capture.origin.get("scale"),
    "form": lambda capture: capture.form,
    "machine": lambda capture: capture.machine.resolved(),
}


def open_captures(name: str, form: Form | None, seeds: Sequence[int], store: Store[Manifest] = STORE) -> list[Capture]:
    """Open the captures that `name` lists with commas; with seeds, the capture of each seed whose name begins with it.

    UserError if no such capture exists, if several fit, if a capture is named twice, or if they differ in more than
    the seed.
    """
    parts = name.split(",")
    if not seeds:
        captures = [open_capture(part, form, store) for part in parts]
    elif len(parts) > 1 or name.endswith(SUFFIX):
        raise UserError(
            f"--seeds selects captures by the beginning of their names, but {name} names captures; omit --seeds"
        )
    else:
        captures = [open_capture(_of_seed(name, seed, store), form, store) for seed in seeds]
    hashes = [capture.sha256 for capture in captures]
    twice = next((capture for capture in captures if hashes.count(capture.sha256) > 1), None)
    if twice is not None:
        raise UserError(f"{name}: the capture {twice.name} is named twice; name each capture once")
    for capture in captures[1:]:
        if unlike := next(
            (word for word, value_of in _COMMON.items() if value_of(capture) != value_of(captures[0])), None
        ):
            raise UserError(
                f"{name}: the captures {captures[0].name} and {capture.name} differ in the {unlike}; name captures "
                "that differ in the seed only"
            )
    return captures


def _of_seed(name: str, seed: int, store: Store[Manifest]) -> str:
    fitting = [one for one in store.all() if one.name.startswith(name) and one.seed == seed]
    if not fitting:
        raise UserError(
            f"no capture of seed {seed} in {short_path(store.root())} has a name that begins with `{name}`: record it "
            f"with `s80lab capture {name} --seed {seed}`, or omit the seed"
        )
    if len(fitting) > 1:
        raise UserError(
            f"several captures of seed {seed} begin with `{name}`: {', '.join(one.name for one in fitting)}; write "
            "more of the name"
        )
    return fitting[0].name


MOST_PRINTED = 60
"""Designs up to which the terminal shows all of them; of more designs, it shows the Pareto front."""


def replay_command(args: ReplayArguments) -> None:
    """Play a capture through the model and enter the result into the database. Without options, the design (machine and
    protocol) is that of the recording."""
    check_tables(args.everything, args.section)
    opened = open_capture(args.capture, args.form)
    design = resolve_design(opened, args.machine, args.protocol, parse_settings(args.settings or []))
    report = sayer(args.as_json)
    report(design.sentence())
    (folder,) = _explore(opened, [design], 1, args.again)
    runs, page = [write_pages(RunFolder(folder))], folder / REPORT
    if opened.live is not None and not design.varied:
        runs.append(read_run(RunFolder(opened.live)))
    if args.as_json:
        print_json({"runs": [run_record(run) for run in runs], "report": str(page)})
    else:
        show_tables(group_runs(runs), args.everything, args.section)
    report(f"report: {page}")


def explore_command(args: ExploreArguments) -> None:
    """Play captures through every design of a grid, in parallel. After an interruption, repeat the command to
    continue."""
    captures = open_captures(args.capture, args.form, parse_seeds(args.seeds))
    replays = _replays(captures, args.vary or [], args.machine, args.settings or [], args.plan)
    if args.shard or args.listed:
        _shard(replays, part(args.shard, replays.entries), args.listed, args.jobs, args.again, args.as_json)
        return
    varied = replays.content.grid
    points = [PointResolver(one, varied.machine, varied.settings).resolve(varied.grid.points()) for one in captures]
    keys, first = ", ".join(axis.key for axis in varied.grid.axes), points[0][0].design
    sayer(args.as_json)(f"first of {counted(len(points[0]), 'design')}: {first.sentence()}; varied: {keys}")
    of_captures = [
        read_runs(_explore(one, [point.design for point in of_capture], args.jobs, args.again))
        for one, of_capture in zip(captures, points, strict=True)
    ]
    groups = design_groups(varied.grid, points[0], of_captures)
    page = write_page(captures, varied.grid, points[0], groups)
    if args.as_json:
        print_json({"designs": [_design_record(group) for group in groups], "report": str(page)})
    else:
        few = len(groups) <= MOST_PRINTED
        front = scatter_of(varied.grid, [point.values for point in points[0]], groups).front
        _show(groups, groups if few else [groups[one] for one in front])
        print(plain(f"report: {page}"))


def _replays(
    captures: Sequence[Capture], vary: Sequence[str], machine: str | None, settings: Sequence[str], plan: Path | None
) -> Replays:
    """The list of replays: from the plan file if it exists, else resolved; then it is written to the plan file."""
    if plan is not None and plan.exists():
        grid = Grid.parse(vary) if vary else Grid(())
        asked = Varied.of_options(grid, machine, settings) if vary or machine or settings else None
        return read_plan(plan, captures, asked)
    replays = make_list(captures, Varied.of_options(Grid.parse(vary), machine, settings))
    if plan is not None:
        write_plan(plan, replays)
        say(f"plan: {plan} ({counted(len(replays.content.entries), 'replay')})")
    return replays


def _design_record(group: Group) -> dict[str, Any]:
    """The run of one capture as it is; the runs of several captures with the estimates over the captures."""
    runs = [run_record(run) for run in group.runs]
    several = {"estimates": estimates_record(group), "runs": runs}
    return {"design": group.label} | (several if len(runs) > 1 else runs[0])


def _shard(replays: Replays, chosen: Part[Entry], listed: bool, jobs: int, again: bool, as_json: bool) -> None:
    """List the replays of a shard, or play the captures on its designs."""
    if listed:
        show_list(chosen, _lines(replays.captures, list(chosen.items.values())), as_json)
        return
    by_capture: dict[str, tuple[Capture, list[Design]]] = {}
    for capture, design in replays.designs(chosen.items.values()):
        by_capture.setdefault(capture.sha256, (capture, []))[1].append(design)
    made = [_explore(capture, designs, jobs, again, enter=False) for capture, designs in by_capture.values()]
    tell_shard(chosen, [folder for folders in made for folder in folders], as_json)


def _lines(captures: Sequence[Capture], entries: Sequence[Entry]) -> list[Listed]:
    """The lines of a list. A replay costs what complete replays of its capture took, else an estimate."""
    runs = paths.runs()
    present = {entry.name for entry in os.scandir(runs)} if runs.is_dir() else set()
    found = [listed_run(runs / entry.run) if entry.run in present else None for entry in entries]
    costs = []
    for place, capture in enumerate(captures):
        took = [run["wall_s"] for run, entry in zip(found, entries, strict=True) if run and entry.capture == place]
        costs.append(Cost(median(took), REPLAY_MEMORY) if took else replay_cost(capture))
    return [
        Listed(entry.hash, entry.job, run is not None, costs[entry.capture])
        for entry, run in zip(entries, found, strict=True)
    ]


def filter_error_command(args: FilterErrorArguments) -> None:
    """Measure the error of filtered captures: play the filtered and the full capture of one run through each design.

    Without --vary, the designs are all protocols, each with L2 sizes from 512 KiB to 16 MiB.
    """
    full, filtered = open_capture(args.capture, "full"), open_capture(args.capture, "filtered")
    protocols = ",".join(path.stem for path in on_a_bus())
    grid = Grid.parse(args.vary or [f"protocol={protocols}", "l2.size=512KiB..16MiB"])
    runs = []
    for one in (full, filtered):
        designs = [point.design for point in resolve_points(one, grid, None, [])]
        runs.append(read_runs(_explore(one, designs, args.jobs, False)))
    target = args.out or TABLE
    of_full, of_filtered = runs
    text = table_text(filtered, of_full, of_filtered, target)
    table = write_table(target, text)
    if args.as_json:
        print(text, end="")
    else:
        print_table(table, Console())
    sayer(args.as_json)(f"table: {target}")


def _explore(capture: Capture, designs: Sequence[Design], jobs: int, again: bool, enter: bool = True) -> list[Path]:
    async def work(board: Board) -> list[Path]:
        return await explore(capture, designs, board, jobs, again, enter, keep_going=not enter)

    return on_board(work)


def _show(groups: Sequence[Group], printed: Sequence[Group]) -> None:
    """Print the tables. printed: the designs in the tables."""
    console = wide_console()
    for head, why in verdicts(groups):
        console.print(plain_text(head, "bold yellow"), plain_text(why))
    if len(printed) < len(groups):
        console.print(
            plain_text(
                f"{len(printed)} of {counted(len(groups), 'design')}: the Pareto front. The page has all designs."
            )
        )
    for table in (designs_table(printed), errors_table(printed)):
        if table is not None:
            print_table(table, console)
    for note in notes(groups):
        console.print(plain_text(note, "italic"))

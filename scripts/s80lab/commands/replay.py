# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab replay`, `s80lab explore` and `s80lab filter-error`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from s80lab.base import paths
from s80lab.base.progress import Board
from s80lab.base.shard import by_hash
from s80lab.base.strict import parse_settings
from s80lab.base.suggest import names
from s80lab.base.terminal import plain_text
from s80lab.capture.design import Design, resolve_design
from s80lab.capture.error import TABLE
from s80lab.capture.error_table import table_text, write_table
from s80lab.capture.explore.grid import Point, parse_axes, points
from s80lab.capture.explore.page import notes, write_page
from s80lab.capture.explore.run import explore, replay_cost
from s80lab.capture.explore.table import designs_table, errors_table, labels, value, verdicts
from s80lab.capture.replay import design_key, draw_report, run_folder
from s80lab.capture.several import open_captures
from s80lab.capture.store import Capture, open_capture
from s80lab.commands.output import print_json, sayer, wide_console
from s80lab.commands.parts import on_board, parse_seeds
from s80lab.commands.shards import Part, part, show_list, tell_shard
from s80lab.config.axes import Axis
from s80lab.experiment.run import is_whole
from s80lab.report.data import Run, read_run
from s80lab.report.record import estimate_record, metric_names, run_record
from s80lab.report.terminal import print_table
from s80lab.report.write import print_experiment


def replay_command(
    capture: str,
    machine: str | None,
    protocol: str | None,
    settings: list[str] | None,
    form: Literal["filtered", "full"] | None,
    again: bool,
    as_json: bool,
) -> None:
    """Play a capture through the model and enter the result into the database. Without options, the design (machine and
    protocol) is that of the recording."""
    opened = open_capture(capture, form)
    design = resolve_design(opened, machine, protocol, parse_settings(settings or []))
    (folder,) = _explore(opened, [design], 1, again)
    page = draw_report(folder)
    beside = [opened.live] if opened.live is not None and not design.varied else []
    say = sayer(as_json)
    if as_json:
        print_json({"runs": [run_record(read_run(one)) for one in (folder, *beside)], "report": str(page)})
    else:
        print_experiment([folder, *beside], Console())
    say(f"report: {page}")


def explore_command(
    capture: str,
    vary: list[str] | None,
    machine: str | None,
    settings: list[str] | None,
    form: Literal["filtered", "full"] | None,
    seeds: str | None,
    jobs: int,
    again: bool,
    shard: str | None,
    listed: bool,
    as_json: bool,
) -> None:
    """Play captures through every design of a grid, in parallel. After an interruption, repeat the command to
    continue."""
    captures = open_captures(capture, form, parse_seeds(seeds))
    axes = parse_axes(vary or [])
    grids = [points(one, axes, machine, settings or []) for one in captures]
    if shard or listed:
        pairs = [(one, point.design) for one, grid in zip(captures, grids, strict=True) for point in grid]
        _shard(part(shard, by_hash(pairs, lambda pair: design_key(*pair))), listed, jobs, again, as_json)
        return
    of_captures = [
        [read_run(folder) for folder in _explore(one, [point.design for point in grid], jobs, again)]
        for one, grid in zip(captures, grids, strict=True)
    ]
    grid, runs = grids[0], list(zip(*of_captures, strict=True))
    page = write_page(captures, axes, grid, runs)
    if as_json:
        records = [_design_record(of_design) for of_design in runs]
        designs = [{"design": row} | record for row, record in zip(labels(axes, grid), records, strict=True)]
        print_json({"designs": designs, "report": str(page)})
    else:
        _show(axes, grid, runs)
        print(f"report: {page}")


def _design_record(of_design: Sequence[Run]) -> dict[str, Any]:
    """One run as it is; several runs, one per capture, with the estimates over the captures."""
    if len(of_design) == 1:
        return run_record(of_design[0])
    estimates = {name: estimate_record(value(of_design, name)) for name in metric_names(of_design)}
    return {"estimates": estimates, "runs": [run_record(run) for run in of_design]}


def _shard(chosen: Part[tuple[Capture, Design]], listed: bool, jobs: int, again: bool, as_json: bool) -> None:
    """List the replays of a shard, or play the captures on its designs."""
    by_capture: dict[str, tuple[Capture, list[Design]]] = {}
    for capture, design in chosen.items.values():
        by_capture.setdefault(capture.sha256, (capture, []))[1].append(design)
    if listed:
        costs = {key: replay_cost(capture) for key, (capture, _) in by_capture.items()}
        several = len(costs) > 1
        show_list(
            chosen,
            lambda pair: f"{pair[0].name}: {pair[1].label}" if several else pair[1].label,
            lambda pair: is_whole(run_folder(*pair)),
            lambda pair: costs[pair[0].sha256],
            as_json,
        )
        return
    made = [_explore(capture, designs, jobs, again, enter=False) for capture, designs in by_capture.values()]
    tell_shard(chosen, [folder for folders in made for folder in folders], as_json)


def filter_error_command(capture: str, vary: list[str] | None, out: Path | None, jobs: int, as_json: bool) -> None:
    """Measure the error of filtered captures: play the filtered and the full capture of one run through each design.

    Without --vary, the designs are all protocols, each with L2 sizes from 512 KiB to 16 MiB.
    """
    full, filtered = open_capture(capture, "full"), open_capture(capture, "filtered")
    protocols = ",".join(names(paths.PROTOCOLS))
    axes = parse_axes(vary or [f"protocol={protocols}", "l2.size=512KiB..16MiB"])
    runs = []
    for one in (full, filtered):
        grid = points(one, axes, None, [])
        runs.append([read_run(folder) for folder in _explore(one, [point.design for point in grid], jobs, False)])
    target = out or TABLE
    text = table_text(filtered, *runs)
    table = write_table(target, text)
    if as_json:
        print(text, end="")
    else:
        print_table(table, Console())
    sayer(as_json)(f"table: {target}")


def _explore(capture: Capture, designs: Sequence[Design], jobs: int, again: bool, enter: bool = True) -> list[Path]:
    async def work(board: Board) -> list[Path]:
        return await explore(capture, designs, board, jobs, again, enter)

    return on_board(work)


def _show(axes: Sequence[Axis], grid: Sequence[Point], runs: Sequence[Sequence[Run]]) -> None:
    """Print the tables."""
    console = wide_console()
    for head, why in verdicts(runs):
        console.print(plain_text(head, "bold yellow"), plain_text(why))
    for table in (designs_table(labels(axes, grid), runs), errors_table(axes, grid, runs)):
        if table is not None:
            print_table(table, console)
    for note in notes(runs):
        console.print(plain_text(note, "italic"))

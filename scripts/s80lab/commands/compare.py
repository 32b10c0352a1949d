# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab compare`: two designs, row by row, with intervals and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import typer
from rich.console import Console

from s80lab.analysis.comparison.contrast import Comparison
from s80lab.analysis.comparison.sides import read_side
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.progress import Board
from s80lab.base.strict import parse_settings
from s80lab.base.terminal import plain, plain_text, say
from s80lab.capture.design import resolve_design
from s80lab.capture.explore.run import explore
from s80lab.capture.store import Capture
from s80lab.commands.changes import Changes
from s80lab.commands.line.compare import CompareArguments
from s80lab.commands.numbers import parse_boots, parse_seeds
from s80lab.commands.output import print_json, sayer, wide_console
from s80lab.commands.pipeline import make_plans, on_board, run_pipeline
from s80lab.commands.program_plans import refuse, saved_files
from s80lab.commands.programs import compare_files
from s80lab.commands.replay import open_captures
from s80lab.commands.sides import (
    DEFAULT_BOOTS,
    Found,
    Named,
    Selection,
    existing_runs,
    is_experiment,
    named_runs,
    options_of,
    parse_side,
    require_known,
)
from s80lab.exec.compare import ExecComparison, parse_condition
from s80lab.exec.folder import exec_folder, find_runs
from s80lab.report.comparison.page import write_comparison
from s80lab.report.comparison.tables import designs_table, functions_table, headline_table
from s80lab.report.comparison.words import comparison_record, lead, notes, verdict_lines
from s80lab.report.program import comparison_text
from s80lab.report.terminal import print_table
from s80lab.report.write import write_pages
from s80lab.results.run_folder import RunFolder


def compare_command(args: CompareArguments) -> None:
    """Compare two designs: print and write the differences with intervals and verdicts."""
    if args.second is not None and all(exec_folder(name).is_dir() for name in (args.first, args.second)):
        comparison = ExecComparison((args.first, args.second), find_runs(args.first), find_runs(args.second))
        print_programs(comparison, args.fail_if or [], args.as_json)
        return
    changes = Changes(args.machine, args.protocol, args.server, args.image, tuple(args.settings or ()))
    sides = two_sides(args.first, args.second, changes)
    if files := saved_files([side.name for side in sides]):
        refuse({"--replay": args.replays, "--form": args.form, "--scale": args.scale})
        of_names = dict(zip(dict.fromkeys(side.name for side in sides), files, strict=True))
        named = [(of_names[side.name], side.changes, side.label) for side in sides]
        print_programs(
            compare_files(named, parse_seeds(args.seeds), parse_boots(args.boots), args.run, args.jobs),
            args.fail_if or [],
            args.as_json,
        )
        return
    _refuse({"--fail-if": args.fail_if}, "experiments of servers: it belongs to programs (`s80lab exec`)")
    selection = Selection(args.scale, parse_seeds(args.seeds), parse_boots(args.boots))
    if args.replays:
        _refuse({"--run": args.run, "--boots": args.boots, "--scale": args.scale, "--misses": args.misses}, "--replay")
        found = replayed(sides, args.form, selection.seeds, args.jobs)
    else:
        _refuse({"--form": args.form}, "live runs: it belongs to --replay")
        found = live(sides, selection, args.run, args.misses, args.jobs)
    one, other = (read_side(side.label, runs.folders) for side, runs in zip(sides, found, strict=True))
    show([Comparison(one, other)], [remark for runs in found for remark in runs.remarks], args.as_json)


def print_programs(comparison: ExecComparison, fail_if: Sequence[str], as_json: bool) -> None:
    """Print the comparison of two programs or designs; exit with 1 if a condition of --fail-if holds."""
    conditions = [parse_condition(text) for text in fail_if]
    failed = [condition.text for condition in conditions if condition.holds(comparison)]
    if as_json:
        print_json(comparison.record() | {"failed": failed})
    else:
        print(comparison_text(comparison), end="")
    for text in failed:
        say(f"s80lab compare: {text} holds")
    if failed:
        raise typer.Exit(1)


def two_sides(first: str, second: str | None, changes: Changes) -> tuple[Named, Named]:
    """The two sides that the command line names. UserError if it names one design only, or changes of two sides."""
    one = parse_side(first)
    if second is None:
        if not changes:
            raise UserError(
                f"compare needs a second side: name it (`s80lab compare {first} OTHER`), or change the design of "
                f"{first} with --set, --protocol, --machine, --server or --image; runs of gem5 are compared by `s80lab "
                "gem5 compare`"
            )
        return one, Named(one.name, one.changes.then(changes))
    if changes:
        words = " ".join(changes.words())
        raise UserError(
            f"{words} does not say which of the two sides to change: write the options inside a side, for example "
            f'"{second} {words}"'
        )
    return one, parse_side(second)


def live(sides: Sequence[Named], selection: Selection, run: bool, misses: bool, jobs: int) -> list[Found]:
    """The runs of each side; with `run`, missing runs of experiments are made first."""
    experiments = [side for side in sides if is_experiment(side)]
    for side in experiments:
        require_known(side)
    if run and experiments:
        chosen = Selection(selection.scale, selection.seeds or [1], selection.boots or DEFAULT_BOOTS)
        plans = [plan for side in experiments for plan in make_plans([side.name], options_of(side, chosen, misses))]
        run_pipeline(plans, jobs, False, "run")
    found = [existing_runs(side, selection) if side in experiments else named_runs(side) for side in sides]
    for folder in (folder for of_side in found for folder in of_side.folders if RunFolder(folder).has_misses()):
        write_pages(RunFolder(folder))  # with the misses by function, which a run in a shard does not have yet
    return found


def replayed(
    sides: Sequence[Named], form: Literal["filtered", "full"] | None, seeds: Sequence[int], jobs: int
) -> list[Found]:
    """Replays of equal captures through the designs of the sides. Missing replays are made."""
    captures = [open_captures(side.name, form, seeds) for side in sides]
    if any(of_side != captures[0] for of_side in captures):
        raise UserError(
            "--replay compares designs on equal captures, but the sides name "
            f"{' and '.join(side.name for side in sides)}: name one capture, and change its design"
        )
    unfit = next((key for side in sides for key in ("server", "image") if getattr(side.changes, key)), None)
    if unfit is not None:
        raise UserError(f"--{unfit} changes the guest, and a replay plays recorded accesses: omit --replay")
    of_side: list[list[Path]] = [[] for _ in sides]
    for capture in captures[0]:
        for folders, folder in zip(of_side, _replays(capture, sides, jobs), strict=True):
            folders.append(folder)
    return [Found(folders) for folders in of_side]


def _replays(capture: Capture, sides: Sequence[Named], jobs: int) -> list[Path]:
    found = [
        resolve_design(capture, side.changes.machine, side.changes.protocol, parse_settings(side.changes.settings))
        for side in sides
    ]

    async def work(board: Board) -> list[Path]:
        return await explore(capture, found, board, jobs)

    return on_board(work)


def _refuse(options: dict[str, object], other: str) -> None:
    given = next((name for name, value in options.items() if value), None)
    if given is not None:
        raise UserError(f"{given} cannot be combined with {other}; omit {given}")


def show(comparisons: Sequence[Comparison], remarks: Sequence[str], as_json: bool) -> None:
    """Print the comparisons with one first side, write their page, and print the page's path."""
    page = write_comparison(comparisons, page_folder(comparisons), remarks)
    if as_json:
        records = [comparison_record(one) for one in comparisons]
        print_json({"comparisons": records, "remarks": list(remarks), "report": str(page)})
    else:
        _print_all(comparisons)
        for remark in remarks:
            print(plain(remark))
    sayer(as_json)(f"report: {page}")


def page_folder(comparisons: Sequence[Comparison]) -> Path:
    """The folder of the page. Its name contains a hash of the runs, so no comparison replaces another one's page."""
    first = comparisons[0].first
    sides = [first, *(comparison.second for comparison in comparisons)]
    key = value_hash([sorted(run.name for run in side.runs) for side in sides])[:8]
    return paths.results() / "reports" / f"compare-{first.manifest['experiment']}-{first.manifest['scale']}-{key}"


def _print_all(comparisons: Sequence[Comparison]) -> None:
    """One comparison with its verdicts, or one table of several designs; then the notes."""
    console = wide_console() if len(comparisons) > 1 else Console()
    if len(comparisons) > 1:
        print_table(designs_table(comparisons), console)
    else:
        _print(comparisons[0], console)
    for note in dict.fromkeys(note for comparison in comparisons for note in notes(comparison)):
        console.print(plain_text(note, "dim"))


def _print(comparison: Comparison, console: Console) -> None:
    console.print(plain_text(lead(comparison)))
    for line in verdict_lines(comparison):
        console.print(plain_text(line, "bold"))
    console.print()
    for table in (headline_table(comparison), functions_table(comparison)):
        if table is not None:
            print_table(table, console)

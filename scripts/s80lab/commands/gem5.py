# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab gem5 compare`: runs of gem5 compared with replays by the model, with equal load and equal warm-up.
`s80lab gem5 check`: certifies or refuses the MOESI_hammer of a gem5 binary."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import typer
from rich.console import Console
from rich.table import Table

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.progress import Board
from s80lab.base.strict import parse_settings
from s80lab.base.terminal import counted, plain_text
from s80lab.capture.design import resolve_design
from s80lab.capture.live import Recipe, make
from s80lab.capture.replay import replay
from s80lab.capture.store import Capture, open_capture
from s80lab.commands.line.compare import Gem5CheckArguments, Gem5CompareArguments
from s80lab.commands.numbers import parse_seeds
from s80lab.commands.output import print_json, sayer, wide_console
from s80lab.commands.pipeline import make_plans, on_board, run_pipeline
from s80lab.config.experiment import load_experiment
from s80lab.experiment import checkpoint
from s80lab.experiment.plan import Options, Plan
from s80lab.gem5.agree import agree
from s80lab.gem5.binary import find_gem5
from s80lab.gem5.check import traces
from s80lab.gem5.check.run import check, require_certified, sentence
from s80lab.gem5.check.verdict import Verdict, folder
from s80lab.gem5.intervals import compare, ends, gem5_side, lengths, model_side, record
from s80lab.gem5.runs import shipped_runs
from s80lab.report.gem5_comparison import comparison, table, write_files
from s80lab.report.terminal import print_table
from s80lab.results.run_folder import RunFolder
from s80lab.trace import source as trace_source
from s80lab.trace.files import write
from s80lab.trace.source import Wanted

HAMMER = paths.PROTOCOLS / "hammer.toml"
AS_RUBY = "hammer-as-ruby"
CONTROL = "moesi"
# Settings that the guest itself feels, so that it must run anew; the others are tried on the same accesses.
MOVING = ("guest.", "clock.", "processors.")


def compare_command(args: Gem5CompareArguments) -> None:
    """Compare runs of gem5 with the model on the same load, in each sampling interval since the caches were empty.

    The command reads existing runs of gem5 and works without gem5.

    If gem5 is found, the command also plays equal accesses through gem5's Ruby and through the model, to show which
    differences Ruby itself causes.
    """
    say = sayer(args.as_json)
    loaded = load_experiment(args.experiment, {})
    runs = shipped_runs(args.experiment, args.machine)
    phases = lengths(loaded, args.machine)
    scale = RunFolder(runs[0]).manifest["scale"]
    chosen = parse_settings(args.settings or [])
    ours = parse_seeds(args.seeds)
    moving = {key: value for key, value in chosen.items() if key.startswith(MOVING)}
    options = Options(machine=args.machine, protocol="hammer", scale=scale, seeds=ours, settings=moving)
    plans = make_plans([args.experiment], options)
    run_pipeline(plans, 0, False, "warm")
    table_of_ruby = as_ruby(paths.BUILD / "protocols" / f"{AS_RUBY}.toml")

    theirs = gem5_side(runs)
    at = ends(theirs)
    # gem5's intervals end a little after their last instruction.
    measure = phases.measure + 2 * phases.sampling_interval

    tried = f" with {', '.join(args.settings)}" if args.settings else ""
    suffix = f"-{value_hash(chosen)[:8]}" if chosen else ""
    folder = paths.results() / "reports" / f"gem5-compare-{args.experiment}-{args.machine}{suffix}"
    binary = _gem5_for_replay(args.gem5, say) if args.through else None

    same_l2 = chosen | {"l2.inclusion": "exclusive"}

    async def work(board: Board) -> _Made:
        captures = [await _capture(plan, phases.warmup, measure, board) for plan in plans]
        model = [await _replay(capture, args.machine, str(table_of_ruby), chosen, board) for capture in captures]
        control = [await _replay(capture, args.machine, CONTROL, same_l2, board) for capture in captures]
        played: list[agree.Row] = []
        if binary:
            played = await _through_ruby(
                captures[0], args.machine, args.settings or [], args.through, binary, folder / "replay", board
            )
        return _Made(captures, model, control, played)

    made = on_board(work)
    sides = (theirs, model_side("model, hammer", made.model, at), model_side(f"model, {CONTROL}", made.control, at))
    rows = compare(*sides, -(-phases.warmup // phases.sampling_interval))
    cold = any(RunFolder(run).stats["warmup"]["verdict"] != "steady" for run in runs)
    title = f"{args.experiment} on {args.machine}: gem5 and the model{tried}"
    content = comparison(title, rows, CONTROL, cold, _speeds(runs, made))
    write_files(folder, content, sides)
    if args.as_json:
        print_json({"rows": record(rows), "through_ruby": [row.record() for row in made.played], "cold": cold})
    else:
        console = wide_console()
        print_table(table(content), console)
        if made.played:
            agree.show(made.played, console)
    say(f"files: {folder}")


@dataclass(frozen=True)
class _Made:
    """What the model contributes: captures by seed, the folders of their replays, and the comparison with Ruby."""

    captures: list[Capture]
    model: list[Path]
    control: list[Path]
    played: list[agree.Row]


def _speeds(gem5: Sequence[Path], made: _Made) -> str:
    """The speeds of the engines, as each run measured its own."""

    def mean(runs: Sequence[Path]) -> float:
        return fmean(float(RunFolder(run).manifest["mips"]) for run in runs)

    slow, live = mean(gem5), mean([capture.path.parent for capture in made.captures])
    return (
        f"Speed in million instructions per second of this host: gem5 {slow:.2f}; the live guest with model and "
        f"recording {live:.0f} ({live / slow:.0f} times as fast); replays {mean(made.model):.0f}."
    )


def _gem5_for_replay(given: Path | None, say: Callable[[str], None]) -> Path | None:
    """The user's gem5; None if there is none, because the rest of the comparison does not need it."""
    try:
        found = find_gem5(given)
        require_certified(found, x86=False)
        return found
    except UserError as absent:
        if given:
            raise
        say(f"the accesses are not played through gem5's Ruby: {absent}")
        return None


async def _through_ruby(
    capture: Capture, machine: str, settings: Sequence[str], count: int, binary: Path, folder: Path, board: Board
) -> list[agree.Row]:
    """Play the first accesses of the capture through Ruby and through the model, each access alone in the machine."""
    job = board.job(f"{capture.name} through Ruby")
    job.update(f"playing {count:,} accesses")
    source = trace_source.load(capture.path, Wanted(machine, agree.PROTOCOL, tuple(settings), 0, count))
    try:
        rows, _ = await asyncio.to_thread(agree.run, source.order, source.setup, "spaced", binary, folder)
    except UserError as error:
        job.done(f"not played through gem5's Ruby: {error}")
        return []
    shutil.rmtree(folder / "traces", ignore_errors=True)
    job.done("played")
    return rows


def as_ruby(target: Path) -> Path:
    """Write the hammer table with Ruby's names of statistics. State D, a migratory M that was handed over dirty and has
    not been stored to, counts as E, because Ruby's M covers both."""
    text = HAMMER.read_text(encoding="utf-8").replace('name = "hammer"', f'name = "{AS_RUBY}"', 1)
    text, changed = re.subn(r'(\[states\.D\][^\[]*counts_as = )"M"', r'\1"E"', text)
    assert changed == 1
    write(target, text.encode())
    return target


async def _capture(plan: Plan, skip: int, measure: int, board: Board) -> Capture:
    warm = checkpoint.find(plan.keys.warm.name, plan.keys.warm.key)
    assert warm is not None  # built a moment ago
    recipe = Recipe(plan, ("full",), warm, skip, measure)
    job = board.job(recipe.name)
    made = await make(recipe, asyncio.Semaphore(1), job, False)
    job.done("captured")
    return open_capture(made.name, "full")


async def _replay(capture: Capture, machine: str, protocol: str, settings: Mapping[str, object], board: Board) -> Path:
    design = resolve_design(capture, machine, protocol, settings)
    job = board.job(f"{capture.name} on {design.label}")
    folder = await replay(capture, design, lambda done, total: job.update("replaying", done, total), say=job.say)
    job.done("replayed")
    return folder


def print_differences(verdict: Verdict, console: Console) -> None:
    """A table of the categories that gem5 and the model count differently."""
    table = Table("category", "trace", "gem5", "model", "difference", title="Categories that differ")
    for column in table.columns[2:]:
        column.justify = "right"
    for one in verdict.differences:
        difference = one.model - one.ruby
        names = plain_text(one.category), plain_text(one.trace)
        table.add_row(*names, f"{one.ruby:,}", f"{one.model:,}", f"{difference:+,}")
    console.print(table)


def print_transitions(verdict: Verdict, console: Console) -> None:
    """A table of the transitions that the traces reached, by controller and state, with the numbers that exist."""
    table = Table("controller", "state", "reached", "existing", "events reached", title="Transitions of MOESI_hammer")
    for column in table.columns[2:4]:
        column.justify = "right"
    existing = traces.existing_transitions()
    for controller in sorted(existing | verdict.reached):
        all_of, reached = _by_state(existing.get(controller, [])), _by_state(verdict.reached.get(controller, []))
        for state in sorted(reached):
            events = reached[state]
            counts = str(len(events)), str(len(all_of.get(state, [])))
            table.add_row(plain_text(controller), plain_text(state), *counts, plain_text(", ".join(events)))
    console.print(table)


def coverage_sentence(verdict: Verdict) -> str:
    """How many of the existing transitions the traces reached, and what the others need."""
    existing = traces.existing_transitions()
    reached = [len(set(verdict.reached.get(controller, [])) & set(names)) for controller, names in existing.items()]
    by_controller = [
        f"{controller} {count} of {len(names)}"
        for (controller, names), count in zip(existing.items(), reached, strict=True)
    ]
    unknown = sum(len(set(names) - set(existing.get(controller, []))) for controller, names in verdict.reached.items())
    more = f"; {counted(unknown, 'transition')} reached that gem5 24.0.0.1 does not have" if unknown else ""
    return (
        f"transitions reached: {sum(reached)} of {sum(map(len, existing.values()))} "
        f"({', '.join(by_controller)}){more}; "
        "the others need accesses that overlap, DMA, flushes or a probe filter, and are not checked"
    )


def _by_state(transitions: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for transition in transitions:
        state, _, event = transition.partition(".")
        found.setdefault(state, []).append(event)
    return found


def check_command(args: Gem5CheckArguments) -> None:
    """Play short traces on the user's gem5 and compare its counts with the model's. Exit code 1: refused."""
    say = sayer(args.as_json)
    binary = find_gem5(args.gem5)
    verdict = check(binary, again=args.again)
    if args.as_json:
        print_json(verdict.record(binary))
    else:
        console = wide_console()
        if verdict.reached:
            print_transitions(verdict, console)
        if verdict.differences:
            print_differences(verdict, console)
    say(f"{binary}: gem5 {verdict.about.version}, adapter for releases since {verdict.about.release}")
    if verdict.reached:
        say(coverage_sentence(verdict))
    if verdict.unchecked:
        say(f"other protocols of this gem5, not checked: {', '.join(verdict.unchecked)}")
    say(f"{sentence(verdict)} ({verdict.seconds:.0f} s)")
    say(f"files: {folder(verdict.binary)}")
    if not verdict.certified:
        raise typer.Exit(1)

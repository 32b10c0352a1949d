# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab collect`: enter the run folders of several hosts into one database."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.base.staging import held
from s80lab.base.strict import short_path
from s80lab.base.terminal import counted, say
from s80lab.capture.explore.plan import PLANS, load_plan
from s80lab.capture.explore.watch import Failure, Progress, Watcher
from s80lab.commands.line.clusters import CollectArguments
from s80lab.results.collect import collect

LOOK_S = 10.0
"""Seconds between two looks at the folders."""


def collect_command(args: CollectArguments) -> None:
    """Copy the complete runs of other hosts into this lab, and enter all runs into the database of this lab."""
    if args.plan is not None and not args.watch:
        raise UserError("--plan names the plan that --watch follows; add --watch, or omit --plan")
    failed: Sequence[Failure] = []
    if args.watch:
        progress = _watch(args.plan, args.folders or [])
        failed = progress.failed
    if not args.watch or progress.complete:
        _collect(args.folders)
    if failed:
        for failure in failed:
            say(f"{failure.job} failed on {failure.host}: {failure.reason}")
        say(f"{counted(len(failed), 'replay')} failed; repeat the command of the shards to try again")
        raise typer.Exit(1)


def _watch(plan: Path | None, folders: Sequence[Path]) -> Progress:
    """Show the progress of an exploration until each replay is complete or has failed."""
    content = load_plan(plan or _latest_plan())
    watcher = Watcher(content, folders or [paths.results()])
    reported: set[str] = set()
    with Board(Console(stderr=True)) as board:
        job = board.job(f"list {content.list[:8]}")
        while not (progress := watcher.look()).ended:
            for failure in progress.failed:
                if failure.run not in reported:
                    reported.add(failure.run)
                    board.say(f"{failure.job} failed on {failure.host}: {failure.reason}")
            done = progress.complete + len(progress.failed)
            job.update("replays", done, progress.total, details=progress.details(), left_s=progress.left_s)
            time.sleep(LOOK_S)
        job.done(", ".join(progress.details()[:2]))
    return progress


def _latest_plan() -> Path:
    """The plan that `s80lab batch` wrote last."""
    found = sorted((paths.results() / PLANS).glob("*.json"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise UserError(
            f"{short_path(paths.results() / PLANS)} contains no plan: name the plan of the exploration with --plan "
            "FILE (`s80lab explore ... --plan FILE --list` writes one)"
        )
    return found[-1]


def _collect(folders: list[Path] | None) -> None:

    def waiting() -> None:
        say(f"collect: waiting for another `s80lab collect` in {short_path(paths.results())}")

    # What is missing there, a second one would copy too.
    with held(paths.results() / ".collect.lock", waiting):
        done = collect(folders or [paths.runs()], paths.runs(), paths.database())
    found = counted(done.runs, "run")
    if done.copied or done.entered:
        say(
            f"{found}: {done.copied} copied to {short_path(paths.runs())}, {done.entered} entered into "
            f"{short_path(paths.database())}; the other runs were there already",
            sys.stdout,
        )
    else:
        say(f"{found}: nothing new, all are in {short_path(paths.database())} already", sys.stdout)
    if done.unfinished:
        skipped = counted(done.unfinished, "folder with a partial run", "folders with partial runs")
        say(f"{skipped} skipped: these runs are in progress or were interrupted", sys.stdout)

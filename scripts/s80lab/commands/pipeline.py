# SPDX-License-Identifier: GPL-2.0-or-later
"""What several commands share: options, plans made from the command line, and work with progress lines."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from s80lab.analysis.groups import Run
from s80lab.base import host
from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.base.terminal import say
from s80lab.config.experiment import DEFAULT_IMAGE
from s80lab.config.grid import Grid
from s80lab.config.server import load_server
from s80lab.experiment.estimate import estimate
from s80lab.experiment.plan import Options, Plan, Until, planner, read_experiment
from s80lab.experiment.stages import Drop, Pipeline
from s80lab.gem5.check.run import require_certified
from s80lab.gem5.plan import gem5_plans
from s80lab.gem5.stages import Gem5Pipeline
from s80lab.guest.qemu import find_qemu
from s80lab.image.build import image_folder, is_current
from s80lab.image.choice import make_image
from s80lab.report.write import write_pages
from s80lab.results.run_folder import RunFolder

T = TypeVar("T")


def on_board(work: Callable[[Board], Awaitable[T]]) -> T:
    """Run the work with progress lines on stderr; return its result. Ctrl-C and SIGTERM cancel the work cleanly."""

    async def whole(board: Board) -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work(board)

    before = signal.getsignal(signal.SIGTERM)
    try:
        with Board(Console(stderr=True)) as board:
            return asyncio.run(whole(board))
    except asyncio.CancelledError:  # SIGTERM
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGTERM, before)


ESTIMATE_INDENT = 16
"""Indent of the lines of an estimate."""


def make_plans(experiments: Sequence[str], options: Options, build: bool = True) -> list[Plan]:
    """Resolve the experiments: one plan per seed.

    UserError names the first mistake in the experiments or options, before anything is built. Then missing and
    outdated images are built; without `build`, UserError names a missing image.
    """
    drafts = [planner(name, options) for name in dict.fromkeys(experiments)]
    if build:
        build_images(experiments, options)
    qemu = find_qemu()
    return [plan for complete in drafts for plan in complete(qemu)]


def build_images(experiments: Sequence[str], options: Options) -> None:
    """Build the missing images of the experiments' servers, and rebuild outdated Debian images.

    An existing Buildroot image is taken as it is, because only the user's Buildroot can tell whether it is outdated.
    UserError if a Buildroot image with a name of its own is missing: s80lab has no record of its options.
    """
    read = [read_experiment(name, options) for name in dict.fromkeys(experiments)]
    needed = {
        (at.image, at.server): None for one in read for at in map(one.at_point, Grid.of_sweep(one.sweep).points())
    }
    for image, server in needed:
        folder = image_folder(image, server)
        fits = is_current(folder, load_server(server)) if image == DEFAULT_IMAGE else folder.is_dir()
        if not fits and "." in image:
            raise UserError(
                f"image {image} for server {server} has not been built, and s80lab does not record its options: "
                f"build it with `s80lab image build --image {image} --server {server} --fragment FILE`"
            )
        if not fits:
            make_image(image, server, progress=say)


def tell_estimate(plans: Sequence[Plan], jobs: int, again: bool = False) -> None:
    """Print the estimate on stderr if a run is to be made."""
    found = estimate(plans, jobs or host.cores(), again=again)
    for line in found.lines() if found.runs else ():
        say(line, indent=ESTIMATE_INDENT)


def run_pipeline(
    plans: list[Plan], jobs: int, again: bool, until: Until, drop: Drop = "nothing", enter: bool = True
) -> list[Run]:
    """Build the checkpoints of the plans up to stage `until`; with `run`, also measure and write the pages of
    the runs; return them. enter: enter the runs into the database."""
    runs = on_board(lambda board: Pipeline(board, jobs, again, drop, enter).go(plans, until))
    return [write_pages(run) for run in runs]


def run_gem5(
    experiments: Sequence[str], options: Options, gem5: Path | None, jobs: int, again: bool, until: Until
) -> list[Run]:
    """Like run_pipeline, in gem5."""
    drafts = [gem5_plans(name, options) for name in dict.fromkeys(experiments)]
    build_images(experiments, replace(options, scale=None))
    plans = [plan for complete in drafts for plan in complete(gem5)]
    require_certified(plans[0].gem5, x86=True)
    folders = on_board(lambda board: Gem5Pipeline(board, jobs, again).go(plans, until))
    return [write_pages(RunFolder(folder)) for folder in folders]

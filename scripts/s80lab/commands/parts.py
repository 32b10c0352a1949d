# SPDX-License-Identifier: GPL-2.0-or-later
"""What several commands share: options, plans made from the command line, and work with progress lines."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.base.terminal import say
from s80lab.config.experiment import DEFAULT_IMAGE, LARGEST_SEED
from s80lab.config.grid import Grid
from s80lab.config.server import load_server
from s80lab.experiment.plan import Options, Plan, draft, read_experiment
from s80lab.experiment.stages import Drop, Pipeline, Until
from s80lab.gem5.binary import require
from s80lab.gem5.plan import Gem5Plan, gem5_plans
from s80lab.gem5.stages import Gem5Pipeline
from s80lab.guest.qemu import find_qemu
from s80lab.image.build import image_folder, is_current
from s80lab.image.choice import make_image
from s80lab.report.write import write_pages

T = TypeVar("T")
MOST_SEEDS = 20
"""Number of seeds that the message about a range of seeds spells out."""


def make_plans(experiments: Sequence[str], options: Options, build: bool = True) -> list[Plan]:
    """Resolve the experiments: one plan per seed.

    UserError names the first mistake in the experiments or options, before anything is built. Then missing and
    outdated images are built; without `build`, UserError names a missing image.
    """
    drafts = [draft(name, options) for name in dict.fromkeys(experiments)]
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
    needed = {(at.image, at.server): None for one in read for at in map(one.at, Grid.of_sweep(one.sweep).points())}
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


def run_pipeline(
    plans: list[Plan], jobs: int, again: bool, until: Until, drop: Drop = "nothing", enter: bool = True
) -> list[Path]:
    """Build the checkpoints of the plans up to stage `until`; with `run`, also measure, and return the folders of the
    runs, with their pages. enter: enter the runs into the database."""
    folders = on_board(lambda board: Pipeline(board, jobs, again, drop, enter).go(plans, until))
    return _with_pages(folders)


def run_gem5(
    experiments: Sequence[str], options: Options, gem5: Path | None, jobs: int, again: bool, until: Until
) -> dict[Path, Gem5Plan]:
    """Like run_pipeline, in gem5; return the folder and the plan of each run."""
    drafts = [gem5_plans(name, options) for name in dict.fromkeys(experiments)]
    build_images(experiments, replace(options, scale=None))
    plans = [plan for complete in drafts for plan in complete(gem5)]
    require(plans[0].gem5, x86=True)
    folders = _with_pages(on_board(lambda board: Gem5Pipeline(board, jobs, again).go(plans, until)))
    return dict(zip(folders, plans, strict=until == "run"))


def _with_pages(folders: list[Path]) -> list[Path]:
    """The folders, after the missing pages of their runs have been written."""
    for folder in folders:
        write_pages(folder)
    return folders


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


def one_seed(seed: int | None) -> list[int]:
    """The value of --seed as a list; empty if the option is absent."""
    if seed is not None and not 1 <= seed <= LARGEST_SEED:
        raise UserError(f"--seed {seed}: write a whole number from 1 to {LARGEST_SEED}")
    return [] if seed is None else [seed]


def parse_seeds(text: str | None, option: str = "--seeds") -> list[int]:
    """The value of --seeds (or of `option`); empty if the option is absent."""
    return _parse_numbers(text, option, "seed")


def parse_boots(text: str | None) -> list[int]:
    """The value of --boots; empty if the option is absent."""
    return _parse_numbers(text, "--boots", "boot")


def _parse_numbers(text: str | None, option: str, noun: str) -> list[int]:
    if text is None:
        return []
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        example = "1,2,3"
        if (ends := re.fullmatch(r"(\d{1,9})(?:-|\.\.)(\d{1,9})", text)) and int(ends[1]) < int(ends[2]):
            example = ",".join(map(str, range(int(ends[1]), min(int(ends[2]), int(ends[1]) + MOST_SEEDS) + 1)))
        raise UserError(f"{option} {text}: write whole numbers separated by commas, for example {example}") from None
    if min(numbers) < 1 or max(numbers) > LARGEST_SEED:
        raise UserError(f"{option} {text}: write whole numbers from 1 to {LARGEST_SEED}")
    if len(set(numbers)) < len(numbers):
        raise UserError(
            f"{option} {text}: a {noun} is given twice; write each {noun} once, because each {noun} is one run"
        )
    return numbers

# SPDX-License-Identifier: GPL-2.0-or-later
"""What several commands share: options, plans made from the command line, and work with progress lines."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer
from rich.console import Console

from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.base.store import M, Store
from s80lab.commands.output import AsJson, print_json
from s80lab.config.axes import sweep_points
from s80lab.config.experiment import DEFAULT_IMAGE
from s80lab.config.server import load_server
from s80lab.experiment.plan import Options, Plan, draft, read_experiment
from s80lab.experiment.stages import Drop, Pipeline, Until
from s80lab.gem5.binary import require
from s80lab.gem5.plan import Gem5Plan, gem5_plans
from s80lab.gem5.stages import Gem5Pipeline
from s80lab.guest.qemu import find_qemu
from s80lab.image.build import image_folder, is_current
from s80lab.image.choice import make_image

T = TypeVar("T")

Machine = Annotated[
    str | None,
    typer.Option(
        help="Machine to model: a name in configs/machines, or a .toml file. Default: the machine of the "
        "experiment or capture."
    ),
]
Protocol = Annotated[
    str | None,
    typer.Option(
        help="Coherence protocol to model: a name in configs/protocols, or a .toml file. Default: that of the "
        "experiment or capture, else of the machine."
    ),
]
Server = Annotated[
    str | None, typer.Option(help="Server in the guest: a name in workloads/servers. Default: the experiment's server.")
]
Image = Annotated[
    str | None,
    typer.Option(
        help="Guest image: debian, or (from your own Buildroot) buildroot or buildroot.NAME. Default: the "
        "experiment's image."
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        help="Scale (number of clients, size of the mail store): a name in workloads/scales. Default: the experiment's "
        "scale."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Override a value, as KEY=VALUE. The prefix of KEY selects the file: `scale.` the scale "
        "(scale.storage=disk), `workload.` the workload profile (workload.requests_max=10), no such "
        "prefix the machine file (l2.size=4MiB). May be repeated.",
    ),
]
MachineSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="Override a value of the machine file, as KEY=VALUE, e.g. l2.size=4MiB. May be repeated."
    ),
]
Engine = Annotated[
    Literal["qemu", "gem5"],
    typer.Option(
        help="Simulator that executes the guest: qemu (with s80lab's own cache model), or your own gem5 "
        "(docs/guides/gem5.md)."
    ),
]
Gem5 = Annotated[
    Path | None, typer.Option("--gem5", help="Path of the gem5 binary; default: $GEM5, else gem5.fast on PATH.")
]
Order = Annotated[
    bool,
    typer.Option(
        "--order",
        help="Count order inversions: accesses that the model plays after a conflicting access that the guest "
        "executed later.",
    ),
]
Jobs = Annotated[int, typer.Option(min=0, help="Number of guests that run in parallel; 0: one per host core.")]
Again = Annotated[bool, typer.Option("--again", help="Repeat runs or replays whose results exist already.")]


def make_plans(experiments: Sequence[str], options: Options) -> list[Plan]:
    """Resolve the experiments: one plan per seed.

    UserError names the first mistake in the experiments or options, before anything is built. Then missing and
    outdated images are built.
    """
    drafts = [draft(name, options) for name in dict.fromkeys(experiments)]
    build_images(experiments, options)
    qemu = find_qemu()
    return [plan for complete in drafts for plan in complete(qemu)]


def build_images(experiments: Sequence[str], options: Options) -> None:
    """Build the missing images of the experiments' servers, and rebuild outdated Debian images.

    An existing Buildroot image is taken as it is, because only the user's Buildroot can tell whether it is outdated.
    UserError if a Buildroot image with a name of its own is missing: s80lab has no record of its options.
    """
    read = [read_experiment(name, options) for name in dict.fromkeys(experiments)]
    needed = {(at.image, at.server): None for one in read for at in map(one.at, sweep_points(one.sweep))}
    for image, server in needed:
        folder = image_folder(image, server)
        fits = is_current(folder, load_server(server)) if image == DEFAULT_IMAGE else folder.is_dir()
        if not fits and "." in image:
            raise UserError(
                f"image {image} for server {server} has not been built, and s80lab does not record its options: "
                f"build it with `s80lab image build --image {image} --server {server} --fragment FILE`"
            )
        if not fits:
            make_image(image, server, progress=lambda text: print(text, file=sys.stderr))


def run_pipeline(
    plans: list[Plan], jobs: int, again: bool, until: Until, drop: Drop = "nothing", enter: bool = True
) -> list[Path]:
    """Build the checkpoints of the plans up to stage `until`; with `run`, also measure, and return the folders of the
    runs. enter: enter the runs into the database."""
    return on_board(lambda board: Pipeline(board, jobs, again, drop, enter).go(plans, until))


def run_gem5(
    experiments: Sequence[str], options: Options, gem5: Path | None, jobs: int, again: bool, until: Until
) -> dict[Path, Gem5Plan]:
    """Like run_pipeline, in gem5; return the folder and the plan of each run."""
    drafts = [gem5_plans(name, options) for name in dict.fromkeys(experiments)]
    build_images(experiments, replace(options, scale=None))
    plans = [plan for complete in drafts for plan in complete(gem5)]
    require(plans[0].gem5, x86=True)
    folders = on_board(lambda board: Gem5Pipeline(board, jobs, again).go(plans, until))
    return dict(zip(folders, plans, strict=until == "run"))


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
    except (KeyboardInterrupt, asyncio.CancelledError):
        print(
            "s80lab: interrupted; complete results are kept, partial results are deleted; repeat the command "
            "to continue",
            file=sys.stderr,
        )
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def add_store_commands(app: typer.Typer, store: Store[M], noun: str, describe: Callable[[M], str]) -> None:
    """Add the commands list, verify and prune for a store. describe: text about one manifest for the list."""

    @app.command("list", help=f"List every {noun} with its size on disk and the time at which it was made.")
    def list_all(as_json: AsJson = False) -> None:
        if as_json:
            print_json([_record(store, manifest) for manifest in store.all()])
            return
        for manifest in store.all():
            there = f"{store.disk_bytes(manifest.name) / 1e9:.1f} GB" if store.present(manifest) else "files missing"
            print(f"{manifest.name}: {there}, {describe(manifest)}{manifest.created}")

    @app.command(
        "verify",
        help=f"Compare the files of every {noun} with their recorded hashes; exit code 1 if a file is damaged or "
        "missing.",
    )
    def verify(as_json: AsJson = False) -> None:
        verdicts = [(manifest.name, store.verify(manifest)) for manifest in store.all()]
        if as_json:
            print_json([{"name": name, "verdict": verdict} for name, verdict in verdicts])
        for name, verdict in () if as_json else verdicts:
            print(f"{name}: {verdict}")
        if any(verdict != "whole" for _, verdict in verdicts):
            raise typer.Exit(1)

    @app.command(
        "prune", help=f"Remove all {noun}s except those named by --keep, and all files that interrupted commands left."
    )
    def prune(
        keep: Annotated[
            list[str] | None, typer.Option(help="Name of an entry that is not removed. May be repeated.")
        ] = None,
    ) -> None:
        for name, freed in store.prune(set(keep or [])):
            print(f"{name}: removed, {freed / 1e9:.1f} GB freed")


def _record(store: Store[M], manifest: M) -> dict[str, Any]:
    return manifest.model_dump(mode="json") | {
        "disk_bytes": store.disk_bytes(manifest.name),
        "present": store.present(manifest),
    }


def one_seed(seed: int | None) -> list[int]:
    """The value of --seed as a list; empty if the option is absent."""
    if seed is not None and seed < 1:
        raise UserError(f"--seed {seed}: write a whole number of at least 1")
    return [] if seed is None else [seed]


def parse_seeds(text: str | None, option: str = "--seeds") -> list[int]:
    """The value of --seeds (or of `option`); empty if the option is absent."""
    if text is None:
        return []
    try:
        seeds = [int(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"{option} {text}: write whole numbers separated by commas, for example 1,2,3") from None
    if min(seeds) < 1:
        raise UserError(f"{option} {text}: write whole numbers of at least 1")
    if len(set(seeds)) < len(seeds):
        raise UserError(f"{option} {text}: a seed is given twice; write each seed once, because each seed is one run")
    return seeds

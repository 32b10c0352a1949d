# SPDX-License-Identifier: GPL-2.0-or-later
"""What several commands share: options, plans from the user's words, work under a board of progress."""

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

Machine = Annotated[str | None, typer.Option(help="Another machine: a name in configs/machines or a .toml file.")]
Protocol = Annotated[str | None, typer.Option(help="Another protocol: a name in configs/protocols or a .toml file.")]
Server = Annotated[str | None, typer.Option(help="Another server (workloads/servers).")]
Image = Annotated[
    str | None, typer.Option(help="Another image: debian, or your Buildroot's (buildroot, buildroot.NAME).")
]
Scale = Annotated[str | None, typer.Option(help="Another scale (workloads/scales).")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A value of the machine file (l2.size=4MiB), of a guest's scale (scale.storage=disk) or of its workload "
        "(workload.requests_max=10).",
    ),
]
Engine = Annotated[Literal["qemu", "gem5"], typer.Option(help="Who simulates: gem5 is your own (docs/guides/gem5.md).")]
Gem5 = Annotated[Path | None, typer.Option("--gem5", help="The gem5 binary; else $GEM5, else gem5.fast on PATH.")]
Order = Annotated[bool, typer.Option("--order", help="Count what is played against the guest's order.")]
Jobs = Annotated[int, typer.Option(min=0, help="Guests at once; 0: as many as host cores.")]
Again = Annotated[bool, typer.Option("--again", help="Measure anew what has been measured already.")]


def make_plans(experiments: Sequence[str], options: Options) -> list[Plan]:
    """The experiments, resolved, one plan a seed; what is wrong with the words is told before anything is made. An
    image that is not there, or of other inputs, is built."""
    drafts = [draft(name, options) for name in dict.fromkeys(experiments)]
    build_images(experiments, options)
    qemu = find_qemu()
    return [plan for complete in drafts for plan in complete(qemu)]


def build_images(experiments: Sequence[str], options: Options) -> None:
    """The images of the experiments' servers that are not there yet; Debian's anew where they are not of what the
    server is made of now (whether one of Buildroot's is, only the user's Buildroot can say). UserError for one of
    Buildroot's with a name of its own: what it is to be made with does not stand in any file of ours."""
    read = [read_experiment(name, options) for name in dict.fromkeys(experiments)]
    needed = {(at.image, at.server): None for one in read for at in map(one.at, sweep_points(one.sweep))}
    for image, server in needed:
        folder = image_folder(image, server)
        fits = is_current(folder, load_server(server)) if image == DEFAULT_IMAGE else folder.is_dir()
        if not fits and "." in image:
            raise UserError(
                f"image {image} with server {server} is not there, and its options are known to you alone: "
                f"`s80lab image build --image {image} --server {server}` and they"
            )
        if not fits:
            make_image(image, server, progress=lambda text: print(text, file=sys.stderr))


def run_pipeline(
    plans: list[Plan], jobs: int, again: bool, until: Until, drop: Drop = "nothing", enter: bool = True
) -> list[Path]:
    """The experiments up to a stage. enter: their runs into the database."""
    return on_board(lambda board: Pipeline(board, jobs, again, drop, enter).go(plans, until))


def run_gem5(
    experiments: Sequence[str], options: Options, gem5: Path | None, jobs: int, again: bool, until: Until
) -> dict[Path, Gem5Plan]:
    """The same in gem5: the folder of each measured run."""
    drafts = [gem5_plans(name, options) for name in dict.fromkeys(experiments)]
    build_images(experiments, replace(options, scale=None))
    plans = [plan for complete in drafts for plan in complete(gem5)]
    require(plans[0].gem5, x86=True)
    folders = on_board(lambda board: Gem5Pipeline(board, jobs, again).go(plans, until))
    return dict(zip(folders, plans, strict=until == "run"))


def on_board(work: Callable[[Board], Awaitable[T]]) -> T:
    """The work's result, its progress on stderr; Ctrl-C ends it in order, and so does SIGTERM, which must not break
    into the event loop at any place."""

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
        print("s80lab: interrupted; nothing partial is kept, run the same command to go on", file=sys.stderr)
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def add_store_commands(app: typer.Typer, store: Store[M], noun: str, describe: Callable[[M], str]) -> None:
    """list, verify and prune of a store, whose manifests `describe` puts into words."""

    @app.command("list", help=f"Every {noun} with its size on disk.")
    def list_all(as_json: AsJson = False) -> None:
        if as_json:
            print_json([_record(store, manifest) for manifest in store.all()])
            return
        for manifest in store.all():
            there = f"{store.disk_bytes(manifest.name) / 1e9:.1f} GB" if store.present(manifest) else "blobs missing"
            print(f"{manifest.name}: {there}, {describe(manifest)}{manifest.created}")

    @app.command(
        "verify", help=f"Hashes every {noun} again; exit code 1 where one is damaged or its blobs are missing."
    )
    def verify(as_json: AsJson = False) -> None:
        verdicts = [(manifest.name, store.verify(manifest)) for manifest in store.all()]
        if as_json:
            print_json([{"name": name, "verdict": verdict} for name, verdict in verdicts])
        for name, verdict in () if as_json else verdicts:
            print(f"{name}: {verdict}")
        if any(verdict != "whole" for _, verdict in verdicts):
            raise typer.Exit(1)

    @app.command("prune", help=f"Removes all {noun}s but the ones to keep, and what interrupted builds have left.")
    def prune(
        keep: Annotated[list[str] | None, typer.Option(help="One to keep (may be given several times).")] = None,
    ) -> None:
        for name, freed in store.prune(set(keep or [])):
            print(f"{name}: removed, {freed / 1e9:.1f} GB")


def _record(store: Store[M], manifest: M) -> dict[str, Any]:
    return manifest.model_dump(mode="json") | {
        "disk_bytes": store.disk_bytes(manifest.name),
        "present": store.present(manifest),
    }


def one_seed(seed: int | None) -> list[int]:
    """The --seed option; none where it is absent."""
    if seed is not None and seed < 1:
        raise UserError(f"--seed {seed}: seeds are whole numbers from 1 up")
    return [] if seed is None else [seed]


def parse_seeds(text: str | None, option: str = "--seeds") -> list[int]:
    """The --seeds option; none where it is absent."""
    if text is None:
        return []
    try:
        seeds = [int(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"{option} {text}: write whole numbers separated by commas, for example 1,2,3") from None
    if min(seeds) < 1:
        raise UserError(f"{option} {text}: seeds are whole numbers from 1 up")
    if len(set(seeds)) < len(seeds):
        raise UserError(f"{option} {text}: the same seed twice is the same run twice, not a sample")
    return seeds

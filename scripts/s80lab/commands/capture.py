# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab capture` and `s80lab captures list|verify|prune`."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Annotated, Literal

import typer

from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.base.strict import parse_settings
from s80lab.capture.error import ANY_SHARE
from s80lab.capture.live import Recipe, lengths, make
from s80lab.capture.store import STORE, SUFFIX, Form, Manifest, Totals
from s80lab.commands.parts import (
    Image,
    Machine,
    Protocol,
    Scale,
    Server,
    Settings,
    add_store_commands,
    make_plans,
    on_board,
    one_seed,
    run_pipeline,
)
from s80lab.commands.transfer import add_transfer_commands
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import Checkpoint
from s80lab.experiment.plan import Options, Plan
from s80lab.trace.files import whole

captures_app = typer.Typer(
    help="List, verify, move and remove captures (recorded access streams).", no_args_is_help=True
)


def capture(
    experiment: Annotated[str, typer.Argument(help="Name of an experiment (a file in configs/experiments).")],
    form: Annotated[
        Literal["filtered", "full", "both"],
        typer.Option(
            help="Form of the capture. filtered (small): only the accesses that missed the recording machine's "
            "L1s; full: every access; both: both forms of one run, in two files."
        ),
    ] = "filtered",
    start: Annotated[
        Literal["ready", "warm"] | None,
        typer.Option(
            help="Checkpoint from which the recorded guest resumes. ready: booted, cold caches; warm: steady "
            "state. Default: warm with --form full, else ready."
        ),
    ] = None,
    instructions: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Length of the measured region, in instructions of all processors together. Default: from the "
            "experiment.",
        ),
    ] = None,
    warm_up: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Length of the warm-up that is recorded before the measured region, in instructions. Default: "
            "from the experiment; 0 with --start warm.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Also copy the capture file to this path. Not with --form both.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the load's random draws. Default: the experiment's first seed.")
    ] = None,
    machine: Machine = None,
    protocol: Protocol = None,
    server: Server = None,
    image: Image = None,
    scale: Scale = None,
    settings: Settings = None,
    again: Annotated[
        bool, typer.Option("--again", help="Record the capture even if it exists already, and replace it.")
    ] = False,
) -> None:
    """Record the memory accesses of a live run, for `s80lab replay` and `s80lab explore`."""
    forms: tuple[Form, ...] = ("filtered", "full") if form == "both" else (form,)
    if out is not None and len(forms) > 1:
        raise UserError(
            f"--out {out}: --form both makes two files, but --out names one: omit --out and take both files "
            "from captures/"
        )
    stage = start or ("warm" if forms == ("full",) else "ready")
    chosen = parse_settings(settings or [])
    options = Options(machine, protocol, scale, one_seed(seed), chosen, server=server, image=image)
    plan, *_ = make_plans([experiment], options)
    if plan.dma:
        raise UserError(
            "scale.disk.dma = true: a capture cannot record the memory accesses of disks; add --set "
            "scale.disk.dma=false"
        )
    run_pipeline([plan], 1, False, stage)
    skip, measure = lengths(plan.phases, stage, forms, instructions, warm_up)
    recipe = Recipe(plan, forms, _start(plan, stage), skip, measure)

    async def work(board: Board) -> Manifest:
        job = board.job(recipe.name)
        made = await make(recipe, asyncio.Semaphore(1), job, again)
        job.drop()
        return made

    made = on_board(work)
    print(f"capture: {made.name}")
    for one, totals in made.forms.items():
        print(f"{one}: {_totals(totals)}")
    print(f"live run: {made.live_mips:.0f} MIPS while recording; report: {STORE.folder(made.name) / 'report.html'}")
    if out is not None:
        _put(STORE.folder(made.name) / f"{forms[0]}{SUFFIX}", out)


def _start(plan: Plan, stage: Literal["ready", "warm"]) -> Checkpoint:
    names = {"ready": (plan.ready_name, plan.ready_key), "warm": (plan.warm_name, plan.warm_key)}
    found = checkpoint.find(*names[stage])
    assert found is not None  # built a moment ago
    return found


def _totals(totals: Totals) -> str:
    """Size, density, and the difference between the capture's own replay and the live run."""
    said = [
        f"{totals.bytes / 1e6:.1f} MB for {totals.instructions / 1e9:.2f} G instructions",
        f"{totals.events / totals.instructions * 1e3:.1f} M events per G instructions, {totals.bytes_per_access:.2f} "
        "bytes per access of the guest",
        f"replays at {totals.replay_mips:.0f} MIPS",
    ]
    if totals.identical:
        said.append("the replay equals the live run byte for byte")
    else:
        points = totals.differences[ANY_SHARE]
        said.append(
            "every share of the replay is within " + ("-" if points is None else f"{points:.2f} points of the live run")
        )
    return "; ".join(said)


def _put(source: Path, target: Path) -> None:
    with whole(target) as partial:
        shutil.copyfile(source, partial)
    print(f"copied to {target}")


def _describe(manifest: Manifest) -> str:
    forms = ", ".join(f"{form} {totals.bytes / 1e6:.0f} MB" for form, totals in manifest.forms.items())
    return f"{forms}, {(manifest.skip + manifest.measure) / 1e9:.1f} G instructions, "


add_store_commands(captures_app, STORE, "capture", _describe)
add_transfer_commands(captures_app, STORE, "capture")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that record access streams and play them through many designs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from s80lab.commands.line.declare import Section
from s80lab.commands.line.options import (
    Again,
    AsJson,
    Capture,
    Experiment,
    Image,
    List,
    Machine,
    MachineSettings,
    Order,
    Protocol,
    ReplayJobs,
    Scale,
    Server,
    Settings,
    Shard,
    Vary,
)
from s80lab.commands.line.stores import declare_store

SECTION = Section("Explore designs")

Form = Annotated[
    Literal["filtered", "full"] | None,
    typer.Option(
        "--form",
        help="Form of the capture to play: filtered (only the accesses that missed the recording machine's L1s) or "
        "full (every access). Default: filtered if the capture has this form, else full.",
    ),
]


@SECTION.command(
    "capture", "capture:capture", "s80lab capture imapb", "s80lab capture imapb --form full --scale tiny --seed 2"
)
def capture(
    experiment: Experiment,
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
            metavar="N",
            help="Length of the measured region, in instructions of all processors together. Default: from the "
            "experiment.",
        ),
    ] = None,
    warm_up: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Length of the warm-up that is recorded before the measured region, in instructions. Default: "
            "from the experiment; 0 with --start warm.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also copy the capture file to this path. Not with --form both."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Seed of the load's random draws. Default: the experiment's first seed."),
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
    """Record the memory accesses of a live run.

    `s80lab replay` and `s80lab explore` play the capture.
    """


@SECTION.command(
    "explore",
    "replay:explore_command",
    "s80lab explore imapb --vary protocol=moesi,mesi --vary l2.size=1MiB..8MiB",
    "s80lab explore imapb --vary cores=4..16 --jobs 2",
)
def explore(
    capture: Capture,
    vary: Vary = None,
    machine: Machine = None,
    settings: MachineSettings = None,
    form: Form = None,
    jobs: ReplayJobs = 0,
    again: Again = False,
    order: Order = False,
    shard: Shard = None,
    listed: List = False,
    as_json: AsJson = False,
) -> None:
    """Play a capture through every design of a grid, in parallel.

    After an interruption, repeat the command to continue.
    """


@SECTION.command(
    "replay",
    "replay:replay_command",
    "s80lab replay imapb",
    "s80lab replay imapb --protocol mesi --set l2.size=4MiB",
)
def replay(
    capture: Capture,
    machine: Machine = None,
    protocol: Protocol = None,
    settings: MachineSettings = None,
    form: Form = None,
    again: Again = False,
    order: Order = False,
    as_json: AsJson = False,
) -> None:
    """Play a capture through one design.

    The result enters the database. Without options, the design (machine and protocol) is that of the recording.
    """


SECTION.group("captures", "List, verify, move and remove captures.")
declare_store(SECTION, "captures", "capture", "imapb-small-s1")

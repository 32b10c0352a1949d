# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that record access streams and play them through many designs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from s80lab.commands.line import complete
from s80lab.commands.line.declare import RARE, Arguments, Section, option
from s80lab.commands.line.options import (
    AllTables,
    AsJson,
    Capture,
    Experiment,
    Image,
    Machine,
    MachineSettings,
    Protocol,
    ReplayAgain,
    ReplayJobs,
    ReplayList,
    ReplayMachine,
    ReplayProtocol,
    ReportSection,
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


@SECTION.command("capture", "capture:capture", "s80lab capture imapb", "s80lab capture quick --form full --seed 2")
class CaptureArguments(Arguments):
    """Run an experiment once and record its memory accesses.

    `s80lab replay` and `s80lab explore` play the capture.

    Costs: a run with one seed, which takes a tenth longer if it is recorded filtered, and a third longer if it is
    recorded full. A filtered capture takes 24 MB of disk per 1 G instructions (240 MB at scale small), a full capture
    202 MB.
    """

    experiment: Experiment
    form: Literal["filtered", "full", "both"] = option(
        "filtered",
        "Form of the capture. filtered (small): only the accesses that missed the recording machine's "
        "L1s; full: every access; both: both forms of one run, in two files.",
    )
    start: Literal["ready", "warm"] | None = option(
        None,
        "Checkpoint from which the recorded guest resumes. ready: booted, cold caches; warm: steady "
        "state. Default: warm with --form full, else ready.",
        rich_help_panel=RARE,
    )
    instructions: int | None = option(
        None,
        "Length of the measured region, in instructions of all processors together. Default: from the experiment.",
        min=1,
        metavar="N",
        rich_help_panel=RARE,
    )
    warm_up: int | None = option(
        None,
        "Length of the warm-up that is recorded before the measured region, in instructions. Default: "
        "from the experiment; 0 with --start warm.",
        min=0,
        metavar="N",
        rich_help_panel=RARE,
    )
    out: Path | None = option(
        None, "Also copy the capture file to this path. Not with --form both.", metavar="FILE", rich_help_panel=RARE
    )
    seed: int | None = option(
        None, "Seed of the load's random draws. Default: the experiment's first seed.", metavar="N"
    )
    machine: Machine = None
    protocol: Protocol = None
    server: Server = None
    image: Image = None
    scale: Scale = None
    settings: Settings = None
    again: bool = option(False, "Record the capture even if it exists already, and replace it.", "--again")


@SECTION.command(
    "explore",
    "replay:explore_command",
    "s80lab explore imapb --vary protocol=moesi,mesi --vary l2.size=1MiB..8MiB",
    "s80lab explore imapb --vary l2.ways=1..8 --vary protocol=msi,moesi --list",
)
class ExploreArguments(Arguments):
    """Play captures through each design of a grid, and compare them.

    After an interruption, repeat the command to continue.

    Costs: a design takes 6 to 7 seconds of one core for a filtered capture of scale small, 0.5 GB of memory and 2 MB
    of disk.
    """

    capture: Capture
    vary: Vary = None
    machine: ReplayMachine = None
    settings: MachineSettings = None
    form: Form = None
    seeds: str | None = option(
        None,
        "Play the captures of these seeds whose names begin with CAPTURE, and print means with intervals. "
        "CAPTURE may also list captures, separated by commas.",
        metavar="N,N...",
        autocompletion=complete.seeds,
    )
    jobs: ReplayJobs = 0
    again: ReplayAgain = False
    shard: Shard = None
    listed: ReplayList = False
    plan: Path | None = option(
        None,
        "Plan file with the resolved list of replays. The command writes the file if it does not exist, else "
        "reads it; then --vary may be omitted. With a plan, --list and --shard do not resolve the whole grid "
        "again.",
        metavar="FILE",
        rich_help_panel=RARE,
    )
    as_json: AsJson = False


@SECTION.command(
    "replay", "replay:replay_command", "s80lab replay imapb", "s80lab replay imapb --protocol mesi --set l2.size=4MiB"
)
class ReplayArguments(Arguments):
    """Play a capture through one design, and print a summary.

    The result enters the database. Without options, the design (machine and protocol) is that of the recording.
    """

    capture: Capture
    machine: ReplayMachine = None
    protocol: ReplayProtocol = None
    settings: MachineSettings = None
    form: Form = None
    again: ReplayAgain = False
    everything: AllTables = False
    section: ReportSection = None
    as_json: AsJson = False


SECTION.group("captures", "List, verify, move and remove captures.")
declare_store(SECTION, "captures", "capture", "imapb-small-s1")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from s80lab.commands.line import complete
from s80lab.commands.line.declare import RARE

Experiments = Annotated[
    list[str],
    typer.Argument(
        metavar="EXPERIMENT",
        help="Names of experiments (files in configs/experiments, without .toml).",
        autocompletion=complete.experiments,
    ),
]
Experiment = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="Name of an experiment (a file in configs/experiments, without .toml).",
        autocompletion=complete.experiments,
    ),
]
Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="Name of a run, the beginning of its name, or its folder.", autocompletion=complete.runs
    ),
]
Capture = Annotated[
    str,
    typer.Argument(
        metavar="CAPTURE",
        help="Capture: its name, the beginning of its name, or a .s80c file.",
        autocompletion=complete.captures,
    ),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="N,N...",
        help="Seeds of the load's random draws, separated by commas. Default: the seeds in the experiment's file.",
        autocompletion=complete.seeds,
    ),
]
Boots = Annotated[
    str | None,
    typer.Option(
        metavar="N,N...",
        help="Numbers of boots, separated by commas. Each number is a guest of its own, booted for it; each seed is "
        "run from each boot. Independent replications need several boots. Default: boot 1 if seeds are named, else the "
        "boots in the experiment's file.",
    ),
]


def machine_option(default: str) -> Any:
    """The option --machine. default: what is modelled without the option."""
    return typer.Option(
        "--machine",
        metavar="NAME|FILE",
        help=f"Machine to model: a name in configs/machines, or a .toml file. Default: {default}.",
        autocompletion=complete.machines,
    )


def protocol_option(default: str, use: str = "to model") -> Any:
    """The option --protocol. default: what is modelled without the option."""
    return typer.Option(
        "--protocol",
        metavar="NAME|FILE",
        help=f"Coherence protocol {use}: a name in configs/protocols, or a .toml file. Default: {default}.",
        autocompletion=complete.protocols,
    )


def machine_settings_option(value: str) -> Any:
    """The option --set for keys of a machine file. value: what the option gives."""
    return typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help=f"{value}, e.g. l2.size=4MiB. May be repeated.",
        autocompletion=complete.machine_settings,
    )


Machine = Annotated[str | None, machine_option("the experiment's machine")]
ReplayMachine = Annotated[str | None, machine_option("the machine of the recording")]
TraceMachine = Annotated[str | None, machine_option("the machine that the trace or capture names, else s80")]
Protocol = Annotated[str | None, protocol_option("the experiment's, else the machine's")]
ReplayProtocol = Annotated[str | None, protocol_option("the protocol of the recording; with --machine, that machine's")]
TraceProtocol = Annotated[str | None, protocol_option("the protocol that the trace names, else the machine's")]
Server = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Server in the guest: a name in workloads/servers. Default: the experiment's server.",
        autocompletion=complete.servers,
    ),
]
Image = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Guest image: debian, or (from your own Buildroot) buildroot or buildroot.NAME. Default: the experiment's "
        "image.",
        rich_help_panel=RARE,
        autocompletion=complete.images,
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Scale (number of clients, size of the mail store): a name in workloads/scales. Default: the experiment's "
        "scale.",
        autocompletion=complete.scales,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a value. The prefix of KEY selects the file: `scale.` the scale (scale.storage=disk), "
        "`workload.` the workload profile (workload.requests_max=10), no such prefix the machine file (l2.size=4MiB). "
        "May be repeated.",
        autocompletion=complete.settings,
    ),
]
MachineSettings = Annotated[list[str] | None, machine_settings_option("Override a value of the machine file")]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="KEY=VALUES",
        help="Parameter that varies over the designs of the grid. KEY: protocol, machine, cores or a key of the "
        "machine file. VALUES: a list with commas; a..b stands for a, 2a, 4a, ... b. May be repeated: the grid has "
        "every combination.",
        autocompletion=complete.axes,
    ),
]
Engine = Annotated[
    Literal["qemu", "gem5"],
    typer.Option(
        help="Simulator that executes the guest: qemu (with s80lab's own cache model), or your own gem5 "
        "(docs/guides/gem5.md).",
        rich_help_panel=RARE,
    ),
]
Gem5 = Annotated[
    Path | None,
    typer.Option(
        "--gem5",
        metavar="FILE",
        help="Path of the gem5 binary. Default: $GEM5, else gem5.fast on PATH.",
        rich_help_panel=RARE,
    ),
]
Jobs = Annotated[
    int, typer.Option(min=0, metavar="N", help="Number of guests that run in parallel; 0: one per host core.")
]
ReplayJobs = Annotated[
    int, typer.Option(min=0, metavar="N", help="Number of replays that run in parallel; 0: one per host core.")
]
Again = Annotated[bool, typer.Option("--again", help="Repeat runs whose results exist already.")]
ReplayAgain = Annotated[bool, typer.Option("--again", help="Repeat replays whose results exist already.")]
MissSort = Literal[
    "transfers",
    "misses",
    "reads",
    "writes",
    "upgrades",
    "memory",
    "M",
    "O",
    "E",
    "S",
    "true_sharing",
    "false_sharing",
    "stall_cycles",
]
"""Numbers by which lines are sorted: SORTS of analysis.misses.store."""
Html = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="HTML file to write, with the state of every cache after each access."),
]
AllTables = Annotated[bool, typer.Option("--all", help="Print all tables of the report instead of a summary.")]
ReportSection = Annotated[
    str | None,
    typer.Option(
        "--section",
        metavar="NAME",
        help="Print one section of the report, for example sources, machine or claims. An unknown name lists all "
        "names.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout and nothing else.")]
Shard = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Do only shard I of N: the list of runs is divided among N hosts, and this host does part I. A shard "
        "writes run folders, not the database; `s80lab collect` enters the runs.",
        rich_help_panel=RARE,
    ),
]
List = Annotated[bool, typer.Option("--list", help="Print the list of runs, sorted by hash, and start none of them.")]
ReplayList = Annotated[
    bool, typer.Option("--list", help="Print the list of replays, sorted by hash, and start none of them.")
]

# SPDX-License-Identifier: GPL-2.0-or-later
"""The command that runs any program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from s80lab.commands.line import complete
from s80lab.commands.line.declare import RARE, Section
from s80lab.commands.line.options import MachineSettings

SECTION = Section("Programs")


@SECTION.command(
    "exec",
    "exec:exec_command",
    "s80lab exec -- ./counter 4",
    "s80lab exec --processors 16 --add input.txt --name before -- ./sort input.txt",
    settings={"allow_interspersed_args": False},
)
@dataclass(frozen=True)
class Request:
    """Run a program in the guest and count its misses exactly.

    The program and its libraries are handed over to a Linux guest on the modelled machine. What it prints appears on
    stdout and stderr, and the exit code is the program's (128 + n for signal n; 125 if s80lab fails, 126 and 127 if the
    program cannot be executed or found). The report goes to stderr.
    """

    words: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM [ARGUMENT]", help="The program, an ELF file or a script, and its arguments."),
    ]
    machine: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="Machine to model: a name in configs/machines, or a .toml file.",
            autocompletion=complete.machines,
        ),
    ] = "desktop-8"
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Coherence protocol to model: a name in configs/protocols, or a .toml file. Default: the machine's.",
            autocompletion=complete.protocols,
        ),
    ] = None
    settings: MachineSettings = None
    processors: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of processors. Default: the machine's.")
    ] = None
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory of the guest, from 3GiB.", rich_help_panel=RARE)
    ] = "3GiB"
    add: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH[:GUEST_PATH]",
            help="Hand over a file or a folder. Files of system folders keep their path; others are placed "
            "in /work, where the program begins. Repeatable.",
        ),
    ] = None
    host_packages: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="NAME,...",
            help="Hand over the files of these Debian packages of this host, and of those that they "
            "need. An interpreter of scripts brings its package by itself.",
        ),
    ] = None
    folder: Annotated[
        str | None,
        typer.Option("--cwd", metavar="GUEST_PATH", help="Folder in which the program begins. Default: /work."),
    ] = None
    variables: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME=VALUE", help="A variable of the program's environment. Repeatable."),
    ] = None
    run_as: Annotated[
        str | None,
        typer.Option(metavar="USER", help="UID, UID:GID, root, user or nobody. Default: root.", rich_help_panel=RARE),
    ] = None
    stdin: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The program's standard input. Default: a redirected stdin, read to its end."
        ),
    ] = None
    timeout: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="End the run after this time of the host.")
    ] = None
    simulated_timeout: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="End the program after this simulated time.")
    ] = None
    begin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="[FILE:]FUNCTION",
            help="The measured region begins when this function of the program or of its library FILE is entered.",
        ),
    ] = None
    end: Annotated[
        str | None,
        typer.Option("--to", metavar="[FILE:]FUNCTION", help="The measured region ends when this function is entered."),
    ] = None
    per: Annotated[
        str | None,
        typer.Option(metavar="[FILE:]FUNCTION", help="Divide the counts by the calls of this function."),
    ] = None
    markers: Annotated[
        bool,
        typer.Option("--markers", help="The program's own markers (s80lab.h) begin and end the measured region."),
    ] = False
    misses: Annotated[
        bool,
        typer.Option("--misses/--no-misses", help="Name the code and data of misses. Without it the run is faster."),
    ] = True
    heap: Annotated[
        bool, typer.Option("--heap/--no-heap", help="Name objects of malloc and new by the line that made them.")
    ] = True
    warmup: Annotated[
        int, typer.Option(min=0, max=1000, metavar="N", help="Execute the program N times before the measured run.")
    ] = 0
    setup: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="A command of the guest's shell before the measured run, not measured."),
    ] = None
    background: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND", help="A command of the guest's shell, such as a server, that runs beside the program."
        ),
    ] = None
    ready: Annotated[
        str | None,
        typer.Option(metavar="PORT|PATH", help="With --background: the port or file that shows that it is ready."),
    ] = None
    rootfs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER|TAR",
            help="The guest's root, for example of `docker export`; the program is one of its files. The guest unpacks "
            "an archive into its memory.",
        ),
    ] = None
    packages: Annotated[
        str | None,
        typer.Option(
            "--package", metavar="NAME,...", help="The guest's root: these packages of Debian 12 and what they need."
        ),
    ] = None
    get: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GUEST_PATH[:PATH]",
            help="Bring a file or folder of the guest back. Repeatable.",
            rich_help_panel=RARE,
        ),
    ] = None
    order: Annotated[
        Literal["default", "reference"],
        typer.Option(
            help="The order of accesses by different processors: `reference` changes the processor every ten "
            "instructions and filters no access, which takes many times as long.",
            rich_help_panel=RARE,
        ),
    ] = "default"
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="N,N...",
            help="Seeds of address layouts and of the kernel's random numbers: a run for each. Default: 1.",
        ),
    ] = None
    boots: Annotated[
        str | None,
        typer.Option(
            metavar="N,N...",
            help="Numbers of the guest's boots: a run for each. The report then has 95% intervals. Default: 1.",
        ),
    ] = None
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the run, which a later run of this name replaces.")
    ] = "last"
    as_json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON, too.")] = (
        None
    )
    page: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page with figures, too.")
    ] = None
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report to this file instead of to stderr.")
    ] = None
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml",
            help="Write the command as an experiment, too, which `s80lab run`, `sweep`, `compare`, `capture`, "
            "`estimate`, `report` and `batch` take.",
        ),
    ] = None

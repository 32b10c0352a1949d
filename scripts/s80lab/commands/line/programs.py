# SPDX-License-Identifier: GPL-2.0-or-later
"""The command that runs any program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from s80lab.commands.line import complete
from s80lab.commands.line.declare import RARE, Arguments, Section, option
from s80lab.commands.line.options import MachineSettings, protocol_option

SECTION = Section("Programs")


@SECTION.command(
    "exec",
    "exec:exec_command",
    "s80lab exec -- ./counter 4",
    "s80lab exec --processors 16 --add input.txt --name before -- ./sort input.txt",
    settings={"allow_interspersed_args": False},
)
class Request(Arguments):
    """Run a program in the guest and count its misses exactly.

    The program and its libraries are handed over to a Linux guest on the modelled machine. What it prints appears on
    stdout and stderr, and the exit code is the program's (128 + n for signal n; 125 if s80lab fails, 126 and 127 if the
    program cannot be executed or found). The report goes to stderr.
    """

    words: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM [ARGUMENT]", help="The program, an ELF file or a script, and its arguments."),
    ]
    machine: str = option(
        "desktop-8",
        "Machine to model: a name in configs/machines, or a .toml file.",
        metavar="NAME|FILE",
        autocompletion=complete.machines,
    )
    protocol: Annotated[str | None, protocol_option("the machine's")] = None
    settings: MachineSettings = None
    processors: int | None = option(None, "Number of processors. Default: the machine's.", min=1, metavar="N")
    memory: str = option("3GiB", "Memory of the guest, from 3GiB.", metavar="SIZE", rich_help_panel=RARE)
    add: list[str] | None = option(
        None,
        "Hand over a file or a folder. Files of system folders keep their path; others are placed "
        "in /work, where the program begins. Repeatable.",
        metavar="PATH[:GUEST_PATH]",
    )
    host_packages: str | None = option(
        None,
        "Hand over the files of these Debian packages of this host, and of those that they "
        "need. An interpreter of scripts brings its package by itself.",
        "--with",
        metavar="NAME,...",
    )
    folder: str | None = option(
        None, "Folder in which the program begins. Default: /work.", "--cwd", metavar="GUEST_PATH"
    )
    variables: list[str] | None = option(
        None, "A variable of the program's environment. Repeatable.", "--env", metavar="NAME=VALUE"
    )
    run_as: str | None = option(
        None, "UID, UID:GID, root, user or nobody. Default: root.", metavar="USER", rich_help_panel=RARE
    )
    stdin: Path | None = option(
        None, "The program's standard input. Default: a redirected stdin, read to its end.", metavar="FILE"
    )
    timeout: float | None = option(None, "End the run after this time of the host.", min=0, metavar="SECONDS")
    simulated_timeout: float | None = option(
        None, "End the program after this simulated time.", min=0, metavar="SECONDS"
    )
    begin: str | None = option(
        None,
        "The measured region begins when this function of the program or of its library FILE is entered.",
        "--from",
        metavar="[FILE:]FUNCTION",
    )
    end: str | None = option(
        None, "The measured region ends when this function is entered.", "--to", metavar="[FILE:]FUNCTION"
    )
    per: str | None = option(None, "Divide the counts by the calls of this function.", metavar="[FILE:]FUNCTION")
    markers: bool = option(
        False, "The program's own markers (s80lab.h) begin and end the measured region.", "--markers"
    )
    misses: bool = option(
        True, "Name the code and data of misses. Without it the run is faster.", "--misses/--no-misses"
    )
    heap: bool = option(True, "Name objects of malloc and new by the line that made them.", "--heap/--no-heap")
    warmup: int = option(0, "Execute the program N times before the measured run.", min=0, max=1000, metavar="N")
    setup: str | None = option(
        None, "A command of the guest's shell before the measured run, not measured.", metavar="COMMAND"
    )
    background: str | None = option(
        None, "A command of the guest's shell, such as a server, that runs beside the program.", metavar="COMMAND"
    )
    ready: str | None = option(
        None, "With --background: the port or file that shows that it is ready.", metavar="PORT|PATH"
    )
    rootfs: Path | None = option(
        None,
        "The guest's root, for example of `docker export`; the program is one of its files. The guest unpacks "
        "an archive into its memory.",
        metavar="FOLDER|TAR",
    )
    packages: str | None = option(
        None, "The guest's root: these packages of Debian 12 and what they need.", "--package", metavar="NAME,..."
    )
    get: list[str] | None = option(
        None, "Bring a file or folder of the guest back. Repeatable.", metavar="GUEST_PATH[:PATH]", rich_help_panel=RARE
    )
    order: Literal["default", "reference"] = option(
        "default",
        "The order of accesses by different processors: `reference` changes the processor every ten "
        "instructions and filters no access, which takes many times as long.",
        rich_help_panel=RARE,
    )
    seeds: str | None = option(
        None,
        "Seeds of address layouts and of the kernel's random numbers: a run for each. Default: 1.",
        metavar="N,N...",
    )
    boots: str | None = option(
        None,
        "Numbers of the guest's boots: a run for each. The report then has 95% intervals. Default: 1.",
        metavar="N,N...",
    )
    name: str = option("last", "Name of the run, which a later run of this name replaces.", metavar="NAME")
    as_json: Path | None = option(None, "Write the report as JSON, too.", "--json", metavar="FILE")
    page: Path | None = option(None, "Write the report as a page with figures, too.", "--html", metavar="FILE")
    report: Path | None = option(None, "Write the report to this file instead of to stderr.", metavar="FILE")
    save: Path | None = option(
        None,
        "Write the command as an experiment, too, which `s80lab run`, `sweep`, `compare`, `capture`, "
        "`estimate`, `report` and `batch` take.",
        metavar="FILE.toml",
    )

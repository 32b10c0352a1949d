# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that divide work among hosts and collect its results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from s80lab.commands.line.declare import Section

SECTION = Section("Clusters")


@SECTION.command(
    "batch",
    "batch:batch_command",
    "s80lab batch --slurm --minutes 60 run imapb imape > job.sh",
    "s80lab batch --slurm explore imapb --vary l2.size=1MiB..16MiB > job.sh",
    settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
)
@dataclass(frozen=True)
class BatchArguments:
    """Print a job script that splits a run or an exploration.

    If tasks are killed, submit the script again: complete runs are kept.
    """

    words: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND",
            help="The command to split: `run ...` or `explore ...` with its options, as you would write it without "
            "`batch`.",
            autocompletion=lambda: ["run", "explore"],
        ),
    ]
    slurm: Annotated[
        bool,
        typer.Option(
            "--slurm",
            help="Write the script for Slurm, as a job array. Required: Slurm is the only supported batch system.",
        ),
    ] = False
    tasks: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            metavar="N",
            help="Number of tasks of the job array. Default: so many that one task takes about 20 minutes.",
        ),
    ] = None
    cpus: Annotated[
        int, typer.Option(min=1, metavar="N", help="Cores per task. Each core runs one guest or one replay at a time.")
    ] = 1
    minutes: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Time limit of a task in minutes. Default: twice the estimated time, at least 10 minutes.",
        ),
    ] = None
    memory: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Memory of a task in MiB. Default: an estimate from its guests or replays."
        ),
    ] = None
    stage: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Folder on the local disk of each node, e.g. '$TMPDIR'. Tasks copy checkpoints and captures there "
            "and read the copies.",
        ),
    ] = None
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="OPTION",
            help="Option of sbatch to add to the script, e.g. --option=--partition=short. May be repeated.",
        ),
    ] = None


@SECTION.command("collect", "collect:collect_command", "s80lab collect", "s80lab collect /mnt/host2/results")
@dataclass(frozen=True)
class CollectArguments:
    """Enter the runs of this lab and other hosts into the database.

    The complete runs of other hosts are copied into this lab.
    """

    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR",
            help="Folders to collect from: run folders, folders that contain run folders, or results folders of "
            "other labs. Default: only this lab's own runs.",
        ),
    ] = None
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="First show the progress of the shards of an exploration, until each replay is complete or has "
            "failed. The exit code is 1 if a replay failed.",
        ),
    ] = False
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --watch: plan file of the exploration (`s80lab explore --plan`). Default: the plan that "
            "`s80lab batch` wrote last.",
        ),
    ] = None

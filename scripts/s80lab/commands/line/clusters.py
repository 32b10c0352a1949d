# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that divide work among hosts and collect its results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from s80lab.commands.line.declare import Arguments, Section, argument, option

SECTION = Section("Clusters")


@SECTION.command(
    "batch",
    "batch:batch_command",
    "s80lab batch --slurm --minutes 60 run imapb imape > job.sh",
    "s80lab batch --slurm explore imapb --vary l2.size=1MiB..16MiB > job.sh",
    settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
)
class BatchArguments(Arguments):
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
    slurm: bool = option(
        False,
        "Write the script for Slurm, as a job array. Required: Slurm is the only supported batch system.",
        "--slurm",
    )
    tasks: int | None = option(
        None,
        "Number of tasks of the job array. Default: so many that one task takes about 20 minutes.",
        min=1,
        max=1000,
        metavar="N",
    )
    cpus: int = option(1, "Cores per task. Each core runs one guest or one replay at a time.", min=1, metavar="N")
    minutes: int | None = option(
        None,
        "Time limit of a task in minutes. Default: twice the estimated time, at least 10 minutes.",
        min=2,
        metavar="N",
    )
    memory: int | None = option(
        None, "Memory of a task in MiB. Default: an estimate from its guests or replays.", min=1, metavar="N"
    )
    stage: str | None = option(
        None,
        "Folder on the local disk of each node, e.g. '$TMPDIR'. Tasks copy checkpoints and captures there "
        "and read the copies.",
        metavar="DIR",
    )
    options: list[str] | None = option(
        None,
        "Option of sbatch to add to the script, e.g. --option=--partition=short. May be repeated.",
        "--option",
        metavar="OPTION",
    )


@SECTION.command("collect", "collect:collect_command", "s80lab collect", "s80lab collect /mnt/host2/results")
class CollectArguments(Arguments):
    """Enter the runs of this lab and other hosts into the database.

    The complete runs of other hosts are copied into this lab.
    """

    folders: list[Path] | None = argument(
        None,
        "Folders to collect from: run folders, folders that contain run folders, or results folders of "
        "other labs. Default: only this lab's own runs.",
        metavar="DIR",
    )
    watch: bool = option(
        False,
        "First show the progress of the shards of an exploration, until each replay is complete or has "
        "failed. The exit code is 1 if a replay failed.",
        "--watch",
    )
    plan: Path | None = option(
        None,
        "With --watch: plan file of the exploration (`s80lab explore --plan`). Default: the plan that "
        "`s80lab batch` wrote last.",
        metavar="FILE",
    )

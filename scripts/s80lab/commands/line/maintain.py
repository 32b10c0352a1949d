# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands for the set-up of a lab, and commands for maintainers of s80lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from s80lab.commands.line import complete
from s80lab.commands.line.declare import RARE, Arguments, Section, argument, option
from s80lab.commands.line.options import AsJson, Capture, Experiments, ReplayJobs, Scale, Vary

SECTION = Section("Maintenance")


@SECTION.command("doctor", "doctor:doctor_command", "s80lab doctor", "s80lab doctor --scale paper")
class DoctorArguments(Arguments):
    """Check whether this host can run the default experiments.

    The command prints a remedy for each requirement that is not met. It only looks: it fetches, builds and writes
    nothing.
    """

    scale: str = option(
        "small",
        "Scale whose needs of memory and disk are checked: a name in workloads/scales.",
        metavar="NAME",
        autocompletion=complete.scales,
    )
    as_json: AsJson = False


@SECTION.command("init", "init:init_command", "s80lab init ~/lab", "s80lab init /srv/course/lab")
class InitArguments(Arguments):
    """Create a lab folder for an installed s80lab.

    Only a package that pip installed needs this command: a checkout is a lab already. The lab holds checkpoints,
    captures, results and your own configuration files. Commands outside the lab use it if the environment variable
    S80LAB_HOME names its folder.
    """

    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder for the lab: a new or empty one, on a disk with at least 25 GB of free space."
        ),
    ]


@SECTION.command("metrics", "metrics:metrics_command", "s80lab metrics", "s80lab metrics l2_mpki")
class MetricsArguments(Arguments):
    """Print metrics with unit and meaning; named ones with formula."""

    names: list[str] | None = argument(
        None, "Names of metrics, or parts of names. Default: all metrics.", metavar="NAME"
    )
    docs: bool = option(
        False,
        "For maintainers: write all metrics as a Markdown table into docs/reference/metrics.md.",
        "--docs",
        rich_help_panel=RARE,
    )
    as_json: AsJson = False


@SECTION.command("bench", "bench:bench_command", "s80lab bench", "s80lab bench quick")
class BenchArguments(Arguments):
    """Compare the guest's speed with the model and without it.

    The command also prints the processor time of `s80lab --version`, `s80lab --help`, shell completion and
    `s80lab list`. The ready checkpoint is built if it is missing.

    Costs: three rounds with 24 G instructions in total, about 5 minutes on an otherwise idle host in addition to the
    boot of the guest, and 1 GB of disk in addition to the checkpoint.
    """

    experiment: str = argument(
        "imapb",
        "Name of the experiment whose load the guest runs.",
        metavar="EXPERIMENT",
        autocompletion=complete.experiments,
    )
    scale: Scale = None


SECTION.group("reference", "Write the pages of the results that are shipped with s80lab.")


@SECTION.command(
    "reference show", "reference:show_command", "s80lab reference show small", "s80lab reference show uw paper"
)
class ReferenceShowArguments(Arguments):
    """Write the pages of reference results, with their figures.

    The command unpacks results/reference/NAME.tar.xz into the folder build/reference/NAME of the lab, writes the pages
    next to the runs, and prints the paths of the pages. No guest runs.
    """

    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...", help="Names of reference results, for example small.", autocompletion=complete.references
        ),
    ]


@SECTION.command(
    "reference keep",
    "reference:keep_command",
    "s80lab reference keep small imapb imape",
    "s80lab reference keep paper-scale imapb imape --scale paper --seeds 1,2,3",
    hidden=True,
)
class ReferenceKeepArguments(Arguments):
    """Replace a reference result by the latest run of each seed.

    The runs become results/reference/NAME.tar.xz, and docs/background/claims.md is regenerated. All runs must be valid.
    Other files of the result are kept, and the command names them.
    """

    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Name of a reference result, for example small.", autocompletion=complete.references
        ),
    ]
    experiments: Experiments
    scale: Scale = None
    seeds: str | None = option(None, "Use only these seeds, separated by commas.", metavar="N,N...")


@SECTION.command(
    "filter-error",
    "replay:filter_error_command",
    "s80lab filter-error imapb",
    "s80lab filter-error imapb --vary protocol=moesi,mesi --out error.json",
    hidden=True,
)
class FilterErrorArguments(Arguments):
    """Measure the error of filtered captures.

    The command plays the filtered and the full capture of one run (`s80lab capture --form both`) through each design.
    Without --vary, the designs are all protocols, each with L2 sizes from 512 KiB to 16 MiB. A file that has a table of
    the same capture keeps its rows of other designs.
    """

    capture: Capture
    vary: Vary = None
    out: Path | None = option(
        None,
        "JSON file to write, with one entry per design; a Markdown file of the same name is written "
        "next to it. Default: results/reference/filter-error.json.",
        metavar="FILE",
    )
    jobs: ReplayJobs = 0
    as_json: AsJson = False

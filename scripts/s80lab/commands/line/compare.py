# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that compare results with publications, with gem5, and with closed-form models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from s80lab.commands.line import complete
from s80lab.commands.line.declare import Section
from s80lab.commands.line.options import AsJson, Experiment, Gem5, Jobs, Machine, MachineSettings, Scale, Seeds
from s80lab.commands.line.traces import Count, First, TraceMachine

SECTION = Section("Compare")


@SECTION.command(
    "reproduce", "reproduce:reproduce_command", "s80lab reproduce figure8", "s80lab reproduce paper --measured"
)
def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIGURE",
            help="Names of figures in configs/reproduce.toml, e.g. figure8, or groups of figures: paper, studies, "
            "throughput. Default: all figures.",
        ),
    ] = None,
    scale: Scale = None,
    seeds: Seeds = None,
    jobs: Jobs = 0,
    measured: Annotated[
        bool,
        typer.Option(
            "--measured",
            help="Start no run: use the latest existing run of each seed, including runs that `s80lab collect` "
            "entered.",
        ),
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Also copy the page and its figures to results/reference/paper.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce published figures and tables on one page.

    The page shows figures of the paper (Koka and Lipasti) and tables of other studies next to the published numbers.
    Runs that do not exist yet are made first. After an interruption, repeat the command to continue.
    """


@SECTION.command("claims", "claims:claims_command", "s80lab claims", "s80lab claims imapb --scale tiny")
def claims(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXPERIMENT",
            help="Names of experiments (files in configs/experiments, without .toml). Default: imapb and imape.",
            autocompletion=complete.experiments,
        ),
    ] = None,
    scale: Scale = None,
    as_json: AsJson = False,
    reference: Annotated[
        bool,
        typer.Option(
            "--reference",
            help="For maintainers: use the runs in results/reference instead, and write the comparison to "
            "docs/background/claims.md.",
        ),
    ] = False,
) -> None:
    """Compare every claim of the paper with the runs.

    The command uses the latest run of each seed. It prints a verdict with its reason for each claim of the paper (Koka
    and Lipasti).
    """


@SECTION.command(
    "knockout", "knockout:knockout_command", "s80lab knockout imapb", "s80lab knockout imapb --seeds 1,2 --keep"
)
def knockout(
    experiment: Experiment,
    machine: Machine = None,
    scale: Scale = None,
    seeds: Seeds = None,
    keep: Annotated[
        bool, typer.Option(help="Keep the checkpoints of all variants (a few GB each). Default: remove them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure what each change to the guest contributes (ablation).

    The variants are: one without any change, one per change alone, and one with all changes.
    """


@SECTION.command(
    "compare", "compare:compare_command", "s80lab compare imapb", "s80lab compare imapb --seeds 1,2,3 --replay 0"
)
def compare(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help="Name of an experiment of which runs in gem5 exist.",
            autocompletion=complete.experiments,
        ),
    ],
    machine: Annotated[
        str,
        typer.Option(
            "--machine",
            metavar="NAME",
            help="Machine that gem5 and the model both simulate: a name in configs/machines.",
            autocompletion=complete.machines,
        ),
    ] = "s80-sixteenth",
    seeds: Annotated[
        str,
        typer.Option(metavar="N,N...", help="Seeds for which the model replays a capture, separated by commas."),
    ] = "1,2,3",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override a value of the machine file for the model but not for gem5, to test what causes a "
            "difference. May be repeated.",
        ),
    ] = None,
    through: Annotated[
        int,
        typer.Option(
            "--replay",
            min=0,
            metavar="N",
            help="Number of accesses of the model's capture that are also played through gem5's Ruby, if gem5 is "
            "found.",
        ),
    ] = 1_000_000,
    gem5: Gem5 = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs of gem5 with the model on the same load.

    The tables show each sampling interval since the caches were empty. The command reads existing runs of gem5 and
    works without gem5.

    If gem5 is found, the command also plays equal accesses through gem5's Ruby and through the model, to show which
    differences Ruby itself causes.
    """


@SECTION.command(
    "agree",
    "trace:agree_command",
    "s80lab agree docs/traces/migratory.trace",
    "s80lab agree docs/traces/migratory.trace --spacing close --gem5 build/gem5.fast",
)
def agree(
    file: Annotated[
        Path, typer.Argument(metavar="TRACE", help="A text trace, a totally ordered trace or a full capture.")
    ],
    machine: TraceMachine = None,
    settings: MachineSettings = None,
    first: First = 0,
    count: Count = None,
    spacing: Annotated[
        Literal["spaced", "close"],
        typer.Option(
            help="Times of the accesses. spaced: so far apart that only one access is in progress at a time; "
            "close: the model's simulated time."
        ),
    ] = "spaced",
    gem5: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Path of a gem5 24.0.0.1 binary built with MOESI_hammer. Default: $GEM5, else gem5.fast on PATH.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for the traces and outputs of both simulators. Default: results/agreement/NAME."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play a trace through gem5's Ruby and the model, compare counts.

    Ruby runs the protocol MOESI_hammer, the model runs the protocol hammer.
    """


SECTION.group("model", "Evaluate closed-form performance models.")


@SECTION.command("model latency", "model:latency", "s80lab model latency", "s80lab model latency --bi 3200 --be 1000")
def latency(
    bi: Annotated[
        float | None,
        typer.Option(metavar="MB/S", help="Memory bus bandwidth of a machine that is added to the table."),
    ] = None,
    be: Annotated[
        float | None,
        typer.Option(
            metavar="MB/S", help="Bandwidth of the bus to the network adapter. Default: the value of the study."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Calculate the peak throughput of a server.

    The input is the number of times that the server moves each byte (latency model of the KFUPM study of 2003).
    """

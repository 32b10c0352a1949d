# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that compare results with publications, with the unchanged guest, with formulas and with gem5."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from s80lab.commands.line import complete
from s80lab.commands.line.declare import RARE, Arguments, Section, argument, option
from s80lab.commands.line.explore import Form
from s80lab.commands.line.options import (
    AsJson,
    Boots,
    Experiment,
    Gem5,
    Image,
    Jobs,
    List,
    Machine,
    MachineSettings,
    Protocol,
    Scale,
    Seeds,
    Server,
    Settings,
    Shard,
    TraceMachine,
)
from s80lab.commands.line.traces import Count, First

SECTION = Section("Compare")
GEM5 = Section("Compare with gem5 (you build gem5)")


@SECTION.command(
    "compare",
    "compare:compare_command",
    "s80lab compare imapb --protocol mesi --set l2.size=2MiB",
    's80lab compare imapb "imapb --set l2.size=2MiB" --run --boots 1,2,3,4,5',
)
class CompareArguments(Arguments):
    """Compare two designs, with intervals and verdicts.

    For each row of the headline the command prints both values, the difference with its 95% interval, the ratio, and
    a verdict: higher, lower, or no difference shown. It also prints how many more boots would show a difference.

    Independent replications are boots (`s80lab run --boots`). Runs of several seeds from one boot count as one
    observation. If runs on both sides have a log of misses (--misses), the table of functions shows where misses
    changed.

    Costs: seconds for existing runs. With --run, each run costs as much as with `s80lab run`, and each boot 2 minutes
    and 2 GB of disk at scale small.
    """

    first: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help='First side: an experiment, an experiment with options in quotation marks ("imapb --protocol mesi"), '
            "or runs, separated by commas. With --replay: a capture, or captures separated by commas. Or a name of "
            "`s80lab exec --name`.",
            autocompletion=complete.experiments,
        ),
    ]
    second: str | None = argument(
        None,
        "Second side, like the first. Default: the first side, changed by --machine, --protocol, --server, "
        "--image and --set.",
        metavar="B",
        autocompletion=complete.experiments,
    )
    machine: Machine = None
    protocol: Protocol = None
    server: Server = None
    image: Image = None
    settings: Settings = None
    scale: Scale = None
    seeds: str | None = option(
        None,
        "Seeds of the runs, or with --replay of the captures, on both sides. Default: all seeds that have "
        "runs; with --run: 1.",
        metavar="N,N...",
        autocompletion=complete.seeds,
    )
    boots: str | None = option(
        None,
        "Numbers of the boots of the runs on both sides. Default: all boots that have runs; with --run: 1,2,3.",
        metavar="N,N...",
    )
    replays: bool = option(
        False,
        "Compare replays of captures instead of live runs: both designs play the same accesses. Missing "
        "replays are made.",
        "--replay",
    )
    form: Form = None
    run: bool = option(False, "Make the missing runs of experiments first.", "--run")
    misses: bool = option(False, "With --run: log every L2 miss, so that functions are compared.", "--misses")
    jobs: Jobs = 0
    fail_if: list[str] | None = option(
        None,
        "For names of `s80lab exec`: exit with 1 if the change from A to B is beyond this limit, for "
        "example 'transfers > +5%'. Repeatable.",
        metavar="CONDITION",
    )
    as_json: AsJson = False


@SECTION.command(
    "sweep",
    "sweep:sweep_command",
    "s80lab sweep imapb --vary protocol=moesi,mesi --vary l2.size=2MiB,8MiB",
    "s80lab sweep imapb --vary l2.ways=2..8 --boots 1,2,3,4,5 --list",
)
class SweepArguments(Arguments):
    """Run the designs of a grid, and compare each with the first.

    The runs are live: the clients react to the timing of each design. `s80lab explore` plays recorded accesses through
    a grid in much less time. After an interruption, repeat the command to continue.

    Costs: --list shows the number of runs and their time. At scale small, each run takes about 5 minutes of a core, and
    each boot 2 minutes and 2 GB of disk. Designs with other caches and protocols share the boots.
    """

    experiment: Experiment
    vary: list[str] | None = option(
        None,
        "Parameter that varies over the designs. KEY: protocol, machine, server, image, or a key of --set. "
        "VALUES: a list with commas; a..b stands for a, 2a, 4a, ... b. May be repeated: the grid has every "
        "combination, and its first design is the one that others are compared with.",
        "--vary",
        metavar="KEY=VALUES",
        autocompletion=complete.axes,
    )
    settings: Settings = None
    scale: Scale = None
    seeds: str | None = option(
        None, "Seeds of each boot, separated by commas. Default: 1.", metavar="N,N...", autocompletion=complete.seeds
    )
    boots: str | None = option(None, "Numbers of the boots of each design. Default: 1,2,3.", metavar="N,N...")
    misses: bool = option(False, "Log every L2 miss, so that functions are compared.", "--misses")
    jobs: Jobs = 0
    shard: Shard = None
    listed: List = False
    as_json: AsJson = False


@SECTION.command(
    "reproduce", "reproduce:reproduce_command", "s80lab reproduce --list", "s80lab reproduce figure8 figure9 --measured"
)
class ReproduceArguments(Arguments):
    """Reproduce published figures and tables on one page.

    The page shows figures of the paper (Koka and Lipasti) and tables of other studies next to the published numbers.
    Runs that do not exist yet are made first. After an interruption, repeat the command to continue.

    Costs: the figures of the paper take 152 minutes on 2 cores after `make run`, and 25 GB of disk. --list shows the
    minutes of each figure.
    """

    figures: list[str] | None = argument(
        None,
        "Names of figures in configs/reproduce.toml, e.g. figure8, or groups of figures: paper, studies, "
        "throughput. Default: all figures.",
        metavar="FIGURE",
        autocompletion=complete.figures,
    )
    scale: Scale = None
    seeds: Seeds = None
    jobs: Jobs = 0
    listed: bool = option(False, "List the figures with their minutes and titles, and make none of them.", "--list")
    measured: bool = option(
        False,
        "Start no run: use the latest existing run of each seed, including runs that `s80lab collect` entered.",
        "--measured",
    )
    keep: bool = option(
        False,
        "For maintainers: also keep the page and its figures in results/reference/paper.tar.xz.",
        "--keep",
        rich_help_panel=RARE,
    )
    as_json: AsJson = False


@SECTION.command("claims", "claims:claims_command", "s80lab claims", "s80lab claims imapb imape")
class ClaimsArguments(Arguments):
    """Judge every claim of the paper by existing runs.

    The command uses the latest run of each seed. It prints a verdict with its reason for each claim of the paper (Koka
    and Lipasti).
    """

    experiments: list[str] | None = argument(
        None,
        "Names of experiments (files in configs/experiments, without .toml). Default: imapb and imape.",
        metavar="EXPERIMENT",
        autocompletion=complete.experiments,
    )
    scale: Scale = None
    as_json: AsJson = False
    reference: bool = option(
        False,
        "For maintainers: use the runs in results/reference instead, and write the comparison to "
        "docs/background/claims.md.",
        "--reference",
        rich_help_panel=RARE,
    )


@SECTION.command(
    "knockout",
    "knockout:knockout_command",
    "s80lab knockout imapb --list",
    "s80lab knockout imapb --seeds 1 --boots 1,2,3",
)
class KnockoutArguments(Arguments):
    """Measure what each change to the guest contributes.

    There are three changes, and five variants of the guest: one without any change, one per change alone, and one with
    all changes. --list describes the changes. Each variant has boots of its own, so compare variants over several boots
    (--boots).

    Costs: five times those of `s80lab run` for the experiment, because each variant boots. imapb at scale small with
    three seeds takes about an hour on 2 cores, and 20 GB of disk.
    """

    experiment: Experiment
    machine: Machine = None
    scale: Scale = None
    seeds: Seeds = None
    boots: Boots = None
    keep: bool = option(False, "Keep the checkpoints of all variants (a few GB each). Default: remove them.")
    listed: bool = option(False, "List the changes to the guest, and measure nothing.", "--list")
    as_json: AsJson = False


GEM5.group("gem5", "Check your gem5, and compare whole runs of gem5 with the model.")


@GEM5.command("gem5 check", "gem5:check_command", "s80lab gem5 check", "s80lab gem5 check --gem5 ~/gem5.fast")
class Gem5CheckArguments(Arguments):
    """Certify or refuse the protocol MOESI_hammer of your gem5.

    gem5 plays short traces, and its counts must equal the model's in every category. The table shows the transitions
    that the traces reach. The exit code is 1 if the protocol is refused.

    The verdict is stored by the content of the binary. Other commands that use gem5 ask for the verdict, and run the
    check if there is none.

    Costs: less than a minute.
    """

    gem5: Path | None = option(None, "Path of the gem5 binary. Default: $GEM5, else gem5.fast on PATH.", metavar="FILE")
    again: bool = option(False, "Play the traces even if the verdict on this binary is stored.", "--again")
    as_json: AsJson = False


@GEM5.command(
    "gem5 compare",
    "gem5:compare_command",
    "s80lab gem5 compare imapb",
    "s80lab gem5 compare imapb --seeds 1,2,3 --replay 0",
)
class Gem5CompareArguments(Arguments):
    """Compare whole runs of gem5 with the model on the same load.

    You need runs of gem5: `s80lab run EXPERIMENT --engine gem5 --machine s80-sixteenth` makes them with your own gem5
    (docs/guides/gem5.md). The tables show each sampling interval since the caches were empty
    (docs/background/engines.md).

    If gem5 is found, the command also plays equal accesses through gem5's Ruby and through the model, to show which
    differences Ruby itself causes.
    """

    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help="Name of an experiment of which runs in gem5 exist.",
            autocompletion=complete.experiments,
        ),
    ]
    machine: str = option(
        "s80-sixteenth",
        "Machine that gem5 and the model both simulate: a name in configs/machines.",
        "--machine",
        metavar="NAME",
        autocompletion=complete.machines,
    )
    seeds: str = option("1,2,3", "Seeds for which the model replays a capture, separated by commas.", metavar="N,N...")
    settings: list[str] | None = option(
        None,
        "Override a value of the machine file for the model but not for gem5, to test what causes a "
        "difference. May be repeated.",
        "--set",
        metavar="KEY=VALUE",
    )
    through: int = option(
        1_000_000,
        "Number of accesses of the model's capture that are also played through gem5's Ruby, if gem5 is found.",
        "--replay",
        min=0,
        metavar="N",
    )
    gem5: Gem5 = None
    as_json: AsJson = False


@GEM5.command(
    "agree",
    "trace:agree_command",
    "s80lab agree docs/traces/migratory.trace",
    "s80lab agree docs/traces/migratory.trace --spacing close --gem5 ~/gem5.fast",
)
class AgreeArguments(Arguments):
    """Play one trace through gem5's Ruby and through the model.

    The command compares the counts of both. You need your own gem5 (docs/guides/gem5.md). Ruby runs MOESI_hammer, with
    a probe filter if the machine has a [directory], or MESI_Three_Level. The model runs the table of the same protocol.
    """

    file: Annotated[
        Path, typer.Argument(metavar="TRACE", help="A text trace, a totally ordered trace or a full capture.")
    ]
    machine: TraceMachine = None
    protocol: Literal["hammer", "mesi-llc"] = option(
        "hammer", "hammer: gem5's MOESI_hammer; mesi-llc: gem5's MESI_Three_Level, on a machine with an [llc]."
    )
    settings: MachineSettings = None
    first: First = 0
    count: Count = None
    spacing: Literal["spaced", "close"] = option(
        "spaced",
        "Times of the accesses. spaced: so far apart that only one access is in progress at a time; "
        "close: the model's simulated time.",
    )
    warm: bool = option(
        False,
        "Begin with warm caches on both sides: the model plays the accesses before --first, and its caches "
        "are loaded into Ruby.",
        "--warm",
    )
    gem5: Path | None = option(
        None, "Path of a gem5 binary that has the protocol. Default: $GEM5, else gem5.fast on PATH.", metavar="FILE"
    )
    out: Path | None = option(
        None, "Folder for the traces and outputs of both simulators. Default: results/agreement/NAME.", metavar="DIR"
    )
    as_json: AsJson = False


SECTION.group("model", "Calculate throughput by a formula, without simulation.")


@SECTION.command("model latency", "model:latency", "s80lab model latency", "s80lab model latency --bi 3200 --be 1000")
class LatencyArguments(Arguments):
    """Calculate the peak throughput of a server.

    The formula is that of a study of high-throughput servers (KFUPM, 2003). Its input is the number of times that the
    server moves each byte, and the bandwidths of two buses.
    """

    bi: float | None = option(
        None, "Memory bus bandwidth, in MB/s, of a machine that is added to the table.", metavar="MB/s"
    )
    be: float | None = option(
        None, "Bandwidth of the bus to the network adapter, in MB/s. Default: the value of the study.", metavar="MB/s"
    )
    as_json: AsJson = False

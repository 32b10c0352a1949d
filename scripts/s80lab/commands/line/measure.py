# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that measure workloads and show results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from s80lab.commands.line import complete
from s80lab.commands.line.declare import RARE, Arguments, Section, argument, option
from s80lab.commands.line.options import (
    Again,
    AllTables,
    AsJson,
    Boots,
    Engine,
    Experiments,
    Gem5,
    Image,
    Jobs,
    List,
    Machine,
    MissSort,
    Protocol,
    ReportSection,
    Run,
    Scale,
    Seeds,
    Server,
    Settings,
    Shard,
    machine_settings_option,
)

SECTION = Section("Measure")


@SECTION.command(
    "run",
    "run:run_command",
    "s80lab run imapb imape",
    "s80lab run imapb --protocol mesi --set l2.size=2MiB --seeds 1,2",
)
class RunArguments(Arguments):
    """Run experiments and print a summary.

    Missing checkpoints are built first. Each seed and boot that has no complete run yet is measured. After an
    interruption, repeat the command to continue.

    Costs: imapb and imape at scale small, on three boots each, take 10 to 25 minutes on 2 cores and 15 GB of disk
    (8 GB with --drop-warm). One seed of both at scale paper takes 35 to 46 minutes and 40 GB. The
    experiment quick takes three minutes from a built image.
    """

    experiments: Experiments
    machine: Machine = None
    protocol: Protocol = None
    server: Server = None
    image: Image = None
    scale: Scale = None
    seeds: Seeds = None
    boots: Boots = None
    settings: Settings = None
    jobs: Jobs = 0
    again: Again = False
    until: str | None = option(
        None,
        "Add seeds until the 95% confidence interval of each share named by --of is at most ± this "
        "many percentage points, for example 2%.",
        metavar="PERCENT",
        rich_help_panel=RARE,
    )
    shares: str = option(
        "memory,e",
        "Shares to which --until applies, separated by commas. memory, M, O, E, S: L2 misses serviced "
        "by memory or by a cache in that state; e: fills in E; e-to-m: silent E-to-M upgrades per E "
        "fill; upgrades-saved: upgrades avoided by E; kernel: busy cycles in the kernel.",
        "--of",
        metavar="SHARE,...",
        rich_help_panel=RARE,
        autocompletion=complete.shares,
    )
    max_seeds: int = option(
        12, "With --until: the largest number of seeds per experiment.", min=2, metavar="N", rich_help_panel=RARE
    )
    drop_warm: bool = option(
        False, "Remove the warm checkpoint of each run when the run is complete, to save disk space.", "--drop-warm"
    )
    misses: bool = option(
        False,
        "Log every L2 miss with its function and data structure. The run is slower. `s80lab misses RUN` shows the log.",
        "--misses",
    )
    profile: bool = option(
        False, "Sample which functions the guest executes. `s80lab profile RUN` shows the samples.", "--profile"
    )
    engine: Engine = "qemu"
    gem5: Gem5 = None
    shard: Shard = None
    listed: List = False
    everything: AllTables = False
    section: ReportSection = None
    as_json: AsJson = False


@SECTION.command(
    "estimate",
    "estimate:estimate_command",
    "s80lab estimate imapb imape",
    "s80lab estimate imapb --vary protocol=moesi,mesi --boots 1,2,3,4",
)
class EstimateArguments(Arguments):
    """Estimate instructions, time and disk space of runs.

    The estimate counts the runs and checkpoints that are missing. Lengths and speed come from former runs of this lab,
    else from the experiment's phases and the documented speed. `s80lab run` and `s80lab sweep` print the same lines
    before they start. A missing image is not built.
    """

    experiments: Experiments
    vary: list[str] | None = option(
        None,
        "Estimate the runs of `s80lab sweep` with this option instead of those of `s80lab run`. May be repeated.",
        "--vary",
        metavar="KEY=VALUES",
        autocompletion=complete.axes,
    )
    machine: Machine = None
    protocol: Protocol = None
    scale: Scale = None
    seeds: Seeds = None
    boots: Boots = None
    settings: Settings = None
    jobs: Jobs = 0
    as_json: AsJson = False


NewName = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="Name in the lab's folder of such files, or path of a .toml file.")
]


def _from(default: str, kind: str, found: Callable[[], list[str]]) -> Any:
    """The option --from."""
    return typer.Option(
        "--from", metavar="NAME", help=f"The {kind} to start from. Default: {default}.", autocompletion=found
    )


@SECTION.command("check", "check:check_command", "s80lab check mine.toml", "s80lab check mine.toml --json")
class CheckArguments(Arguments):
    """Print all problems of configuration files.

    The place of a file, or its keys, tell what it is. Each problem is one sentence, with the line if the problem has
    one. The exit code is 1 if a file has a problem.
    """

    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Files of machines, experiments, protocols, workloads, scales or servers."),
    ]
    as_json: AsJson = False


SECTION.group("machine", "Create and show machine files.")


@SECTION.command(
    "machine new",
    "new_file:new_machine",
    "s80lab machine new eight --set processors.count=8",
    "s80lab machine new big --from p4-2ghz --set l2.size=1MiB",
)
class MachineNewArguments(Arguments):
    """Write a commented machine file, to start from.

    An existing file is never overwritten.
    """

    name: NewName
    source: Annotated[str, _from("s80", "machine", complete.machines)] = "s80"
    settings: Annotated[list[str] | None, machine_settings_option("Value of the new machine")] = None


@SECTION.command(
    "machine show",
    "new_file:show_machine",
    "s80lab machine show s80",
    "s80lab machine show s80 --set l2.size=1MiB",
)
class MachineShowArguments(Arguments):
    """Print all values of a machine, also those that its file leaves to the defaults.

    The output is a machine file with a comment for each key. Tables that the machine does not use are comments.
    """

    name: Annotated[
        str,
        typer.Argument(
            metavar="MACHINE",
            help="A name in configs/machines, or the path of a .toml file.",
            autocompletion=complete.machines,
        ),
    ]
    settings: Annotated[list[str] | None, machine_settings_option("Value that replaces the file's")] = None


SECTION.group("experiment", "Create experiment files.")


@SECTION.command(
    "experiment new",
    "new_file:new_experiment",
    "s80lab experiment new mine --set protocol=mesi --set scale=tiny",
    "s80lab experiment new sizes --from imape --vary l2.size=2MiB..8MiB",
)
class ExperimentNewArguments(Arguments):
    """Write a commented experiment file, to start from.

    The new experiment has another experiment as base, and overrides keys of the base. An existing file is never
    overwritten.
    """

    name: NewName
    source: Annotated[str, _from("imapb", "experiment", complete.experiments)] = "imapb"
    settings: list[str] | None = option(
        None,
        "Value of the new experiment, e.g. machine=eight, 'seeds=[1,2]' or phases.small.think_ms=200. May be repeated.",
        "--set",
        metavar="KEY=VALUE",
    )
    vary: list[str] | None = option(
        None,
        "Values of the experiment's sweep, as for `s80lab explore`. May be repeated.",
        "--vary",
        metavar="KEY=VALUES",
        autocompletion=complete.axes,
    )


SECTION.group("workload", "Create load profiles.")


@SECTION.command(
    "workload new",
    "new_file:new_workload",
    "s80lab workload new reading --set mix_percent.VIEW=52",
    "s80lab workload new slow --from web --set think_ms=500",
)
class WorkloadNewArguments(Arguments):
    """Write a copy of a load profile with other values.

    Its comments stay. An existing file is never overwritten.
    """

    name: NewName
    source: Annotated[str, _from("imapb", "workload", complete.workloads)] = "imapb"
    settings: list[str] | None = option(
        None, "Value of the new profile, e.g. think_ms=100. May be repeated.", "--set", metavar="KEY=VALUE"
    )


@SECTION.command("list", "listing:list_command", "s80lab list", "s80lab list experiments")
class ListArguments(Arguments):
    """List experiments, machines, protocols, scales, servers, runs."""

    kind: Literal["experiments", "machines", "protocols", "scales", "servers", "runs"] | None = argument(
        None,
        "Only this kind, with a description of each entry: experiments, machines, protocols, scales, servers or runs.",
        metavar="KIND",
    )
    as_json: AsJson = False


@SECTION.command(
    "report",
    "results:report_command",
    "s80lab report imapb imape",
    "s80lab report imapb --protocol mesi --set l2.size=2MiB",
)
class ReportArguments(Arguments):
    """Print a summary of existing runs and write a report page.

    Of each seed and boot, the latest run with the design in the experiment's file is used. Options such as --set and
    --protocol select the runs that were made with the same options.
    """

    experiments: Experiments
    server: Server = None
    image: Image = None
    scale: Scale = None
    seeds: str | None = option(
        None,
        "Seeds whose runs are used, separated by commas. Default: every seed that has a run.",
        metavar="N,N...",
        autocompletion=complete.seeds,
    )
    beside: str | None = option(
        None,
        "Further seeds, separated by commas, for a second estimate. The command then checks whether the "
        "confidence intervals of the seeds in --seeds contain the means of these further seeds.",
        metavar="N,N...",
        rich_help_panel=RARE,
    )
    engine: Engine = "qemu"
    machine: Machine = None
    protocol: Protocol = None
    settings: Settings = None
    everything: AllTables = False
    section: ReportSection = None
    as_json: AsJson = False


@SECTION.command(
    "query",
    "results:query_command",
    "s80lab query --tables",
    's80lab query "SELECT design, avg(e_share) FROM v_design GROUP BY design"',
)
class QueryArguments(Arguments):
    """Query the results database of the lab with SQL.

    The views `v_...` contain valid runs only, the views `v_..._all` all runs. The command warns if a mean or a sum
    pools runs of different designs.
    """

    sql: str | None = argument(
        None, "An SQL query (read-only) over the tables and views in docs/reference/database.md.", metavar="SQL"
    )
    output: Literal["table", "csv", "json", "parquet"] = option("table", "Output format of the rows.", "--format")
    out: Path | None = option(None, "File to which the rows are written. Default: stdout.", metavar="FILE")
    tables: bool = option(False, "List the tables and views with what they contain, instead of a query.", "--tables")
    as_json: AsJson = False


@SECTION.command(
    "misses",
    "misses:misses_command",
    "s80lab misses imapb-small-s1",
    "s80lab misses imapb-small-s1 --process imap --top 50",
)
class MissesArguments(Arguments):
    """Show the causes of a run's L2 misses.

    The tables attribute the misses by contended line, field, function, data structure, source of the line, and sharing
    pattern. With --top, --process or --sort, only the tables of lines are printed. The result is stored in the run's
    folder, so that the next call is fast. The run must have been made with `s80lab run --misses`.
    """

    run: Run
    top: int | None = option(None, "Number of lines. Default: 20.", min=1, max=10_000, metavar="N")
    process: str | None = option(None, "Count the requests of this process only, for example imap.", metavar="NAME")
    sort: MissSort | None = option(
        None,
        "Column by which lines are sorted, largest number first: transfers (misses serviced by another "
        "cache), misses, reads, writes, upgrades, memory, M, O, E, S, true_sharing, false_sharing or stall_cycles. "
        "Default: transfers.",
        metavar="COLUMN",
    )
    as_json: AsJson = False


@SECTION.command(
    "profile", "misses:profile_command", "s80lab profile imapb-small-s1", "s80lab profile imapb-small-s1 --json"
)
class ProfileArguments(Arguments):
    """Show which processes and functions a run executed.

    The tables come from samples: all code by process, the sessions' user code and the kernel's code by function. The
    run must have been made with `s80lab run --profile`.
    """

    run: Run
    as_json: AsJson = False

# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure caches and coherence of a simulated multiprocessor that runs a complete Linux server.

Start with `s80lab doctor`, which checks this host, and `s80lab run imapb`, which runs an experiment.

An error that you can fix is printed as one sentence on stderr, and the exit code is 2.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from s80lab.base.strict import parse_settings
from s80lab.base.version import __version__
from s80lab.capture.bench import run_bench
from s80lab.commands.batch import batch_command
from s80lab.commands.capture import capture, captures_app
from s80lab.commands.claims import claims_command
from s80lab.commands.collect import collect_command
from s80lab.commands.compare import compare_command
from s80lab.commands.doctor import doctor_command
from s80lab.commands.init import init_command
from s80lab.commands.knockout import knockout_command
from s80lab.commands.lesson import lesson_command
from s80lab.commands.metrics import metrics_command
from s80lab.commands.misses import misses_command, profile_command
from s80lab.commands.model import app as model_app
from s80lab.commands.output import AsJson, sayer, show_runs
from s80lab.commands.parts import (
    Again,
    Engine,
    Gem5,
    Image,
    Jobs,
    Machine,
    Order,
    Protocol,
    Scale,
    Server,
    Settings,
    add_store_commands,
    make_plans,
    parse_seeds,
    run_gem5,
    run_pipeline,
)
from s80lab.commands.process import sentence_of, speak_utf8
from s80lab.commands.protocol import app as protocol_app
from s80lab.commands.reference import reference_command
from s80lab.commands.replay import explore_command, filter_error_command, replay_command
from s80lab.commands.reproduce import reproduce_command
from s80lab.commands.results import list_command, query_command, report_command
from s80lab.commands.run import run_shard, run_until, tell
from s80lab.commands.shards import ListOption, ShardOption, check_shard
from s80lab.commands.trace import agree_command, trace_app
from s80lab.commands.transfer import add_transfer_commands
from s80lab.config.experiment import DEFAULT_IMAGE, DEFAULT_SERVER
from s80lab.experiment import checkpoint
from s80lab.experiment.plan import Options
from s80lab.experiment.precision import USUAL, parse_wanted
from s80lab.experiment.stages import Drop
from s80lab.image.buildroot.image import Choice
from s80lab.image.choice import make_image
from s80lab.results.inversions import sentence

app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)
image_app = typer.Typer(help="Build the guest image: kernel and initramfs.", no_args_is_help=True)
checkpoint_app = typer.Typer(
    help="Build, list, verify, move and remove checkpoints (saved guests).", no_args_is_help=True
)
app.add_typer(image_app, name="image")
app.add_typer(checkpoint_app, name="checkpoint")
app.add_typer(protocol_app, name="protocol")
app.add_typer(captures_app, name="captures")
app.add_typer(trace_app, name="trace")
app.add_typer(model_app, name="model")

Experiments = Annotated[
    list[str], typer.Argument(help="Names of experiments (files in configs/experiments, without .toml).")
]
Seeds = Annotated[
    str | None,
    typer.Option(
        help="Seeds of the load's random draws, separated by commas. Default: the seeds in the experiment's file."
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"s80lab {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    # What Typer shows as the command's own help stands in `app`.
    pass


@image_app.command("build")
def image_build(
    server: Annotated[str, typer.Option(help="Server in the image: a name in workloads/servers.")] = DEFAULT_SERVER,
    refresh: Annotated[
        bool,
        typer.Option(
            help="Rebuild even if the image is up to date, and record the versions of the Debian packages in "
            "disk-images/debian/versions."
        ),
    ] = False,
    image: Annotated[
        str | None,
        typer.Option(
            help="Name of the image: debian (from Debian packages), or buildroot or buildroot.NAME (from your own "
            "Buildroot). Default: debian; with --buildroot: buildroot."
        ),
    ] = None,
    buildroot: Annotated[
        Path | None,
        typer.Option(help="Folder with Buildroot's sources. Default: $BUILDROOT. See docs/guides/buildroot.md."),
    ] = None,
    downloads: Annotated[
        Path | None,
        typer.Option(
            help="Folder with all source archives that Buildroot needs. With this option, Buildroot downloads nothing."
        ),
    ] = None,
    fragment: Annotated[
        list[Path] | None,
        typer.Option(
            help="File with Buildroot options that replace options of the image's configuration. May be "
            "repeated: later files replace options of earlier ones."
        ),
    ] = None,
) -> None:
    """Build the guest image (kernel and initramfs) with a server, unless an up-to-date image exists."""
    name = image or ("buildroot" if buildroot else DEFAULT_IMAGE)
    make_image(name, server, Choice(buildroot, downloads, tuple(fragment or ())), refresh=refresh, progress=print)


@checkpoint_app.command("build")
def checkpoint_build(
    experiments: Experiments,
    stage: Annotated[
        Literal["ready", "warm"],
        typer.Option(
            help="Last checkpoint to build. ready: the guest has booted and its clients are logged in; warm: the load "
            "is in steady state (this includes ready)."
        ),
    ] = "warm",
    machine: Machine = None,
    protocol: Protocol = None,
    server: Server = None,
    image: Image = None,
    scale: Scale = None,
    seeds: Seeds = None,
    settings: Settings = None,
    jobs: Jobs = 0,
    engine: Engine = "qemu",
    gem5: Gem5 = None,
) -> None:
    """Build those checkpoints of the experiments that do not exist yet."""
    chosen = parse_settings(settings or [])
    options = Options(machine, protocol, scale, parse_seeds(seeds), chosen, server=server, image=image)
    if engine == "gem5":
        run_gem5(experiments, options, gem5, jobs, False, stage)
    else:
        run_pipeline(make_plans(experiments, options), jobs, False, stage)


def _describe(manifest: checkpoint.Manifest) -> str:
    engine = "gem5, " if manifest.engine == "gem5" else ""
    return engine + (f"{manifest.warmup.verdict}, " if manifest.warmup else "")


add_store_commands(checkpoint_app, checkpoint.STORE, "checkpoint", _describe)
add_transfer_commands(checkpoint_app, checkpoint.STORE, "checkpoint")


@app.command()
def run(
    experiments: Experiments,
    machine: Machine = None,
    protocol: Protocol = None,
    server: Server = None,
    image: Image = None,
    scale: Scale = None,
    seeds: Seeds = None,
    settings: Settings = None,
    jobs: Jobs = 0,
    again: Again = False,
    until: Annotated[
        str | None,
        typer.Option(
            help="Add seeds until the 95% confidence interval of each share named by --of is at most ± this "
            "many percentage points, for example 2%."
        ),
    ] = None,
    of: Annotated[
        str,
        typer.Option(
            help="Shares to which --until applies, separated by commas. memory, M, O, E, S: L2 misses serviced "
            "by memory or by a cache in that state; e: fills in E; e-to-m: silent E-to-M upgrades per E "
            "fill; upgrades-saved: upgrades avoided by E; kernel: busy cycles in the kernel."
        ),
    ] = USUAL,
    max_seeds: Annotated[
        int, typer.Option(min=2, help="With --until: the largest number of seeds per experiment.")
    ] = 12,
    drop_warm: Annotated[
        bool,
        typer.Option(
            "--drop-warm", help="Remove the warm checkpoint of each run when the run is complete, to save disk space."
        ),
    ] = False,
    order: Order = False,
    misses: Annotated[
        bool,
        typer.Option(
            "--misses",
            help="Log every L2 miss with its function and data structure. The run is slower. `s80lab misses RUN` "
            "shows the log.",
        ),
    ] = False,
    profile: Annotated[
        bool,
        typer.Option(
            "--profile", help="Sample which functions the guest executes. `s80lab profile RUN` shows the samples."
        ),
    ] = False,
    engine: Engine = "qemu",
    gem5: Gem5 = None,
    shard: ShardOption = None,
    listed: ListOption = False,
    as_json: AsJson = False,
) -> None:
    """Run experiments: build missing checkpoints, measure each seed that has no complete run yet, and print the
    tables."""
    chosen = parse_settings(settings or [])
    options = Options(machine, protocol, scale, parse_seeds(seeds), chosen, order, misses, profile, server, image)
    drop: Drop = "warm" if drop_warm else "nothing"
    if shard or listed:
        check_shard(shard, {"--until": until, "--engine gem5": engine == "gem5"})
        run_shard(make_plans(experiments, options), shard, listed, jobs, again, drop, as_json)
        return
    if engine == "gem5":
        show_runs(list(run_gem5(experiments, options, gem5, jobs, again, "run")), as_json)
        return
    say = sayer(as_json)
    wanted = parse_wanted(until, of, max_seeds) if until else None
    plans = make_plans(experiments, options)
    if wanted:
        folders = run_until(plans, options, wanted, jobs, again, drop, say)
    else:
        folders = run_pipeline(plans, jobs, again, "run", drop)
    show_runs(folders, as_json)
    if wanted:
        tell(folders, wanted, say)
    for folder in folders if order else ():
        say(f"{folder.name}: {sentence(folder)}")


@app.command("bench")
def bench_command(
    experiment: Annotated[str, typer.Argument(help="Name of the experiment whose load the guest runs.")] = "imapb",
    scale: Scale = None,
) -> None:
    """Compare the guest's speed with the model and without it. The ready checkpoint is built if it is missing."""
    plans = make_plans([experiment], Options(scale=scale))
    run_pipeline(plans, 1, False, "ready")
    ready = checkpoint.find(plans[0].ready_name, plans[0].ready_key)
    assert ready is not None
    run_bench(plans[0], ready, print)


app.command()(capture)
app.command("batch", context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True})(batch_command)
app.command("doctor")(doctor_command)
app.command("list")(list_command)
app.command("query")(query_command)
app.command("report")(report_command)
app.command("init")(init_command)
app.command("knockout")(knockout_command)
app.command("lesson")(lesson_command)
app.command("reference")(reference_command)
app.command("reproduce")(reproduce_command)
app.command("replay")(replay_command)
app.command("agree")(agree_command)
app.command("claims")(claims_command)
app.command("collect")(collect_command)
app.command("compare")(compare_command)
app.command("explore")(explore_command)
app.command("metrics")(metrics_command)
app.command("misses")(misses_command)
app.command("profile")(profile_command)
app.command("filter-error")(filter_error_command)


def main() -> None:
    """Run the command line. SIGTERM, which batch systems send, has the effect of Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    speak_utf8()
    try:
        app()
    except BaseException as error:
        messages = {told: None for leaf in leaves(error) if (told := sentence_of(leaf))}
        if not messages:
            raise
        for message in messages:
            print(f"s80lab: {message}", file=sys.stderr)
        sys.exit(2)


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The single errors in an exception group, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from leaves(part)
    else:
        yield error


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab misses RUN` and `s80lab profile RUN`: attributed misses and profile of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.suggest import suggestion
from s80lab.base.terminal import say
from s80lab.commands.line.measure import MissesArguments, ProfileArguments
from s80lab.commands.measured import only_run, runs_named
from s80lab.commands.output import print_json, sayer, wide_console
from s80lab.config.differences import NAMES, differences
from s80lab.report.misses.lines import TOP, Selection, check_process, line_tables, lines_record
from s80lab.report.misses.page import write_misses
from s80lab.report.profile import write_profile
from s80lab.report.record import tables_record
from s80lab.report.tables import Table
from s80lab.report.terminal import print_table
from s80lab.results.products import check_logs
from s80lab.results.run_folder import (
    MEMORY_MAP,
    MISS_LOG,
    MISS_PAGE,
    MISS_STACKS,
    MISS_STORE,
    PROFILE,
    PROFILE_PAGE,
    PROFILE_STACKS,
    STALL_STACKS,
    RunFolder,
)


def misses_command(args: MissesArguments) -> None:
    """Show the attributed L2 misses of a run: contended lines with fields and functions, data, sources, patterns."""
    folder = find_run(args.run, MISS_LOG, "--misses")
    found = write_misses(folder)
    _tell_guard(folder, MISS_LOG, MEMORY_MAP)
    check_process(found.store, args.process)
    selection = Selection(TOP if args.top is None else args.top, args.process, args.sort or "transfers")
    if args.as_json:
        name = RunFolder(folder).manifest["run"]
        print_json({"run": name, "tables": tables_record(found.tables), **lines_record(found.store, selection)})
    else:
        chosen = line_tables(found.store, selection)
        everything = (args.top, args.process, args.sort) == (None, None, None)
        # The first tables are coverage, data, lines and fields.
        _print([*found.tables[:2], *chosen, *found.tables[4:]] if everything else chosen)
    tell = sayer(args.as_json)
    stacks = f"{folder / MISS_STACKS}, {folder / STALL_STACKS}"
    tell(f"page: {folder / MISS_PAGE}\nrows: {folder / MISS_STORE} (SQLite, view v_access)")
    tell(f"stacks: {stacks} (speedscope.app, flame graphs)")


def profile_command(args: ProfileArguments) -> None:
    """Show which code executed the instructions of a run, from samples."""
    folder = find_run(args.run, PROFILE, "--profile")
    tables = write_profile(folder)
    _tell_guard(folder, PROFILE, MEMORY_MAP)
    if args.as_json:
        print_json(tables_record(tables))
    else:
        _print(tables)
    sayer(args.as_json)(
        f"page: {folder / PROFILE_PAGE}\nstacks: {folder / PROFILE_STACKS} (speedscope.app, flame graphs)"
    )


def _tell_guard(folder: Path, *names: str) -> None:
    """Say that a change of these files would not be noticed, if the run is older than the list of their hashes."""
    if not check_logs(RunFolder(folder), *names):
        say(
            f"{folder.name}: this run was made before s80lab recorded hashes of {' and '.join(names)}, so nothing "
            "guards these files against a change of their values"
        )


def find_run(run: str, file: str, option: str) -> Path:
    """The folder of a run that has `file`.

    run: a folder, a run's name, or the beginning of the names of runs, of which one has `file`.
    option: the option of `s80lab run` that makes `file`; errors name it.
    """
    if Path(run).is_dir():
        return Path(run)
    matching = runs_named(run)
    if not matching:
        near = suggestion(run, [folder.name for folder in paths.runs().glob("[!.]*")])
        some = any(paths.runs().glob("[!.]*"))
        how = "`s80lab list` shows the names of all runs" if some else f"make one with `s80lab run imapb {option}`"
        raise UserError(f"there is no run `{run}` in {paths.runs()}{near}: {how}")
    found = only_run(run, [folder for folder in matching if folder.name == run or (folder / file).is_file()])
    if found is None:
        raise UserError(
            f"no run whose name begins with `{run}` was made with {option}: make one with "
            f"`{_command(matching[0])} {option}`, which is slower than a run without"
        )
    return found


def _command(folder: Path) -> str:
    """The command that repeats a run, for example `s80lab run imapb --protocol mesi --set l2.size=2MiB --seeds 1`. For
    a folder without a readable manifest: `s80lab run EXPERIMENT`."""
    try:
        manifest = RunFolder(folder).manifest
    except UserError:
        return "s80lab run EXPERIMENT"
    swept = manifest.get("varied", {})
    changed = {key: value for key, value in differences(manifest).items() if key not in swept and key != "workload"}
    options = [
        f"--{key} {value}" if key in NAMES else f"--set {quote(f'{key}={value}')}" for key, value in changed.items()
    ]
    options += [f"--boots {manifest['boot']}"] if manifest.get("boot", 1) != 1 else []
    return " ".join(["s80lab run", manifest["experiment"], *options, f"--seeds {manifest['seed']}"])


def _print(tables: Sequence[Table]) -> None:
    console = wide_console()
    for table in tables:
        print_table(table, console)

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab list`: names of configuration files with their descriptions, and runs of the database."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import find, read_toml
from s80lab.base.suggest import names
from s80lab.base.terminal import counted, say, short_time
from s80lab.commands.line.measure import ListArguments
from s80lab.commands.output import print_json
from s80lab.config.differences import SEPARATOR
from s80lab.results.database import list_runs

FOLDERS: Mapping[str, Path] = {
    "machines": paths.MACHINES,
    "protocols": paths.PROTOCOLS,
    "experiments": paths.EXPERIMENTS,
    "scales": paths.SCALES,
    "servers": paths.SERVERS,
}
NO_RUNS = "runs: none yet; `s80lab run imapb` makes the first"


def list_command(args: ListArguments) -> None:
    """List names of configuration files and runs of the database; of one kind, with descriptions."""
    if args.kind == "runs":
        _list_runs(args.as_json)
    elif args.kind is not None:
        _list_files(args.kind, args.as_json)
    else:
        _list_all(args.as_json)


def _list_all(as_json: bool) -> None:
    known = {kind: names(folder) for kind, folder in FOLDERS.items()}
    runs = _runs()
    if as_json:
        print_json(known | {"runs": runs})
        return
    for kind, found in known.items():
        say(f"{kind}: {', '.join(found)}", sys.stdout, indent=2)
    if not runs:
        say(NO_RUNS, sys.stdout)
        return
    invalid = sum(bool(run["reasons"]) for run in runs)
    say(f"runs: {len(runs)}" + (f", {invalid} invalid; `s80lab list runs` prints why" if invalid else ""), sys.stdout)
    for run in runs:
        say(f"  {run['id']} ({_status(run)}, {_design(run)})", sys.stdout, indent=4)


def _list_files(kind: str, as_json: bool) -> None:
    rows = {name: _description(kind.removesuffix("s"), FOLDERS[kind], name) for name in names(FOLDERS[kind])}
    if as_json:
        print_json([{"name": name, "description": text} for name, text in rows.items()])
        return
    width = max(map(len, rows), default=0) + 2
    for name, text in rows.items():
        say(f"{name:<{width}}{text}", sys.stdout, indent=width)


def _list_runs(as_json: bool) -> None:
    runs = _runs()
    if as_json:
        print_json(runs)
        return
    if not runs:
        say(NO_RUNS, sys.stdout)
        return
    for run in runs:
        say(f"{run['id']}: {_status(run)}, {_design(run)}, {short_time(run['created'])}", sys.stdout, indent=2)
        if run["reasons"]:
            say(f"  {run['reasons']}", sys.stdout, indent=2)
    say(counted(len(runs), "run"), sys.stdout)


def _runs() -> list[dict[str, Any]]:
    return [
        run | {"folder_is_there": (paths.results() / run["folder"]).is_dir()} for run in list_runs(paths.database())
    ]


def _description(kind: str, folder: Path, name: str) -> str:
    """The key `description` of a file, or why the file cannot be read."""
    try:
        return str(read_toml(find(kind, folder, name)).get("description", ""))
    except UserError as error:
        return str(error)


def _status(run: Mapping[str, Any]) -> str:
    if not run["folder_is_there"]:
        return "its folder is missing"
    return "invalid" if run["reasons"] else "valid"


def _design(run: Mapping[str, Any]) -> str:
    """The experiment and what differs from its file: `imapb · mosi · l2.size=1MiB`."""
    return SEPARATOR.join(filter(None, (run["experiment"], run["differences"])))

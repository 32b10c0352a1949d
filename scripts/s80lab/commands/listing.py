# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab list`: names of configuration files, and runs of the database."""

from __future__ import annotations

from typing import Any

from s80lab.base import paths
from s80lab.base.suggest import names
from s80lab.base.terminal import plain
from s80lab.commands.output import print_json
from s80lab.config.server import server_names
from s80lab.results.database import list_runs

KINDS = {
    "machines": paths.MACHINES,
    "protocols": paths.PROTOCOLS,
    "experiments": paths.EXPERIMENTS,
    "scales": paths.SCALES,
}


def list_command(as_json: bool) -> None:
    """List machines, protocols, experiments, scales and servers, and the runs in the database."""
    runs = [
        run | {"folder_is_there": (paths.results() / run["folder"]).is_dir()} for run in list_runs(paths.database())
    ]
    known = {kind: names(folder) for kind, folder in KINDS.items()} | {"servers": server_names()}
    if as_json:
        print_json(known | {"runs": runs})
        return
    for kind, found in known.items():
        print(plain(f"{kind}: {', '.join(found)}"))
    if paths.database().is_file():
        print("runs:")
    for run in runs:
        print(plain(f"  {run['id']} ({_status(run)}, {run['created']})"))


def _status(run: dict[str, Any]) -> str:
    if not run["folder_is_there"]:
        return "its folder is missing"
    return f"invalid: {run['reasons']}" if run["reasons"] else str(run["status"])

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab collect`: enter the run folders of several hosts into one database."""

from __future__ import annotations

import sys
from pathlib import Path

from s80lab.base import paths
from s80lab.base.staging import held
from s80lab.base.strict import shown
from s80lab.base.terminal import counted, say
from s80lab.results.collect import collect


def collect_command(folders: list[Path] | None) -> None:
    """Copy the complete runs of other hosts into this lab, and enter all runs into the database of this lab."""

    def waiting() -> None:
        say(f"collect: waiting for another `s80lab collect` in {shown(paths.results())}")

    # What is missing there, a second one would copy too.
    with held(paths.results() / ".collect.lock", waiting):
        done = collect(folders or [paths.runs()], paths.runs(), paths.database())
    found = counted(done.runs, "run")
    if done.copied or done.entered:
        say(
            f"{found}: {done.copied} copied to {shown(paths.runs())}, {done.entered} entered into "
            f"{shown(paths.database())}; the other runs were there already",
            sys.stdout,
        )
    else:
        say(f"{found}: nothing new, all are in {shown(paths.database())} already", sys.stdout)
    if done.unfinished:
        skipped = counted(done.unfinished, "folder with a partial run", "folders with partial runs")
        say(f"{skipped} skipped: these runs are in progress or were interrupted", sys.stdout)

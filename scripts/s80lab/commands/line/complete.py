# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that shell completion offers. They come from the names of files; no file is read."""

from __future__ import annotations

from pathlib import Path

import typer

from s80lab.base import paths
from s80lab.base.suggest import names


def experiments() -> list[str]:
    """Names of experiments."""
    return names(paths.EXPERIMENTS)


def machines() -> list[str]:
    """Names of machines."""
    return names(paths.MACHINES)


def protocols() -> list[str]:
    """Names of coherence protocols."""
    return names(paths.PROTOCOLS)


def scales() -> list[str]:
    """Names of scales."""
    return names(paths.SCALES)


def servers() -> list[str]:
    """Names of servers."""
    return names(paths.SERVERS)


def lessons() -> list[str]:
    """Names of the shipped traces."""
    return sorted(file.stem for file in paths.LESSONS.glob("*.trace"))


def runs() -> list[str]:
    """Names of the complete runs of this lab."""
    return sorted(folder.name for folder in paths.runs().glob("[!.]*") if folder.is_dir())


def checkpoints() -> list[str]:
    """Names of checkpoints."""
    return _entries(paths.checkpoints())


def captures() -> list[str]:
    """Names of captures."""
    return _entries(paths.captures())


def entries(ctx: typer.Context) -> list[str]:
    """Names of checkpoints after `s80lab checkpoint`, of captures after `s80lab captures`."""
    return checkpoints() if ctx.command_path.split()[-2] == "checkpoint" else captures()


def references() -> list[str]:
    """Names of reference results."""
    return sorted(folder.parent.name for folder in paths.own(paths.REFERENCE).glob("*/runs"))


def _entries(store: Path) -> list[str]:
    return sorted(manifest.stem for manifest in store.glob("[!.]*.json"))

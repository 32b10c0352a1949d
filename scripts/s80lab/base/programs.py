# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that s80lab executes: its compiled ones, which are built in a checkout or contained in an installed
package, and those of the system."""

from __future__ import annotations

import os
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import short_path

TARGETS = {"s80-step": "make lesson"}
"""Commands that build a program without root and without other programs."""


def built(file: Path) -> Path:
    """The path of a compiled program or plugin. UserError if the file is missing."""
    if not file.is_file():
        raise UserError(missing(file))
    return file


def missing(file: Path) -> str:
    """One sentence about a compiled program or plugin that is missing: its name, and how to get it."""
    if paths.CHECKOUT or not file.is_relative_to(paths.ROOT):
        return f"{short_path(file)} is missing: run `{TARGETS.get(file.name, 'make build')}`"
    kind = "plugin" if file.suffix == ".so" else "program"
    return (
        f"this package does not contain the compiled {kind} {file.name}: install a package that `make wheel` built in "
        "a clone of s80lab on Linux"
    )


def system_environment() -> dict[str, str]:
    """The environment for programs of the system: those in /usr/sbin are found by every user, and messages are in
    English."""
    return os.environ | {"PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"}

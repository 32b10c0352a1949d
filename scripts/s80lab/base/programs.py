# SPDX-License-Identifier: GPL-2.0-or-later
"""Our own compiled programs: built in a checkout, carried by an installed package."""

from __future__ import annotations

from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import shown


def built(file: Path) -> Path:
    """The program or plugin; UserError where it is missing."""
    if not file.is_file():
        where = "run `make build`" if paths.CHECKOUT else "this package was made without it: `make wheel` in a checkout"
        raise UserError(f"{shown(file)} is missing: {where}")
    return file

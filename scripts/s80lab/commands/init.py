# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab init`: a lab folder for an installed s80lab."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from s80lab.base import paths
from s80lab.base.errors import UserError

LESSONS = paths.ROOT / "docs" / "traces"
KINDS = (paths.MACHINES, paths.PROTOCOLS, paths.EXPERIMENTS)
ABOUT = """\
# A lab of s80lab
Commands that are given in this folder or below it keep what they make here; so do all others where $S80LAB_HOME names
it.
- `configs/machines`, `configs/protocols`, `configs/experiments`: your own; a file of the same name takes the place of a
  shipped one
- `docs/traces`: short traces for `s80lab trace step`
- `build`, `checkpoints`, `captures`, `results`: made by the commands; `s80lab checkpoint prune` frees the most

Begin with `s80lab doctor`, `s80lab image build` and `s80lab run imapb --scale tiny`.
"""


def init_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="New or empty, on a disk with 25 GB or more.")],
) -> None:
    """Makes a folder a lab, where checkpoints, captures, results and your own configurations are kept."""
    if paths.CHECKOUT:
        raise UserError(f"s80lab runs from the checkout {paths.ROOT}, which is its lab; $S80LAB_HOME names another")
    make_lab(folder)
    print(f"{folder}: a lab; README.md in it says how to begin")


def make_lab(folder: Path) -> None:
    """UserError where the folder holds other things; a lab stays as it is."""
    try:
        if (folder / paths.MARK).is_file():
            raise UserError(f"{folder} is a lab already")
        if folder.is_dir() and any(folder.iterdir()):
            raise UserError(f"{folder} is not empty: name a new folder")
        for kind in KINDS:
            (folder / kind.relative_to(paths.ROOT)).mkdir(parents=True)
        shutil.copytree(LESSONS, folder / LESSONS.relative_to(paths.ROOT))
        (folder / "README.md").write_text(ABOUT)
        (folder / paths.MARK).write_text("This file makes the folder a lab of s80lab.\n")
    except OSError as error:
        raise UserError(f"{folder} cannot be made a lab: {error.strerror}") from None

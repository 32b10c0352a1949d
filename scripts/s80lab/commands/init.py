# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab init`: create a lab folder for an installed s80lab."""

from __future__ import annotations

import shutil
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.terminal import quoted

KINDS = (paths.MACHINES, paths.PROTOCOLS, paths.EXPERIMENTS)
ABOUT = """\
# A lab of s80lab
Commands that run in this folder or below it store their results here. Commands in other folders do so too if
$S80LAB_HOME names this folder.
- `configs/machines`, `configs/protocols`, `configs/experiments`: your own files; a file replaces the shipped file of
  the same name
- `docs/traces`: short traces for `s80lab trace step`
- `build`, `checkpoints`, `captures`, `results`: written by the commands; `s80lab checkpoint prune` frees most disk
  space

Start with `s80lab doctor`, `s80lab image build` and `s80lab run quick`: a mail server on small caches, in
three minutes.
"""


def init_command(folder: Path) -> None:
    """Create a lab: a folder for checkpoints, captures, results and your own configuration files."""
    if paths.CHECKOUT:
        raise UserError(
            f"s80lab runs from the checkout {paths.ROOT}, which is a lab already, so `init` is not needed; commands "
            "use another folder as lab if the environment variable S80LAB_HOME names it"
        )
    make_lab(folder)
    print(f"{folder} is now a lab; its README.md lists the first steps")


def make_lab(folder: Path) -> None:
    """Create a lab in a new or empty folder. UserError for any other folder, including an existing lab."""
    if "\0" in str(folder):
        raise UserError(
            f"{quoted(str(folder))}: the name of a folder cannot contain a NUL character; write another name"
        )
    try:
        if (folder / paths.MARK).is_file():
            raise UserError(f"{folder} is a lab already; use this lab, or name a new or empty folder")
        if folder.is_dir() and any(folder.iterdir()):
            raise UserError(f"{folder} is not empty: name a new or empty folder")
        for kind in KINDS:
            (folder / kind.relative_to(paths.ROOT)).mkdir(parents=True)
        shutil.copytree(paths.LESSONS, folder / paths.LESSONS.relative_to(paths.ROOT))
        (folder / "README.md").write_text(ABOUT)
        (folder / paths.MARK).write_text("This file marks the folder as a lab of s80lab.\n")
    except OSError as error:
        raise UserError(f"{folder} cannot be made a lab: {error.strerror}") from None

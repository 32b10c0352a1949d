# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab init`: create a lab folder for an installed s80lab."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.staging import full_disk
from s80lab.base.terminal import quoted, say
from s80lab.commands.line.maintain import InitArguments

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


def init_command(args: InitArguments) -> None:
    """Create a lab: a folder for checkpoints, captures, results and your own configuration files."""
    if paths.CHECKOUT:
        raise UserError(
            f"s80lab runs from the checkout {paths.ROOT}, which is a lab already, so `init` is not needed; commands "
            "use another folder as lab if the environment variable S80LAB_HOME names it"
        )
    make_lab(args.folder)
    say(f"{args.folder} is now a lab; its README.md lists the first steps", sys.stdout)


def make_lab(folder: Path) -> None:
    """Create a lab in a new or empty folder. UserError for any other folder, including an existing lab.

    If the lab cannot be completed, for example on a full disk, everything that was created is removed.
    """
    if "\0" in str(folder):
        raise UserError(
            f"{quoted(str(folder))}: the name of a folder cannot contain a NUL character; write another name"
        )
    try:
        if (folder / paths.MARK).is_file():
            raise UserError(f"{folder} is a lab already; use this lab, or name a new or empty folder")
        if folder.is_dir() and any(folder.iterdir()):
            raise UserError(f"{folder} is not empty: name a new or empty folder")
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            with full_disk(folder):
                _fill(folder)
        except BaseException:
            for path in folder.iterdir() if folder.is_dir() else ():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            for path in missing:
                if path.is_dir():
                    path.rmdir()
            raise
    except OSError as error:
        raise UserError(f"{folder} cannot be made a lab: {error.strerror}") from None


def _fill(folder: Path) -> None:
    """Create the content of a lab; the mark, which makes the folder a lab, comes last."""
    for kind in KINDS:
        (folder / kind.relative_to(paths.ROOT)).mkdir(parents=True)
    lessons = folder / paths.LESSONS.relative_to(paths.ROOT)
    for source in (paths.LESSONS, *sorted(paths.LESSONS.rglob("*"))):
        target = lessons / source.relative_to(paths.LESSONS)
        if source.is_dir():
            target.mkdir(parents=True)
        else:
            shutil.copyfile(source, target)
    (folder / "README.md").write_text(ABOUT)
    (folder / paths.MARK).write_text("This file marks the folder as a lab of s80lab.\n")

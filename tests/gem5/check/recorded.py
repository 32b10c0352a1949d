# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded answers of gem5 binaries to the check, and a program that gives these answers in gem5's place.

A folder has about.json (the answer to about.py) and, for each simulation, its facts and its statistics.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def recorded(name: str) -> Path:
    """The folder with the answers of a binary. The import is here, because gem5's stand-in runs this file alone."""
    from tests.gem5.recorded import recording

    return recording("check") / name


def stand_in(folder: Path, answers: Path, plays: Path | None = None) -> Path:
    """An executable that answers as the recorded binary did. plays: a file to which the stand-in adds a line for each
    start."""
    gem5 = folder / "gem5.opt"
    command = [sys.executable, "-I", __file__, str(answers), str(plays or "/dev/null")]
    gem5.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    gem5.chmod(0o755)
    return gem5


def answer(answers: Path, plays: Path, arguments: list[str]) -> None:
    """Do what gem5 did: print the answer to about.py, or write the outputs of replay.py."""
    import shutil

    script = Path(arguments[2]).name
    with plays.open("a") as file:
        file.write(f"{script}\n")
    if script == "about.py":
        print((answers / "about.json").read_text())
        return
    out = Path(arguments[1])
    simulation = out.parent.name
    out.mkdir()
    shutil.copy(answers / f"{simulation}.txt", out / "stats.txt")
    shutil.copy(answers / f"{simulation}.json", out / "facts.json")


if __name__ == "__main__":
    answer(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])

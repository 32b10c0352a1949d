# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds programs of a server from a Debian source package."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.strict import shown
from s80lab.config.server import Built
from s80lab.image.packages import KEYRING, debian_mirror

TOLD = 300  # characters of what a failed program said


def deb_src(suite: str) -> str:
    """The apt source line for Debian's source packages, from the mirror of this machine's own apt sources."""
    return f"deb-src [signed-by={KEYRING}] {debian_mirror()} {suite} main"


def build_programs(built: Built, line: str, work: Path) -> Path:
    """Build the programs and return the new folder in `work` that holds them. line: the apt source line. UserError
    names what is missing."""
    source, out = unpack_source(built.package, line, work), work / "programs"
    out.mkdir()
    _run(["sh", str(built.script), str(source), str(out)], work, f"{shown(built.script)} failed")
    for program in built.programs:
        if not (out / program).is_file():
            raise UserError(
                f"the build script {shown(built.script)} ended without building {program}: correct the script "
                "or the key `programs`"
            )
    return out


def unpack_source(package: str, line: str, work: Path) -> Path:
    """The tree of the source package in a new folder in `work`, with its patches applied. apt compares every file with
    the hashes in the signed index."""
    files = work / "source"
    for folder in ("lists/partial", "cache/archives/partial"):
        (files / folder).mkdir(parents=True)
    (files / "sources.list").write_text(line + "\n")
    settings = {
        "Dir::Etc::SourceList": files / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": files / "lists",
        "Dir::Cache": files / "cache",
        "APT::Sandbox::User": "",
    }
    apt = ["apt-get", *(f"--option={key}={value}" for key, value in settings.items())]
    lacking = f"Debian's source package {package} cannot be fetched"
    _run([*apt, "update"], files, lacking)
    _run([*apt, "source", "--download-only", package], files, lacking)
    (description,) = files.glob("*.dsc")
    tree = files / "tree"
    _run(
        ["dpkg-source", "--extract", str(description), str(tree)],
        files,
        f"Debian's source package {package} cannot be unpacked",
    )
    return tree


def _run(command: Sequence[str], folder: Path, failed: str) -> None:
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    except FileNotFoundError as error:
        package = "dpkg-dev" if command[0] == "dpkg-source" else "apt"
        raise UserError(f"{failed}: {command[0]} is not installed: apt-get install {package}") from error
    if done.returncode != 0:
        reasons = [text for text in done.stderr.splitlines() if text.startswith(("E:", "Err:"))]
        raise UserError(f"{failed}: {reasons[0] if reasons else done.stderr[-TOLD:].strip() or 'no message'}")

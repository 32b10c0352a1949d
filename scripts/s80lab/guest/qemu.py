# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds qemu-system-x86_64 >= 9.2, or unpacks a private copy into build/qemu."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash
from s80lab.base.staging import held
from s80lab.guest.qemu_unpack import unpack

NAME = "qemu-system-x86_64"
# Fair vCPU budgets under -icount came in 8.1, the plugin interface (version 4) in 9.2.
MINIMUM = (9, 2)


@dataclass(frozen=True)
class Qemu:
    """A usable QEMU. prefix: root of a private unpacking, or None for the system's QEMU."""

    binary: Path
    version: str
    prefix: Path | None = None

    @cached_property
    def binary_hash(self) -> str:
        return file_hash(self.binary)

    def command(self) -> list[str]:
        """The beginning of every command line."""
        if self.prefix is None:
            return [str(self.binary)]
        share = self.prefix / "usr/share"
        return [str(self.binary), "-L", str(share / "qemu"), "-L", str(share / "seabios")]

    def environment(self) -> dict[str, str]:
        """The process environment. A private QEMU finds its own libraries first."""
        environment = dict(os.environ)
        if self.prefix is not None:
            libraries = [str(path) for path in _library_folders(self.prefix)]
            environment["LD_LIBRARY_PATH"] = ":".join([*libraries, *_own("LD_LIBRARY_PATH", environment)])
        return environment


def find_qemu(prefix: Path = paths.BUILD / "qemu") -> Qemu:
    """Look for QEMU in $S80LAB_QEMU, on PATH and in the private unpacking, in this order. UserError names the problem
    of each."""
    reasons: list[str] = []
    chosen = os.environ.get("S80LAB_QEMU")
    for label, candidate in (("$S80LAB_QEMU", chosen), ("PATH", shutil.which(NAME))):
        if candidate:
            found = _probe(Path(candidate), None)
            if isinstance(found, Qemu):
                return found
            reasons.append(f"{label}: {found}")
        else:
            reasons.append(f"{label}: no {NAME}")
    tried = _private(prefix)
    if isinstance(tried[-1], Qemu):
        return tried[-1]
    reasons += [f"private copy: {why}" for why in tried if why]
    raise UserError(
        f"QEMU >= {MINIMUM[0]}.{MINIMUM[1]} was not found ({'; '.join(reasons)}); "
        f"install a newer qemu-system-x86 or set S80LAB_QEMU to its {NAME}"
    )


def _private(prefix: Path) -> list[Qemu | str]:
    """The private QEMU, unpacked if it is missing; else the reason why each attempt failed."""
    tried = [_unpacked(prefix)]
    if isinstance(tried[-1], Qemu):
        return tried
    with held(prefix.with_name(f".{prefix.name}.lock"), lambda: _say("waiting for another process that unpacks QEMU")):
        tried = [_unpacked(prefix)]  # it may have
        if not isinstance(tried[-1], Qemu):
            try:
                unpack(prefix)
                tried.append(_unpacked(prefix))
            except UserError as error:
                tried.append(str(error))
    return tried


def _unpacked(prefix: Path) -> Qemu | str:
    """The private QEMU, or the reason why it cannot be used; None if there is none."""
    binary = prefix / "usr/bin" / NAME
    return _probe(binary, prefix) if binary.is_file() else ""


def _say(what: str) -> None:
    print(f"QEMU: {what}", file=sys.stderr)


def _probe(binary: Path, prefix: Path | None) -> Qemu | str:
    """The QEMU behind a path, or the reason why it cannot be used."""
    qemu = Qemu(binary, "", prefix)
    try:
        answer = subprocess.run(
            [str(binary), "--version"], capture_output=True, text=True, timeout=30, env=qemu.environment()
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{binary} cannot be started ({error})"
    match = re.search(r"version ((\d+)\.(\d+)\S*)", answer.stdout)
    if answer.returncode or match is None:
        lines = answer.stderr.strip().splitlines() or answer.stdout.strip().splitlines() or ["no output"]
        return f"{binary} does not print its version ({lines[-1]})"
    if (int(match[2]), int(match[3])) < MINIMUM:
        return f"{binary} is version {match[1]}, which is too old"
    return Qemu(binary, match[1], prefix)


def _library_folders(prefix: Path) -> list[Path]:
    triplets = sorted((prefix / "usr/lib").glob("*-linux-gnu"))
    return [*triplets, *(path for path in sorted((prefix / "lib").glob("*-linux-gnu")) if path not in triplets)]


def _own(name: str, environment: Mapping[str, str]) -> list[str]:
    return [environment[name]] if environment.get(name) else []

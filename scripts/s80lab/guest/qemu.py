# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds qemu-system-x86_64 >= 9.2, or unpacks a private copy into the user's data folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash
from s80lab.base.staging import held
from s80lab.base.strict import short_path
from s80lab.base.terminal import say
from s80lab.guest.qemu_unpack import FETCHED_MB, PACKAGES, UNPACKED_MB, check_unpack, unpack, unpacked

NAME = "qemu-system-x86_64"
BINARY = Path("usr/bin") / NAME
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


def find_qemu(store: Path | None = None, older: Path = paths.BUILD / "qemu") -> Qemu:
    """The QEMU that $S80LAB_QEMU names; else the first on PATH, in `older` or in `store`; else a new one in `store`.

    All labs and checkouts of a user share the store. UserError: the QEMU of $S80LAB_QEMU cannot be used, or the problem
    of each place.

    store: folder of private QEMUs; None: `paths.qemus()`.
    older: folder into which earlier versions of s80lab unpacked a QEMU for each lab.
    """
    store = store or paths.qemus()
    found = _look(store, older)
    if not isinstance(found, Qemu):
        found = _fetch(store, older, found)
    if not isinstance(found, Qemu):
        raise _not_found(found)
    return found


def _fetch(store: Path, older: Path, reasons: list[str]) -> Qemu | list[str]:
    """The QEMU that this or another process unpacks into the store now; else the reasons, and why this failed."""
    try:
        with held(store / ".unpack.lock", lambda: _say("waiting for another process that unpacks QEMU")):
            found = _look(store, older)  # another process may have unpacked it
            if isinstance(found, Qemu):
                return found
            prefix = unpack(store)
            fetched = _probe(prefix / BINARY, prefix)
            return fetched if isinstance(fetched, Qemu) else [*reasons, f"private copy: {fetched}"]
    except UserError as error:
        return [*reasons, f"private copy: {error}"]
    except OSError as error:
        why = f"{store} cannot be written ({error.strerror}): set S80LAB_QEMU_FOLDER to another folder"
        return [*reasons, f"private copy: {why}"]


def present_qemu(store: Path | None = None, older: Path = paths.BUILD / "qemu") -> Qemu | None:
    """The QEMU that `find_qemu` would return, or None if it would have to fetch one. Nothing is changed."""
    found = _look(store or paths.qemus(), older)
    return found if isinstance(found, Qemu) else None


def describe_qemu(store: Path | None = None, older: Path = paths.BUILD / "qemu") -> str:
    """Version and path of the QEMU that `find_qemu` would return, or what it would fetch, and where to.

    Nothing is fetched, unpacked or written. UserError if `find_qemu` could not fetch QEMU.
    """
    store = store or paths.qemus()
    found = _look(store, older)
    if isinstance(found, Qemu):
        return f"{found.version} ({found.binary})"
    try:
        suite = check_unpack()
    except UserError as error:
        raise _not_found([*found, f"private copy: {error}"]) from None
    return (
        f"none yet; the first run fetches {', '.join(PACKAGES)} from {suite} ({FETCHED_MB} MB, {UNPACKED_MB} MB "
        f"unpacked) into {short_path(store)}"
    )


def _not_found(reasons: list[str]) -> UserError:
    return UserError(
        f"QEMU >= {MINIMUM[0]}.{MINIMUM[1]} was not found ({'; '.join(filter(None, reasons))}); "
        f"install a newer qemu-system-x86 or set S80LAB_QEMU to its {NAME}"
    )


def _look(store: Path, older: Path) -> Qemu | list[str]:
    """A usable QEMU, or the reasons why each place has none. Nothing is changed.

    UserError: the QEMU of $S80LAB_QEMU cannot be used. Another QEMU would give other results than the user expects.
    """
    if chosen := os.environ.get("S80LAB_QEMU"):
        found = _probe(Path(shutil.which(chosen) or chosen), None)
        if isinstance(found, Qemu):
            return found
        raise UserError(
            f"$S80LAB_QEMU: {found}; set S80LAB_QEMU to a {NAME} of version {MINIMUM[0]}.{MINIMUM[1]} or later, or "
            "unset it"
        )
    reasons = [f"PATH: no {NAME}"]
    if on_path := shutil.which(NAME):
        found = _probe(Path(on_path), None)
        if isinstance(found, Qemu):
            return found
        reasons = [f"PATH: {found}"]
    for prefix in (older, *unpacked(store)):
        if (prefix / BINARY).is_file():
            found = _probe(prefix / BINARY, prefix)
            if isinstance(found, Qemu):
                return found
            reasons.append(f"private copy: {found}")
    return reasons


def _say(what: str) -> None:
    say(f"QEMU: {what}")


def _probe(binary: Path, prefix: Path | None) -> Qemu | str:
    """The QEMU behind a path, or the reason why it cannot be used."""
    qemu = Qemu(binary, "", prefix)
    try:
        answer = subprocess.run(
            [str(binary), "--version"], capture_output=True, text=True, timeout=30, env=qemu.environment()
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{binary} cannot be started ({error.strerror if isinstance(error, OSError) else error})"
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

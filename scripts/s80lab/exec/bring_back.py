# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpacks the files that the guest sends back."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.terminal import quoted
from s80lab.exec.placing import WORK

MOST_NOTES = 5


def bring_back(archive: Path, wanted: Mapping[str, Path]) -> tuple[list[str], list[str]]:
    """Write the wanted files of the archive to the host. Return sentences about members that were left out, and about
    wanted files that could not be written. Members with other names are not written, and nothing is written outside of
    the wanted places (tarfile's filter `data`).

    wanted: for each path of the guest, where the file or folder goes."""
    if not wanted:
        return [], []
    unpacked = archive.with_name("unpacked")
    left_out: list[str] = []

    def harmless(member: tarfile.TarInfo, place: str) -> tarfile.TarInfo | None:
        """A file, a folder, or a link to one of the archive."""
        try:
            return tarfile.data_filter(member, place)
        except tarfile.FilterError:
            left_out.append(member.name)
            return None

    problems = []
    try:
        with tarfile.open(archive, "r:") as tar:
            tar.extractall(unpacked, filter=harmless)
    except tarfile.TarError as error:
        problems.append(f"--get: the archive of the guest cannot be read ({error}): run the program again")
    notes = [f"--get: left out {quoted(name)}, which is a device, a pipe or a link that leads out" for name in left_out]
    for guest, host in wanted.items():
        source = unpacked / guest.lstrip("/")
        try:
            if source.is_dir() and not source.is_symlink():
                shutil.copytree(source, host, symlinks=True, dirs_exist_ok=True)
            elif source.exists():
                host.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, host / source.name if host.is_dir() else host)
            else:
                problems.append(f"--get {guest}: the guest has no such file at the program's end")
        except shutil.Error as error:  # of a folder: source, target and reason of each file
            problems.append(f"--get {guest}: {error.args[0][0][1]} cannot be written: {error.args[0][0][2]}")
        except OSError as error:
            problems.append(f"--get {guest}: {host} cannot be written ({error.strerror}): choose another place")
    shutil.rmtree(unpacked, ignore_errors=True)
    return notes[:MOST_NOTES], problems


def guest_and_host(option: str) -> tuple[str, Path]:
    """The guest's path and the host's of --get. UserError: it is malformed."""
    guest, colon, host = option.partition(":")
    if colon and not host:
        raise UserError(f"--get {option}: a path of the host must follow the colon")
    path = os.path.normpath(guest if guest.startswith("/") else f"{WORK}/{guest}")
    if path == "/" or path.split("/")[1] in ("proc", "sys"):
        raise UserError(f"--get {option}: name a file or folder that the program writes, not {path}")
    return path, Path(host) if host else Path(Path(path).name)

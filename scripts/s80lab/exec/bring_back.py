# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpacks the files that the guest sends back."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

from s80lab.base.errors import UserError


def bring_back(archive: Path, wanted: Mapping[str, Path]) -> None:
    """Write the wanted files of the archive to the host. Members with other names are not written, and nothing is
    written outside of the wanted places (tarfile's filter `data`).

    wanted: for each path of the guest, where the file or folder goes. UserError: a path is not in the archive."""
    if not wanted:
        return
    unpacked = archive.with_name("unpacked")
    try:
        with tarfile.open(archive, "r:") as tar:
            tar.extractall(unpacked, filter="data")
    except tarfile.TarError as error:
        raise UserError(f"--get: the guest sent no usable archive ({error}): run the program again") from None
    for guest, host in wanted.items():
        source = unpacked / guest.lstrip("/")
        if not source.exists():
            raise UserError(f"--get {guest}: the guest has no such file at the program's end")
        if source.is_dir():
            shutil.copytree(source, host, dirs_exist_ok=True)
        else:
            host.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, host)
    shutil.rmtree(unpacked)

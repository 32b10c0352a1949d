# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the initramfs: a cpio archive in the kernel's "newc" format, without root rights and without the tool cpio.

Format: Linux, Documentation/driver-api/early-userspace/buffer-format.rst. Owner (root) and modification time (0) are
fixed, so equal contents give equal bytes.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from s80lab.base.errors import UserError


@dataclass(frozen=True)
class Entry:
    """One member: `path` relative to the guest's root, `mode` with the file type, and its bytes (for a link, the
    target)."""

    path: str
    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def directory(path: str, permissions: int = 0o755) -> Entry:
    return Entry(path, stat.S_IFDIR | permissions)


def regular(path: str, data: bytes, permissions: int = 0o644) -> Entry:
    return Entry(path, stat.S_IFREG | permissions, data)


def symlink(path: str, target: str) -> Entry:
    return Entry(path, stat.S_IFLNK | 0o777, target.encode())


def character_device(path: str, major: int, minor: int) -> Entry:
    return Entry(path, stat.S_IFCHR | 0o600, device=(major, minor))


def folder_entries(root: Path) -> Iterator[Entry]:
    """All entries of a folder; links are not followed. UserError: an entry is not a file, a folder or a link."""
    for path in sorted(root.rglob("*")):
        name, mode = str(path.relative_to(root)), path.lstat().st_mode
        if stat.S_ISLNK(mode):
            yield symlink(name, str(path.readlink()))
        elif stat.S_ISDIR(mode):
            yield directory(name, stat.S_IMODE(mode))
        elif stat.S_ISREG(mode):
            yield regular(name, path.read_bytes(), stat.S_IMODE(mode))
        else:
            raise UserError(
                f"{path} is a device, a socket or a named pipe, but an image can contain only regular files, "
                "folders and symbolic links: remove it"
            )


def write_archive(entries: Iterable[Entry], target: Path) -> None:
    """Write `entries`, sorted so that folders precede their contents. Missing parent folders are added."""
    members = {entry.path: entry for entry in entries}
    for path in list(members):
        for parent in PurePosixPath(path).parents:
            if str(parent) != ".":
                members.setdefault(str(parent), directory(str(parent)))
    with target.open("wb") as archive:
        for inode, path in enumerate(sorted(members), start=1):
            _write_member(archive, members[path], inode)
        _write_member(archive, Entry("TRAILER!!!", 0), 0)


def read_archive(source: Path) -> Iterator[Entry]:
    """The members of an archive that `write_archive` wrote. Devices lose their numbers."""
    content, at = source.read_bytes(), 0
    while at < len(content):
        fields = [int(content[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        name_at, size = at + 110, fields[6]
        name = content[name_at : name_at + fields[11] - 1].decode()
        if name == "TRAILER!!!":
            return
        data_at = name_at + fields[11] + (-(110 + fields[11]) % 4)
        yield Entry(name, fields[1], content[data_at : data_at + size])
        at = data_at + size + (-size % 4)


def _write_member(archive: BinaryIO, entry: Entry, inode: int) -> None:
    name = entry.path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    fields = (
        inode, entry.mode, 0, 0, links, 0, len(entry.data), 0, 0,
        entry.device[0], entry.device[1], len(name), 0,
    )  # fmt: skip
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    archive.write(_padded(header))
    archive.write(_padded(entry.data))


def _padded(data: bytes) -> bytes:
    """The data, padded to a multiple of four bytes, as headers and contents must be."""
    return data + b"\0" * (-len(data) % 4)

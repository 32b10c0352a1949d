# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the tree of files that becomes the guest's image. A root of the user's may be part of the tree."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from s80lab.base.errors import UserError
from s80lab.base.terminal import quoted
from s80lab.image.files import resolve

LONGEST_NAME = 254
"""Bytes of a name. Linux allows 255, but mkfs.erofs 1.5 fails then."""
WORK = "/work"
"""The guest's folder for programs and files that lie in no folder of the system; the program begins in it."""
COMMANDS = "/opt/busybox"
OWN = ".s80lab"
FOLDERS = ("dev", "proc", "sys", "tmp", "run", "root", "etc", "usr/bin", "usr/lib/x86_64-linux-gnu", "var/tmp", "work",
           "opt/busybox", ".s80lab")  # fmt: skip
# Debian's merged /usr.
LINKS = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
ACCOUNTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/work:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1 localhost s80\n::1 localhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\n",
}


@dataclass
class Inside:
    """Finds places in the tree of the image. The root of a user may have links to anywhere: they are followed as the
    guest would, so that nothing is written outside of the tree."""

    root: Path
    _folders: dict[str, str] = field(default_factory=dict)

    def folder(self, guest: str) -> str:
        """The folder of this path, made if it is missing."""
        if guest not in self._folders:
            try:
                path = resolve(self.root, guest.lstrip("/"))
            except UserError:
                raise UserError(f"{guest}: the links of the guest's root lead in a circle: correct them") from None
            try:
                path.mkdir(parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                raise UserError(f"{guest}: the guest needs a folder here, but the root has a file: move it") from None
            self._folders[guest] = str(path)
        return self._folders[guest]

    def place(self, guest: str) -> str:
        """The place of a file, where nothing is."""
        folder, name = os.path.split(os.path.normpath(guest))
        _check_name(folder, name)
        path = f"{self.folder(folder)}/{name}"
        if os.path.isdir(path) and not os.path.islink(path):
            raise UserError(f"{guest}: is a folder of the guest, so no file can have this path: choose another path")
        if os.path.lexists(path):  # of a root, it may be a link
            os.unlink(path)
        return path

    def exists(self, guest: str) -> bool:
        """Whether there is something; a link counts whatever its target."""
        path = PurePosixPath(guest)
        return os.path.lexists(resolve(self.root, str(path.parent)) / path.name)


def _check_name(folder: str, name: str) -> None:
    if len(os.fsencode(name)) > LONGEST_NAME:
        raise UserError(f"{folder}: the name {quoted(name)} has more than {LONGEST_NAME} bytes: shorten it")


def add_skeleton(inside: Inside) -> None:
    """Folders, links and accounts that the guest needs, where the root has none of its own."""
    for name, target in LINKS.items():
        inside.folder(f"/{target}")
        if not inside.exists(name):
            os.symlink(target, inside.place(f"/{name}"))
    for name in FOLDERS:
        inside.folder(f"/{name}")
    for name, content in ACCOUNTS.items():
        if not inside.exists(name):
            Path(inside.place(f"/{name}")).write_text(content)
    for shell in ("usr/bin/sh", "bin/sh"):
        if not inside.exists(shell):
            os.symlink(f"{COMMANDS}/sh", inside.place(f"/{shell}"))


def link(source: str, target: str) -> str:
    """A hard link, or on another disk a copy."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
    return target


def left_out(root: str) -> Callable[[str, list[str]], set[str]]:
    """What is not copied of a root: devices, sockets and pipes, because the guest has its own, and the folder OWN."""
    kinds = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)

    def odd_ones(folder: str, names: list[str]) -> set[str]:
        for name in names:
            _check_name(folder, name)
        odd = {name for name in names if not any(kind(Path(folder, name).lstat().st_mode) for kind in kinds)}
        return odd | {OWN} if folder == root else odd

    return odd_ones


def copy(host: Path, place: str) -> None:
    """Copy a file; permissions that let every user read it, and execute it if its owner may."""
    shutil.copyfile(host, place)
    os.chmod(place, 0o755 if host.stat().st_mode & stat.S_IXUSR else 0o644)

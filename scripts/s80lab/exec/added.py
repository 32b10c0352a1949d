# SPDX-License-Identifier: GPL-2.0-or-later
"""The files and folders that the user hands over with --add, and the files that the guest sends back (--get)."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.terminal import quoted
from s80lab.exec.placing import COMMANDS, OWN, WORK

COVERED = ("/dev", "/proc", "/sys", "/tmp", "/run", COMMANDS, f"/{OWN}")
"""Folders of the guest that do not show the image's files."""


@dataclass(frozen=True)
class Added:
    """A file or folder that the user hands over."""

    host: Path
    guest: str


def collision(guest: str, one: Path, other: Path) -> str:
    return (
        f"{one} and {other} would both be {guest} in the guest: give one of them another place, --add PATH:GUEST_PATH"
    )


@dataclass
class AddedFiles:
    """What the options --add name."""

    files: dict[str, Path] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_list(cls, added: Sequence[Added]) -> AddedFiles:
        found = cls()
        for one in added:
            guest = os.path.normpath(one.guest)
            covered = next((f for f in COVERED if f"{guest}/".startswith(f"{f}/")), None)
            if covered or (guest == "/" and not one.host.is_dir()):
                raise UserError(
                    f"--add {one.host}: the guest's {covered or guest} cannot receive files: choose another place, "
                    f"for example --add PATH:{WORK}/NAME"
                )
            if one.host.is_file():
                found._add(guest, one.host)
            elif one.host.is_dir():
                found._add_folder(guest, one.host)
            elif one.host.exists():
                raise UserError(f"--add {one.host}: is a device, a pipe or a socket: add files and folders only")
            else:
                raise UserError(f"--add {one.host}: no such file or folder")
        return found

    def _add(self, guest: str, host: Path) -> None:
        other = self.files.setdefault(guest, host)
        if other is not host and not other.samefile(host):
            raise UserError(collision(guest, other, host))

    def _add_folder(self, guest: str, host: Path) -> None:
        """All that is below a folder. Links that stay in the folder remain links. Of others the files follow, so that
        nothing leads out of the guest."""
        prefix = guest.rstrip("/")
        for folder, folders, names in os.walk(host):
            inner = os.path.relpath(folder, host)
            here = prefix if inner == "." else f"{prefix}/{inner}"
            folders.sort()
            if not folders and not names:
                self.folders.append(here or "/")
            for name in sorted((*folders, *names)):
                path = os.path.join(folder, name)
                if os.path.islink(path) and (target := _inner_link(str(host), folder, path)):
                    self.links[f"{here}/{name}"] = target
                elif os.path.isfile(path):
                    self._add(f"{here}/{name}", Path(path))


def _inner_link(top: str, folder: str, path: str) -> str:
    """The target of a relative link to something in the same added folder; empty for other links."""
    target = os.readlink(path)
    inner = os.path.relpath(os.path.join(folder, target), top)
    stays = not os.path.isabs(target) and inner.split("/")[0] != ".."
    return target if stays and os.path.exists(path) else ""


MOST_NOTES = 5


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> bool:
    """Write a file, a folder, or a link to one of the archive; return False for any other member. Debian 12's Python
    lacks tarfile's filters, which later versions have."""
    inside = folder.resolve()
    target = inside / member.name.lstrip("/")
    begin = inside if member.islnk() else target.parent
    parts = [target.parent, *([begin / member.linkname] if member.issym() or member.islnk() else [])]
    if ".." in Path(member.name).parts or not all(part.resolve().is_relative_to(inside) for part in parts):
        return False
    if target.is_symlink():
        target.unlink()  # a later member of this name replaces the link instead of what it points to
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        return True
    target.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        target.symlink_to(member.linkname)
    elif (content := tar.extractfile(member)) is not None:  # of a hard link, that of its file
        with content, target.open("wb") as file:
            shutil.copyfileobj(content, file)
        target.chmod(member.mode & 0o755 | 0o600)
    return member.isfile() or member.issym() or member.islnk()


def bring_back(archive: Path, wanted: Mapping[str, Path]) -> tuple[list[str], list[str]]:
    """Write the wanted files of the archive to the host. Return sentences about members that were left out, and about
    wanted files that could not be written. Members with other names are not written, and nothing is written outside of
    the wanted places.

    wanted: for each path of the guest, where the file or folder goes."""
    if not wanted:
        return [], []
    unpacked = archive.with_name("unpacked")
    left_out: list[str] = []

    problems = []
    try:
        with tarfile.open(archive, "r:") as tar:
            for member in tar:
                if not _unpack(tar, member, unpacked):
                    left_out.append(member.name)
    except (tarfile.TarError, KeyError) as error:  # KeyError: a hard link to no member
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

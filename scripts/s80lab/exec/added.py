# SPDX-License-Identifier: GPL-2.0-or-later
"""The files and folders that the user hands over with --add."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from s80lab.base.errors import UserError
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
    def of(cls, added: Sequence[Added]) -> AddedFiles:
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

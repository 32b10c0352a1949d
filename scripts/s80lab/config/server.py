# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers (workloads/servers): what the guest's image holds of one, and whose work its processes are.

`NAME.toml` says it, `NAME/rootfs` is laid over the guest's root. A server may build on another, its base: it has all
that the base has, and a file of its own takes the place of the base's of the same path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, load, names, shown, validate, with_bases

START, SETTINGS = "usr/lib/s80lab/server.sh", "usr/lib/s80lab/server.conf"
"""What the guest's init reads of a server (docs/reference/interfaces/servers.md)."""
COMM = 15
"""Characters of a process's name, as the kernel has it."""

Process = Annotated[str, Field(min_length=1, max_length=COMM)]
# Below those of the mail's owner.
Uid = Annotated[int, Field(ge=100, lt=5000)]


class Classes(Strict):
    """Names of processes by the class that their work is counted for."""

    session: list[Process] = Field(default_factory=list)
    delivery: list[Process] = Field(default_factory=list)
    loadgen: list[Process] = Field(default_factory=list)


class ServerFile(Strict):
    """One file.

    base: another server that this one builds on. packages: Debian's. keep: which of their files go into the guest,
    shell patterns relative to the root; the libraries that these need follow. programs: of our own; needs: what they
    are built with. source: Debian's source package that they are built from with the image, by the script NAME/build;
    without it they are in build/bin. users: system accounts and their numbers. accounts: where the guest has the list
    of the mail's users; `.sqlite`: a database with a table `users`, else lines `name:password`. store: the form that
    the mail is laid out in before the server starts. session, delivery: names of its processes. serves: the protocols
    of the clients.
    """

    description: str
    base: str | None = None
    packages: list[str] = Field(default_factory=list)
    keep: list[str] = Field(default_factory=list)
    programs: list[str] = Field(default_factory=list)
    needs: str = ""
    source: str | None = None
    users: dict[str, Uid] = Field(default_factory=dict)
    accounts: str | None = None
    store: Literal["mbox", "maildir", "imap", "none"] | None = None
    session: list[Process] = Field(default_factory=list)
    delivery: list[Process] = Field(default_factory=list)
    serves: list[str] = Field(default_factory=list)


@dataclass(frozen=True)
class Built:
    """Programs that are built with the image: `sh SCRIPT TREE FOLDER` puts them into the folder out of the unpacked
    source package. reads: what of ours it may read."""

    package: str
    script: Path
    programs: Sequence[str]
    reads: Sequence[Path]


@dataclass(frozen=True)
class Server:
    """A server with all that it builds on. parts: the files by their names, the lowest base first; origins: where they
    are."""

    parts: Mapping[str, ServerFile]
    origins: Sequence[Path]

    @property
    def name(self) -> str:
        return list(self.parts)[-1]

    @property
    def packages(self) -> list[str]:
        return [package for part in self.parts.values() for package in part.packages]

    @property
    def packages_of(self) -> str:
        """The part that has the last word on the packages: servers that share it share them all."""
        return next((name for name in reversed(list(self.parts)) if self.parts[name].packages), self.name)

    @property
    def keep(self) -> dict[str, str]:
        """Patterns, and the file that each stands in."""
        return {
            pattern: shown(path)
            for path, part in zip(self.origins, self.parts.values(), strict=True)
            for pattern in part.keep
        }

    @property
    def programs(self) -> dict[str, str]:
        """Our own, and what each needs to be built."""
        return {program: part.needs for part in self.parts.values() for program in part.programs}

    @property
    def built(self) -> Built | None:
        """Of the highest part that names a source."""
        folders = [path.with_suffix("") for path in self.origins]
        beside = [file for folder in folders for file in sorted(folder.glob("*")) if file.is_file()]
        reads = [file for file in beside if file.suffix != ".md"]
        found = (
            Built(part.source, folder / "build", part.programs, reads)
            for folder, part in zip(reversed(folders), reversed(list(self.parts.values())), strict=True)
            if part.source
        )
        return next(found, None)

    @property
    def users(self) -> dict[str, int]:
        return {user: number for part in self.parts.values() for user, number in part.users.items()}

    @property
    def accounts(self) -> list[str]:
        """Where the guest has lists of the mail's users."""
        return [part.accounts for part in self.parts.values() if part.accounts]

    @property
    def store(self) -> str:
        return [part.store for part in self.parts.values() if part.store][-1]

    @property
    def serves(self) -> list[str]:
        """Protocols: of the highest part that names any, else IMAP."""
        return next((part.serves for part in reversed(list(self.parts.values())) if part.serves), ["imap"])

    def files(self) -> dict[str, Path]:
        """What is laid over the guest's root: paths in it, and where they are here."""
        return {
            str(file.relative_to(root)): file
            for root in (path.with_suffix("") / "rootfs" for path in self.origins)
            for file in sorted(root.rglob("*"))
            if file.is_file()
        }

    def settings(self) -> str:
        """Of the guest's init, in its shell's words."""
        return f"SERVER={self.name} STORE={self.store}\n"

    def classes(self) -> str:
        """Whose work the statistics tell apart, as the plugin reads it: those of all servers and this one's."""
        common = load(paths.CLASSES, Classes).model_dump()
        for part in self.parts.values():
            common["session"] += part.session
            common["delivery"] += part.delivery
        return "".join(f"{label} = {json.dumps(list(dict.fromkeys(found)))}\n" for label, found in common.items())


def load_server(name: str) -> Server:
    """The named server; UserError where it, or one that it builds on, is not there, or is no whole server."""
    server = _with_bases(name)
    if START not in server.files():
        raise UserError(f"{shown(server.origins[-1])}: is no server by itself: it has no {START} in its rootfs")
    if not any(part.store for part in server.parts.values()):
        raise UserError(f"{shown(server.origins[-1])}: the key `store` is missing")
    return server


def server_names() -> list[str]:
    """Of all whole servers."""
    return [name for name in names(paths.SERVERS) if START in _with_bases(name).files()]


def _with_bases(name: str) -> Server:
    said = with_bases("server", paths.SERVERS, name)
    parts = {path.stem: validate(content, ServerFile, shown(path)) for path, content in said.items()}
    return Server(parts, list(said))

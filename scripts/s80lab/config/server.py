# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers (workloads/servers): the server's files in the guest image, and the classes of its processes.

`NAME.toml` describes a server; its table [files] and the files of `NAME/rootfs` are copied over the guest's root. A
server may extend another server, its base: it then has all files of the base, and its own file replaces the base's file
of the same path.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import Field

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash, text_hash
from s80lab.base.strict import Strict, load, short_path, validate, with_bases
from s80lab.base.suggest import names

START, SETTINGS = "usr/lib/s80lab/server.sh", "usr/lib/s80lab/server.conf"
"""The files of a server that the guest's init reads (docs/reference/interfaces/servers.md)."""
COMM = 15
"""Length of a process name in the kernel, in characters."""

Process = Annotated[str, Field(min_length=1, max_length=COMM)]
# Below those of the mail's owner.
Uid = Annotated[int, Field(ge=100, lt=5000)]


class Classes(Strict):
    """Process names by process class."""

    session: list[Process] = Field(default_factory=list)
    delivery: list[Process] = Field(default_factory=list)
    loadgen: list[Process] = Field(default_factory=list)


class ServerFile(Strict):
    """The content of one server file.

    base: another server that this one extends.
    packages: Debian packages.
    keep: files of these packages that go into the guest, as shell patterns relative to the root. The libraries that the
        files need are added.
    programs: our own programs.
    needs: what our programs need in order to be built.
    files: contents of short text files in the guest, by path.
    source: the Debian source package from which the script NAME/build builds the programs together with the image;
        without it, the programs are in build/bin.
    users: system accounts and their numbers.
    accounts: path of the list of mail users in the guest. A `.sqlite` file is a database with a table `users`; any
        other file has lines `name:password`.
    store: format of the mail store before the server starts.
    session, delivery: process names of these classes.
    serves: the protocols that clients can use.
    """

    description: str
    base: str | None = None
    packages: list[str] = Field(default_factory=list)
    keep: list[str] = Field(default_factory=list)
    programs: list[str] = Field(default_factory=list)
    needs: str = ""
    files: dict[str, str] = Field(default_factory=dict)
    source: str | None = None
    users: dict[str, Uid] = Field(default_factory=dict)
    accounts: str | None = None
    store: Literal["mbox", "maildir", "imap", "none"] | None = None
    session: list[Process] = Field(default_factory=list)
    delivery: list[Process] = Field(default_factory=list)
    serves: list[str] = Field(default_factory=list)


@dataclass(frozen=True)
class GuestFile:
    """A file to copy over the guest's root. source: a file of the host, or a text."""

    source: Path | str

    @property
    def content(self) -> bytes:
        return self.source.encode() if isinstance(self.source, str) else self.source.read_bytes()

    @property
    def sha256(self) -> str:
        return text_hash(self.source) if isinstance(self.source, str) else file_hash(self.source)

    @property
    def executable(self) -> bool:
        return isinstance(self.source, Path) and os.access(self.source, os.X_OK)


@dataclass(frozen=True)
class Built:
    """Programs that are built with the image. `sh SCRIPT TREE FOLDER` builds them from the unpacked source package.

    package: the source package.
    script: the build script.
    programs: names of the programs.
    reads: our files that the script may read.
    """

    package: str
    script: Path
    programs: Sequence[str]
    reads: Sequence[Path]


@dataclass(frozen=True)
class Server:
    """A server with all its bases.

    parts: contents of the server files by name, the lowest base first.
    origins: paths of the server files, in the same order.
    """

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
        """The last part that names packages. Servers with the same such part have the same packages."""
        return next((name for name in reversed(list(self.parts)) if self.parts[name].packages), self.name)

    @property
    def keep(self) -> dict[str, str]:
        """The patterns of files to keep, and the server file that contains each."""
        return {
            pattern: short_path(path)
            for path, part in zip(self.origins, self.parts.values(), strict=True)
            for pattern in part.keep
        }

    @property
    def programs(self) -> dict[str, str]:
        """Our own programs, and what each needs in order to be built."""
        return {program: part.needs for part in self.parts.values() for program in part.programs}

    @property
    def built(self) -> Built | None:
        """The programs of the highest part that names a source package; None if no part does."""
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
        """The paths of the lists of mail users in the guest."""
        return [part.accounts for part in self.parts.values() if part.accounts]

    @property
    def store(self) -> str:
        return [part.store for part in self.parts.values() if part.store][-1]

    @property
    def serves(self) -> list[str]:
        """The protocols of the highest part that names any; default: IMAP."""
        return next((part.serves for part in reversed(list(self.parts.values())) if part.serves), ["imap"])

    def files(self) -> dict[str, GuestFile]:
        """The files to copy over the guest's root, by path in the guest."""
        found: dict[str, GuestFile] = {}
        for path, part in zip(self.origins, self.parts.values(), strict=True):
            root = path.with_suffix("") / "rootfs"
            own = {name: GuestFile(text) for name, text in part.files.items()}
            own |= {str(file.relative_to(root)): GuestFile(file) for file in root.rglob("*") if file.is_file()}
            # Whether a file lies in [files] or in rootfs does not change the order, and so not the image's key.
            found |= {name: own[name] for name in sorted(own, key=PurePosixPath)}
        return found

    def settings(self) -> str:
        """The settings for the guest's init, as shell assignments."""
        return f"SERVER={self.name} STORE={self.store}\n"

    def classes(self) -> str:
        """The process classes for the plugin: names common to all servers, and this server's names."""
        common = load(paths.CLASSES, Classes).model_dump()
        for part in self.parts.values():
            common["session"] += part.session
            common["delivery"] += part.delivery
        return "".join(f"{label} = {json.dumps(list(dict.fromkeys(found)))}\n" for label, found in common.items())


def load_server(name: str) -> Server:
    """Read a server with its bases. UserError if one of them does not exist, or if the server is incomplete."""
    server = _with_bases(name)
    if START not in server.files():
        raise UserError(
            f"{short_path(server.origins[-1])}: this server cannot run alone, because its rootfs has no {START}; it "
            "is only a base of other servers: choose one of those"
        )
    if not any(part.store for part in server.parts.values()):
        raise UserError(f"{short_path(server.origins[-1])}: the key `store` is missing")
    return server


def server_names() -> list[str]:
    """The names of all complete servers (without those that are only bases)."""
    return [name for name in names(paths.SERVERS) if START in _with_bases(name).files()]


def _with_bases(name: str) -> Server:
    contents = with_bases("server", paths.SERVERS, name)
    parts = {path.stem: validate(content, ServerFile, short_path(path)) for path, content in contents.items()}
    return Server(parts, list(contents))

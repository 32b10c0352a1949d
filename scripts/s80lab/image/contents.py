# SPDX-License-Identifier: GPL-2.0-or-later
"""Collects the contents of the initramfs and the inputs on which they depend."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash, text_hash
from s80lab.base.paths import ROOT, SERVERS
from s80lab.base.programs import missing
from s80lab.base.strict import short_path
from s80lab.config.experiment import ACCOUNTS
from s80lab.config.server import SETTINGS, GuestFile, Server
from s80lab.image.cpio import Entry, character_device, directory, regular, symlink
from s80lab.image.files import kept_files, matches, read_lines, resolve

PASSWORD = "secret"
# Bytes 96 to 99 of an SQLite file: the version of the library that wrote it (https://sqlite.org/fileformat2.html,
# 1.3.15). Nothing reads them, so all hosts write the same ones: SQLite 3.40.1, the guest's own.
WRITER = slice(96, 100)
GUESTS_SQLITE = 3_040_001


def accounts(name: str, folder: Path) -> bytes:
    """user001 .. user512 in the format that the file's name gives: `.sqlite` for a database, else lines
    `name:password`."""
    if name.endswith(".sqlite"):
        return accounts_database(folder)
    return "".join(f"{user}:{password}\n" for user, password in _accounts()).encode()


def accounts_database(folder: Path) -> bytes:
    """An SQLite file with the table `users` (name, password) for user001 .. user512. Its bytes are equal on every
    host."""
    path = folder / "users.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA page_size = 4096")
        database.execute("PRAGMA auto_vacuum = NONE")
        database.execute("CREATE TABLE users (name TEXT PRIMARY KEY, password TEXT NOT NULL) WITHOUT ROWID")
        database.executemany("INSERT INTO users VALUES (?, ?)", _accounts())
    # Written anew page by page: what lies between the rows of a page that was split depends on the library's version.
    database.execute("VACUUM")
    database.close()
    content = bytearray(path.read_bytes())
    content[WRITER] = GUESTS_SQLITE.to_bytes(4, "big")
    return bytes(content)


def _accounts() -> Iterator[tuple[str, str]]:
    return ((f"user{number:03}", PASSWORD) for number in range(1, ACCOUNTS + 1))


RECIPE = ROOT / "disk-images" / "debian"
COMMON = ROOT / "disk-images" / "common" / "rootfs"
PROGRAMS = ("s80-loadgen", "s80-mailstore")
SUITE = "bookworm"
FORMAT = 3  # raise when the builder's code changes what it puts into the image
SECRET = ("etc/tls/key.pem",)
USERS, GROUPS = "etc/passwd", "etc/group"
EMPTY_FOLDERS = ("dev", "proc", "sys", "run", "var/lib", "var/run", "var/mail-store", "root")


def entries(server: Server, root: Path, work: Path, binaries: Path, built: Path | None = None) -> Iterator[Entry]:
    """All entries of the initramfs: from the packages unpacked in `root`, the common files, the server's files, and
    our programs in `binaries`. Programs in the folder `built` replace those of the packages, and keep their symbols,
    because they cannot be had elsewhere.

    `work` is a folder for temporary files.
    """
    yield from skeleton()
    yield from kept_files(root, _patterns(server))
    yield symlink("bin/sh", "busybox")
    for name in _programs(server):
        own = built / name if built and (built / name).is_file() else None
        yield regular(f"usr/bin/{name}", own.read_bytes() if own else stripped(binaries / name, work), 0o755)
    yield from laid_over(server, work)


def skeleton() -> Iterator[Entry]:
    """Folders and devices that every guest needs at boot."""
    yield from (directory(path) for path in EMPTY_FOLDERS)
    yield directory("tmp", 0o1777)
    yield character_device("dev/console", 5, 1)  # the kernel opens it for init before anything is mounted


def laid_over(server: Server, work: Path) -> Iterator[Entry]:
    """Files that every image adds to its programs: the common files, the server's files, its accounts and its
    settings."""
    for name, file in overlay(server).items():
        permissions = 0o600 if name in SECRET else 0o755 if file.executable else 0o644
        yield regular(name, file.content + _users(server, name), permissions)
    for name in server.accounts:
        yield regular(name, accounts(name, work))
    yield regular(SETTINGS, server.settings().encode())


def stripped(program: Path, work: Path) -> bytes:
    """The program without its symbols; the program itself if it has none (a jar)."""
    content = program.read_bytes()
    if not content.startswith(b"\x7fELF"):
        return content
    stripped = work / program.name
    subprocess.run(["strip", "-o", str(stripped), str(program)], check=True)
    return stripped.read_bytes()


def kernel(root: Path) -> Path:
    """The only kernel in the unpacked packages."""
    kernels = matches(root, "boot/vmlinuz-*")
    if len(kernels) != 1:
        raise UserError(
            f"the Debian packages of the image contain {len(kernels)} kernels instead of one: correct "
            f"{RECIPE / 'packages.txt'}"
        )
    return resolve(root, kernels[0])


def common_files() -> list[Path]:
    """Files that every image has, for any distribution and any server."""
    return sorted(path for path in COMMON.rglob("*") if path.is_file())


def packages(server: Server) -> list[str]:
    """Names of the packages that are unpacked for the server's image."""
    return [*read_lines(RECIPE / "packages.txt"), *server.packages]


def inputs_digest(server: Server, binaries: Path) -> str:
    """One digest over everything that determines the image's contents, except the package versions."""
    # The folder of a server file is not an input: a server of a study has the key that it had in workloads/servers.
    patterns = _patterns(server) | {name: short_path(SERVERS / Path(file).name) for name, file in server.keep.items()}
    lines = [f"{FORMAT} {SUITE} {server.name} {server.store} {packages(server)} {patterns}"]
    lines += [f"{server.users} {server.accounts}"]
    built = server.built
    programs = {f"usr/bin/{name}": binaries / name for name in _programs(server)}
    if built:
        lines += [
            f"{built.package} {built.programs}",
            *(f"{short_path(path)} {file_hash(path)}" for path in built.reads),
        ]
        programs = {name: path for name, path in programs.items() if path.name not in built.programs}
    for path in programs.values():
        if not path.is_file():
            needs = server.programs.get(path.name)
            raise UserError(missing(path) + (f"; it needs {needs}" if needs else ""))
    files = overlay(server) | {name: GuestFile(path) for name, path in programs.items()}
    lines += [file_line(name, file) for name, file in files.items()]
    return text_hash("\n".join(lines))


def file_line(name: str, file: GuestFile) -> str:
    """One file of the guest, as a line of the image's inputs."""
    return f"{name} {file.sha256} {file.executable}"


def _patterns(server: Server) -> dict[str, str]:
    """The patterns of files that are kept, each with the file that holds the pattern."""
    keep = RECIPE / "keep.txt"
    return {pattern: short_path(keep) for pattern in read_lines(keep)} | server.keep


def overlay(server: Server) -> dict[str, GuestFile]:
    """Files that are laid over the guest's root, by path. A server's file replaces a common file."""
    return {str(path.relative_to(COMMON)): GuestFile(path) for path in common_files()} | server.files()


def _programs(server: Server) -> list[str]:
    return [*PROGRAMS, *server.programs]


def _users(server: Server, name: str) -> bytes:
    """The lines about the server's own users for the list with that name."""
    form = {USERS: "{0}:x:{1}:{1}::/:/bin/false\n", GROUPS: "{0}:x:{1}:\n"}.get(name, "")
    return "".join(form.format(*user) for user in server.users.items()).encode()

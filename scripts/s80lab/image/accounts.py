# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the list of mail users that a server needs in addition to its programs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from s80lab.config.experiment import ACCOUNTS

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

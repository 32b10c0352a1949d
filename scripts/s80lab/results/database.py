# SPDX-License-Identifier: GPL-2.0-or-later
"""The results database, results/s80lab.sqlite.

    insert_run(database: Path, run_dir: Path) -> None
        Writes the rows of one complete run (manifest.json, stats.json, and transactions.json unless it is a replay) in
        one transaction. Replaces existing rows of the run. Creates the database if it does not exist.
    insert_runs(database: Path, run_dirs: Sequence[Path]) -> int
        Writes many runs in one transaction. Rows that already have equal values stay unchanged. Returns the number of
        changed runs.
    list_runs(database: Path) -> list[dict[str, Any]]
        One row per run, oldest first.

The database uses SQLite's rollback journal and full synchronisation. A killed writer therefore leaves the last complete
state, one file holds everything, and the file works on network file systems of clusters (a write-ahead log would not).
Concurrent writers wait for each other.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from s80lab.base.errors import UserError
from s80lab.base.folder import read_load, read_manifest, read_stats
from s80lab.base.paths import ROOT
from s80lab.results.rows import RunRecord, delete_and_insert, is_entered

__all__ = ["insert_run", "insert_runs", "list_runs"]

SCHEMA_FILE = ROOT / "results" / "schema.sql"
SCHEMA_VERSION = 4
BUSY_TIMEOUT_S = 60.0


def insert_run(database: Path, run_dir: Path) -> None:
    """See the module's docstring. Raises UserError if the run is incomplete or the database is not usable."""
    run = _read(run_dir, database)
    try:
        with _writing(database) as connection:
            delete_and_insert(connection, run)
    except sqlite3.Error as error:
        raise UserError(f"{database}: the run {run.manifest['run']} could not be written ({error})") from None


def insert_runs(database: Path, run_dirs: Sequence[Path]) -> int:
    """See the module's docstring. Raises UserError, without writing a row, if a run is incomplete or the database is
    not usable."""
    changed = 0
    try:
        with _writing(database) as connection:
            for run_dir in run_dirs:
                run = _read(run_dir, database)
                if not is_entered(connection, run):
                    delete_and_insert(connection, run)
                    changed += 1
    except sqlite3.Error as error:
        raise UserError(f"{database}: the runs could not be written ({error})") from None
    return changed


def list_runs(database: Path) -> list[dict[str, Any]]:
    """The rows of the table `run`, oldest first; empty if no database exists."""
    if not database.exists():
        return []
    with closing(connect(database)) as connection:
        connection.row_factory = sqlite3.Row
        _check_version(connection, database)
        return [dict(row) for row in connection.execute("SELECT * FROM run ORDER BY created, id")]


def require_schema(database: Path) -> None:
    """UserError if the database exists and has another schema version."""
    if database.exists():
        with closing(connect(database)) as connection:
            _check_version(connection, database)


def connect(database: Path) -> sqlite3.Connection:
    """A connection for writing, with explicit transactions."""
    connection = sqlite3.connect(database, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _read(run_dir: Path, database: Path) -> RunRecord:
    """The content of a complete run's folder."""
    manifest = read_manifest(run_dir)
    folder = Path(os.path.relpath(run_dir, database.parent)).as_posix()
    return RunRecord(manifest, read_stats(run_dir), read_load(run_dir, manifest), folder)


@contextmanager
def _writing(database: Path) -> Iterator[sqlite3.Connection]:
    """A transaction on the database, which is created if it does not exist."""
    database.parent.mkdir(parents=True, exist_ok=True)
    with closing(connect(database)) as connection, _transaction(connection):
        _ensure_schema(connection, database)
        yield connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _ensure_schema(connection: sqlite3.Connection, database: Path) -> None:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables:
        _check_version(connection, database)
        return
    statement = ""
    for line in SCHEMA_FILE.read_text(encoding="utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def _check_version(connection: sqlite3.Connection, database: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != SCHEMA_VERSION:
        age = "an older" if version < SCHEMA_VERSION else "a newer"
        raise UserError(
            f"{database}: has schema {version} of {age} version of s80lab; this version needs schema {SCHEMA_VERSION}. "
            "Move the file away: the next run creates a new one, and the run folders keep the old results"
        )

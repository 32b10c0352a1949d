# SPDX-License-Identifier: GPL-2.0-or-later
"""The results database, results/s80lab.sqlite.

The database uses SQLite's rollback journal and full synchronisation. A killed writer therefore leaves the last complete
state, one file holds everything, and the file works on network file systems of clusters (a write-ahead log would not).
Concurrent writers wait for each other.

The first writer fills a database under another name and then renames it. Therefore, a first write that fails or is
killed leaves no database. A file without tables is treated as if it did not exist.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from s80lab.base.errors import UserError
from s80lab.base.paths import ROOT
from s80lab.base.staging import held
from s80lab.base.strict import short_path
from s80lab.results.run_folder import RunFolder

SCHEMA_FILE = ROOT / "results" / "schema.sql"
_STATEMENT = re.compile(r"((?:^-- .*\n)+)CREATE (TABLE|VIEW) (\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Listed:
    """A table or view. text: the first sentence of its comment."""

    name: str
    kind: Literal["table", "view"]
    text: str


def list_tables() -> list[Listed]:
    """The views of valid runs, then the views of all runs, then the tables, each in the order of the schema."""
    found = []
    for comment, kind, name in _STATEMENT.findall(SCHEMA_FILE.read_text(encoding="utf-8")):
        text = " ".join(line.removeprefix("-- ") for line in comment.splitlines())
        found.append(Listed(name, "view" if kind == "VIEW" else "table", re.split(r"(?<=\.) ", text)[0]))
    return sorted(found, key=lambda one: (one.kind == "table", one.name.endswith("_all")))


# Readers such as `s80lab list` start faster without the modules that writers need: those import numpy.
if TYPE_CHECKING:
    from s80lab.results.rows import RunRecord

__all__ = ["insert_run", "insert_runs", "list_runs"]

SCHEMA_VERSION = 9
BUSY_TIMEOUT_S = 60.0

T = TypeVar("T")


def insert_run(database: Path, run: RunFolder) -> None:
    """Writes the rows of one complete run (manifest.json, stats.json, and transactions.json unless it is a replay) in
    one transaction, in place of existing rows of the run. Creates the database if it does not exist.

    UserError if the run is incomplete, a file differs from its record in the
    manifest, or the database is not usable."""
    from s80lab.results.rows import delete_and_insert

    record = _read(run, run.path, database)

    def insert(connection: sqlite3.Connection) -> None:
        with _named(run.path):
            delete_and_insert(connection, record)

    try:
        _write(database, insert)
    except sqlite3.Error as error:
        raise UserError(f"{database}: the run {run.manifest['run']} could not be written ({error})") from None


def insert_runs(
    database: Path,
    run_dirs: Sequence[Path],
    contents: Mapping[Path, Path] | None = None,
    before_commit: Callable[[], None] = lambda: None,
) -> int:
    """Writes many runs in one transaction; returns the number of changed runs. Rows that already have equal values
    stay.

    UserError, without writing a row, if a run is incomplete, a file of it differs
    from what its manifest lists, or the database is not usable.

    run_dirs: the folders of the runs.
    contents: where the files of a run are at present, for folders that do not exist yet.
    before_commit: called before the transaction ends; if it raises an error, no row is written.
    """
    from s80lab.results.rows import delete_and_insert, is_entered

    def insert(connection: sqlite3.Connection) -> int:
        changed = 0
        for run_dir in run_dirs:
            present = (contents or {}).get(run_dir, run_dir)
            run = _read(RunFolder(present), run_dir, database)
            with _named(run_dir):
                if not is_entered(connection, run):
                    delete_and_insert(connection, run)
                    changed += 1
        before_commit()
        return changed

    try:
        return _write(database, insert)
    except sqlite3.Error as error:
        raise UserError(f"{database}: the runs could not be written ({error})") from None


def list_runs(database: Path) -> list[dict[str, Any]]:
    """The rows of the table `run`, oldest first; empty if no database exists, or if it has no tables.

    UserError if the database is damaged: if a column is missing, or holds a value of another type than it declares.
    """
    try:
        if _is_absent(database):
            return []
        with closing(connect(database)) as connection:
            connection.row_factory = sqlite3.Row
            _check_version(connection, database)
            rows = [dict(row) for row in connection.execute("SELECT * FROM run ORDER BY created, id")]
    except UnicodeDecodeError:
        raise UserError(_damaged(database, "it holds text that is not UTF-8")) from None
    types_of = _types_of_run() if rows else {}
    for row in rows:
        for column, types in types_of.items():
            if column not in row or not isinstance(row[column], types):
                kind = "is missing" if column not in row else f"is {_kind(row[column])}"
                raise UserError(_damaged(database, f"the value of `{column}` in the table `run` {kind}"))
    return rows


def _types_of_run() -> dict[str, tuple[type, ...]]:
    """The Python types that each column of the table `run` may hold."""
    with closing(sqlite3.connect(":memory:")) as connection:
        _create_tables(connection, only="CREATE TABLE run")
        columns = connection.execute('SELECT name, type, "notnull" FROM pragma_table_info(?)', ("run",)).fetchall()
    kinds: dict[str, tuple[type, ...]] = {"TEXT": (str,), "INTEGER": (int,), "REAL": (int, float)}
    return {
        name: kinds[kind] if notnull or name == "id" else (*kinds[kind], type(None)) for name, kind, notnull in columns
    }


def _kind(value: object) -> str:
    return {bytes: "a BLOB", str: "a text", type(None): "NULL"}.get(type(value), "a number")


def _damaged(database: Path, what: str) -> str:
    return (
        f"{short_path(database)}: is damaged, because {what}; move the file away and run `s80lab collect` to enter the "
        "runs into a new database"
    )


def require_schema(database: Path) -> None:
    """UserError if the database exists and has another schema version."""
    if database.exists():
        with closing(connect(database)) as connection:
            check_schema(connection, database)


def check_schema(connection: sqlite3.Connection, database: Path) -> None:
    """UserError if the database has tables and another schema version."""
    if not _is_empty(connection):
        _check_version(connection, database)


def connect(database: Path) -> sqlite3.Connection:
    """A connection for writing, with explicit transactions."""
    connection = sqlite3.connect(database, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _read(run: RunFolder, run_dir: Path, database: Path) -> RunRecord:
    """The content of a complete run. run_dir: the folder that the database names."""
    from s80lab.results.products import check_products
    from s80lab.results.rows import RunRecord

    check_products(run)
    folder = Path(os.path.relpath(run_dir, database.parent)).as_posix()
    return RunRecord(run.manifest, run.stats, run.load, folder)


@contextmanager
def _named(run_dir: Path) -> Iterator[None]:
    """Errors about values that the database cannot store become a UserError that names the folder of the run."""
    try:
        yield
    except (
        *(sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError),
        *(ArithmeticError, LookupError, TypeError, ValueError, AttributeError),
    ) as error:
        raise UserError(
            f"{short_path(run_dir)}: the database cannot store a value of this run ({error}); repeat the run"
        ) from None


def _write(database: Path, work: Callable[[sqlite3.Connection], T]) -> T:
    """Do the work in one transaction on the database, which is created if it does not exist."""
    database.parent.mkdir(parents=True, exist_ok=True)
    if _is_absent(database):
        with held(database.with_name(f".{database.name}.lock"), lambda: None):
            if _is_absent(database):
                return _create(database, work)
    with closing(connect(database)) as connection, _transaction(connection):
        _check_version(connection, database)
        return work(connection)


def _create(database: Path, work: Callable[[sqlite3.Connection], T]) -> T:
    """Do the work on a new database, which appears if the work succeeds. The caller holds the lock."""
    partial = database.with_name(f".{database.name}.partial")
    leftovers = (partial, _journal(partial))
    try:
        for path in leftovers:
            path.unlink(missing_ok=True)
        with closing(connect(partial)) as connection, _transaction(connection):
            _create_tables(connection)
            result = work(connection)
        _journal(database).unlink(missing_ok=True)  # of a database that was moved away
        partial.replace(database)
        return result
    finally:
        for path in leftovers:
            path.unlink(missing_ok=True)


def _is_absent(database: Path) -> bool:
    """Whether there is no database, or only a file without tables, as older versions of s80lab left after a failure."""
    if not database.exists():
        return True
    with closing(connect(database)) as connection:
        return _is_empty(connection)


def _is_empty(connection: sqlite3.Connection) -> bool:
    try:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error:  # the caller's own access reports what is wrong
        return False
    return (tables, version) == (0, 0)


def _journal(database: Path) -> Path:
    return database.with_name(f"{database.name}-journal")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite has ended it itself if the disk is full
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _create_tables(connection: sqlite3.Connection, only: str = "") -> None:
    """Execute the statements of the schema file. only: a word that a statement must contain."""
    statement = ""
    for line in SCHEMA_FILE.read_text(encoding="utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            if only in statement:
                connection.execute(statement)
            statement = ""


def _check_version(connection: sqlite3.Connection, database: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != SCHEMA_VERSION:
        age = "an older" if version < SCHEMA_VERSION else "a newer"
        raise UserError(
            f"{database}: has schema {version} of {age} version of s80lab; this version needs schema {SCHEMA_VERSION}. "
            "Move the file away; `s80lab collect` then enters the run folders in a new one"
        )

# SPDX-License-Identifier: GPL-2.0-or-later
"""Read-only SQL queries on the results database.

The remark about pooled runs comes from the same query with further columns: for each row of the result, the number of
designs (scales, ...) of the runs that the row pools. This works if the query reads tables or views that have these
columns, as all views do. Rows, remark and types of a query are read with one connection."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from rich.console import Console

from s80lab.base.errors import UserError
from s80lab.base.progress import shorten
from s80lab.base.renamed import METRICS, rename_sentence
from s80lab.base.suggest import nearest, suggestion
from s80lab.base.terminal import plain, say, wrapped
from s80lab.results.database import check_schema
from s80lab.results.identity import NOT_POOLED

_POOLS = re.compile(r"\b(avg|sum|total)\s*\(", re.IGNORECASE)
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/|[()]|\w+", re.DOTALL)
_NO_ALIAS = "AS|ON|USING|WHERE|GROUP|ORDER|LIMIT|JOIN|LEFT|INNER|CROSS|NATURAL"
_SOURCE = re.compile(rf"\s*(\w+)(?:\s+AS)?(?:\s+(?!(?:{_NO_ALIAS})\b)(\w+))?", re.IGNORECASE)


def pooled_columns(connection: sqlite3.Connection, sql: str) -> list[str] | None:
    """The columns of NOT_POOLED in which runs differ that one row of the result pools; empty without such rows.

    None if the query takes a mean or a sum, but its source does not have these columns.
    """
    if not _POOLS.search(_without_texts(sql)) or _is_window(sql):
        return []
    for counting in _counting(sql):
        try:
            rows = connection.execute(counting).fetchall()
        except sqlite3.Error:  # another qualifier may fit
            continue
        counts = [row[-len(NOT_POOLED) :] for row in rows]
        return [name for place, name in enumerate(NOT_POOLED) if any(row[place] > 1 for row in counts)]
    return None


def _counting(sql: str) -> Iterator[str]:
    """The query with the columns that count, without a qualifier and with that of the first source."""
    place = _place_of_from(sql)
    if place is None:
        return
    source = _SOURCE.match(sql, place + len("FROM"))
    for qualifier in ("", f"{source[2] or source[1]}." if source else ""):
        columns = "".join(f", count(DISTINCT {qualifier}{name})" for name in NOT_POOLED)
        yield f"{sql[:place].rstrip()}{columns} {sql[place:]}"


def _place_of_from(sql: str) -> int | None:
    """Where the FROM of the outermost SELECT begins; None without one."""
    depth = 0
    for token in _TOKEN.finditer(sql):
        word = token[0].upper()
        depth += (word == "(") - (word == ")")
        if depth == 0 and word == "FROM":
            return token.start()
    return None


def _without_texts(sql: str) -> str:
    """The query with empty texts and without comments."""
    return _TOKEN.sub(lambda token: token[0] if token[0][0].isalnum() or token[0][0] in "_()" else "''", sql)


def _is_window(sql: str) -> bool:
    """Whether the query takes sums of windows only, which leave each row as it is."""
    words = {token[0].upper() for token in _TOKEN.finditer(sql)}
    return "OVER" in words and "GROUP" not in words


T = TypeVar("T")
OUTPUTS = ("table", "csv", "json", "parquet")
HOW_TO_INSTALL = (
    "run `make analysis` in a checkout, or `pip install pandas pyarrow` if s80lab was installed as a package"
)
LONGEST = 1 << 20
"""Most bytes of one value, one row or the SQL text. A longer value would keep SQLite in one function for minutes."""
MOST_MEMORY = 1 << 29
"""Most bytes that the rows of a query may take in memory."""
SHORTEST = 12
"""Characters that a table on a terminal keeps of each text at least."""


class Answer(NamedTuple):
    """The result of a query. remark: a sentence if a row is a mean or a sum over runs of different designs, scales and
    so on; else empty. types: the type of each column, if `select` was to read them: INT, REAL or TEXT; empty for most
    expressions."""

    columns: list[str]
    rows: list[Sequence[Any]]
    remark: str
    types: list[str]


def query(database: Path, sql: str, output: str = "table", console: Console | None = None) -> None:
    """Prints the rows that `sql` selects. Raises UserError for SQL that fails or would write.

    A table that is wider than the terminal has shortened texts, or one line per value.
    """
    columns, rows, remark, _ = select(database, sql)
    if remark:
        say(f"warning: {remark}")
    console = console or Console()
    if output == "table" and console.is_terminal:
        text, whole = _fitted(columns, rows, console.width)
        if not whole:
            say("long texts are shortened to fit the terminal; `--format csv` prints them whole")
    else:
        text = render(columns, rows, output).decode()
        # A file keeps every character; a terminal would obey some of them.
        text = plain(text) if console.is_terminal else text
    console.out(text, end="", highlight=False)


def render(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], output: str, types: Sequence[str] | None = None
) -> bytes:
    """The rows in one of the formats in OUTPUTS. UserError if the format cannot represent them.

    types: the columns' types in the database (`Answer.types`); Parquet columns get them.
    """
    if output not in OUTPUTS:
        raise UserError(f"there is no output format `{output}`, allowed are {', '.join(OUTPUTS)}")
    if output == "parquet":
        return _parquet(columns, rows, types or [])
    return {"table": _table, "csv": _csv, "json": _json}[output](columns, rows).encode()


def select(database: Path, sql: str, typed: bool = False) -> Answer:
    """The result of one SELECT. typed: with the types of the columns."""

    def read(connection: sqlite3.Connection) -> Answer:
        check_schema(connection, database)
        columns, rows = _rows(connection, sql)
        return Answer(columns, rows, _pooling_remark(connection, sql), _types(connection, sql) if typed else [])

    if not database.exists():
        raise UserError(
            f"the results database {database} does not exist yet: run an experiment first, for example `s80lab "
            "run imapb`"
        )
    try:
        _recover(database)
        return _interruptible(read, database)
    except sqlite3.DataError:
        raise UserError(
            f"the SQL query failed: a value or a row has more than {LONGEST >> 20} MiB; select shorter values"
        ) from None
    except (sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
        raise UserError(f"the SQL query failed: {error}{_known_names(str(error), database)}") from None


def _types(connection: sqlite3.Connection, sql: str) -> list[str]:
    # SQLite states the types of a table, also of expressions such as CAST, but not those of a view.
    selected = sql.rstrip().rstrip(";")
    try:
        connection.execute(f"CREATE TEMP TABLE asked AS SELECT * FROM (\n{selected}\n) LIMIT 0")
        return [str(row[0]).upper() for row in connection.execute("SELECT type FROM pragma_table_info('asked')")]
    except sqlite3.Error:  # a statement that is no SELECT, for example EXPLAIN
        return []


def _pooling_remark(connection: sqlite3.Connection, sql: str) -> str:
    """See `Answer.remark`. sql: a query that has been executed."""
    try:
        found = pooled_columns(connection, sql)
        several = "SELECT count(DISTINCT design) FROM run" if found is None else "SELECT 0"
        designs = connection.execute(several).fetchone()[0]
    except sqlite3.Error:  # a database of another program
        return ""
    if found is None and designs > 1 and "design" not in sql:
        return (
            f"the database has runs of {designs} designs, and this query may pool them: read a view v_..., which has "
            "the column design, and add design to SELECT and GROUP BY"
        )
    if not found:
        return ""
    return (
        f"a row of this result pools runs that differ in {' and '.join(found)}: add {', '.join(found)} to SELECT and "
        "GROUP BY, or choose one value with WHERE"
    )


def _known_names(error: str, database: Path) -> str:
    """A hint if the error is about a table or column that does not exist: the names that exist. Else empty."""
    kind, _, name = error.removeprefix("no such ").partition(": ")
    if not error.startswith("no such ") or kind not in ("table", "column"):
        return ""
    with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        of_database = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
        tables = [row[0] for row in connection.execute(of_database)]
        if kind == "table":
            return f"{_near_tables(name, tables)}; `s80lab query --tables` lists all tables and views"
        of_table = "SELECT name FROM pragma_table_info(?)"
        columns = {row[0] for table in tables for row in connection.execute(of_table, [table])}
    return f"{suggestion(name.rpartition('.')[2], columns)}; docs/reference/database.md lists the columns"


def _near_tables(name: str, tables: Sequence[str]) -> str:
    """The tables and views with the nearest names; empty if no name is near."""
    if renamed := rename_sentence(name, tables):
        return f" ({renamed})"
    near = nearest(name, tables)
    return f" (the nearest: {', '.join(near)})" if near else ""


def _interruptible(work: Callable[[sqlite3.Connection], T], database: Path) -> T:
    """The result of `work` on a read-only connection. A signal ends it at any time.

    SQLite works in a thread of its own, because Python handles signals in the main thread only, and not during a call
    of SQLite. If a signal raises KeyboardInterrupt here, the connection interrupts SQLite; the thread does not
    outlive the process.
    """
    opened: list[sqlite3.Connection] = []
    result: Future[T] = Future()

    def run() -> None:
        try:
            uri = f"{database.resolve().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True, timeout=60, check_same_thread=False)) as connection:
                opened.append(connection)
                connection.set_authorizer(_no_other_files)
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
                result.set_result(work(connection))
        except BaseException as error:  # for the caller, whatever it is
            result.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return result.result()
    except KeyboardInterrupt:
        for connection in opened:
            connection.interrupt()
        raise


def _check_metrics(connection: sqlite3.Connection, sql: str) -> None:
    """UserError if the SQL text names a metric of an older version that no run of the database has."""
    of_metric = "SELECT 1 FROM metric WHERE name = ? OR name GLOB ? || '.*'"
    for old in METRICS:
        if re.search(rf"'{old}[.']", sql) and not connection.execute(of_metric, [old, old]).fetchone():
            raise UserError(f"no run has the metric that the SQL text names: {rename_sentence(old, METRICS.values())}")


def _rows(connection: sqlite3.Connection, sql: str) -> tuple[list[str], list[Sequence[Any]]]:
    _check_metrics(connection, sql)
    cursor = connection.execute(sql)
    if cursor.description is None:
        raise UserError("the SQL text does not read rows: write one SELECT on the table `run` or on a view `v_...`")
    rows: list[Sequence[Any]] = []
    memory = 0
    for row in cursor:
        rows.append(row)
        memory += sys.getsizeof(row) + sum(map(sys.getsizeof, row))
        if memory > MOST_MEMORY:
            raise UserError(
                f"the rows of the query need more than {MOST_MEMORY >> 20} MiB of memory: add LIMIT or WHERE, or "
                "select fewer columns"
            )
    return [column[0] for column in cursor.description], rows


def _no_other_files(action: int, *_: str | None) -> int:
    """Denies ATTACH and VACUUM INTO, which would write other files than the read-only database."""
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK


def _recover(database: Path) -> None:
    """Rolls back the journal of a killed writer, which a read-only connection may not do."""
    if database.with_name(database.name + "-journal").exists():
        with closing(sqlite3.connect(database, timeout=60)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Aligned columns, numbers to the right. Lines are never cut, so the output can be piped."""
    return _lines(columns, [[_cell(value) for value in row] for row in rows], _numeric(columns, rows))


def _numeric(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[bool]:
    """Whether each column contains a number."""
    return [any(isinstance(row[place], int | float) for row in rows) for place in range(len(columns))]


def _lines(columns: Sequence[str], cells: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    lines = [""] * (len(cells) + 1)
    for place, column in enumerate(columns):
        texts = [column, *(row[place] for row in cells)]
        width = max(map(len, texts))
        for number, text in enumerate(texts):
            lines[number] += (text.rjust(width) if numeric[place] else text.ljust(width)) + "  "
    return "".join(line.rstrip() + "\n" for line in lines)


def _fitted(columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int) -> tuple[str, bool]:
    """The table for a terminal, and whether every text in it is whole. Numbers are never shortened.

    If the widest texts must be shortened to less than SHORTEST characters, every value gets a line of its own.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    numeric = _numeric(columns, rows)
    widths = [max(map(len, texts)) for texts in zip(columns, *cells, strict=True)]
    least = [
        size if number else min(size, max(SHORTEST, len(column)))
        for size, number, column in zip(widths, numeric, columns, strict=True)
    ]
    free = width - 2 * (len(columns) - 1)
    if not cells or sum(widths) <= free:
        return _lines(columns, cells, numeric), True
    if sum(least) > free:
        return _records(columns, cells, width), True
    widths = [min(size, max(free, narrow)) for size, narrow in zip(widths, least, strict=True)]
    while sum(widths) > free:
        # The column that can lose most.
        place = max(range(len(widths)), key=lambda place: widths[place] - least[place])
        widths[place] -= 1
    fitting = [[shorten(text, size) for text, size in zip(row, widths, strict=True)] for row in cells]
    return _lines(columns, fitting, numeric), False


def _records(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> str:
    """One line per value, with the name of its column; an empty line between rows."""
    margin = max(map(len, columns)) + 2
    blocks = [
        "".join(
            wrapped(f"{column:<{margin}}{text}", width, margin) + "\n"
            for column, text in zip(columns, row, strict=True)
        )
        for row in cells
    ]
    return "\n".join(blocks)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    text = f"{value:.4g}" if isinstance(value, float) else value.hex() if isinstance(value, bytes) else str(value)
    # A cell may contain text from a file of somebody else. A line feed or tab in it would break the table.
    return plain(text).replace("\n", "\\n").replace("\t", "\\t")


def _csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _json(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    names_apart(columns)
    plain = ([_json_value(value) for value in row] for row in rows)
    return json.dumps([dict(zip(columns, row, strict=True)) for row in plain], indent=1, allow_nan=False) + "\n"


def _parquet(columns: Sequence[str], rows: Sequence[Sequence[Any]], types: Sequence[str]) -> bytes:
    names_apart(columns)
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UserError(
            f"the format parquet needs the package pyarrow, which is not installed: {HOW_TO_INSTALL}"
        ) from None
    declared = dict(enumerate(types))
    known = {"INT": pyarrow.int64(), "REAL": pyarrow.float64(), "TEXT": pyarrow.string()}

    def column(position: int) -> Any:
        values, wanted = [row[position] for row in rows], known.get(declared.get(position, ""))
        try:
            made = pyarrow.array(values, wanted)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
            if wanted is None:
                raise
            made = pyarrow.array(values)
        # Other programs cannot read the type `null` beside files in which the column has values.
        return made.cast(pyarrow.float64()) if made.type == pyarrow.null() else made

    try:
        table = pyarrow.table([column(position) for position in range(len(columns))], names=list(columns))
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
        raise UserError(
            f"a column holds values of several types, which Parquet does not allow ({error}): convert the "
            "column with CAST in the query"
        ) from None
    content = io.BytesIO()
    pyarrow.parquet.write_table(table, content)
    return content.getvalue()


def names_apart(columns: Sequence[str]) -> None:
    """UserError if two columns have the same name."""
    twice = {column for column in columns if columns.count(column) > 1}
    if twice:
        raise UserError(f"two columns of the query are named {', '.join(sorted(twice))}: rename one of them with AS")


def _json_value(value: Any) -> Any:
    """The value as JSON can hold it: bytes as hexadecimal text, infinities as null."""
    if isinstance(value, bytes):
        return value.hex()
    return None if isinstance(value, float) and not math.isfinite(value) else value

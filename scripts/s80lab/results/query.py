# SPDX-License-Identifier: GPL-2.0-or-later
"""Read-only SQL queries on the results database.

query(database, sql, output, console)      prints the rows as a table, CSV or JSON
select(database, sql)                      returns column names and rows
render(columns, rows, output)              returns the rows as the content of a file, in any format including Parquet
"""

from __future__ import annotations

import csv
import io
import json
import math
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console

from s80lab.base.errors import UserError

OUTPUTS = ("table", "csv", "json", "parquet")
HOW_TO_INSTALL = (
    "run `make analysis` in a checkout, or `pip install pandas pyarrow` if s80lab was installed as a package"
)
STEPS = 100_000
"""Steps of SQLite's virtual machine between two checks for signals; they take milliseconds."""


def query(database: Path, sql: str, output: str = "table", console: Console | None = None) -> None:
    """Prints the rows that `sql` selects. Raises UserError for SQL that fails or would write."""
    text = render(*select(database, sql), output).decode()
    (console or Console()).out(text, end="", highlight=False)


def render(columns: Sequence[str], rows: Sequence[Sequence[Any]], output: str) -> bytes:
    """The rows in one of the formats in OUTPUTS. UserError if the format cannot represent them."""
    if output not in OUTPUTS:
        raise UserError(f"there is no output format `{output}`, allowed are {', '.join(OUTPUTS)}")
    if output == "parquet":
        return _parquet(columns, rows)
    return {"table": _table, "csv": _csv, "json": _json}[output](columns, rows).encode()


def select(database: Path, sql: str) -> tuple[list[str], list[Sequence[Any]]]:
    """Column names and rows of one SELECT."""
    if not database.exists():
        raise UserError(
            f"the results database {database} does not exist yet: run an experiment first, for example `s80lab "
            "run imapb`"
        )
    try:
        _recover(database)
        uri = f"{database.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=60)) as connection:
            connection.set_authorizer(_no_other_files)
            # Back into Python now and then, where a signal can end the question.
            connection.set_progress_handler(lambda: 0, STEPS)
            cursor = connection.execute(sql)
            if cursor.description is None:
                raise UserError(
                    "the SQL text does not read rows: write one SELECT on the table `run` or on a view `v_...`"
                )
            return [column[0] for column in cursor.description], cursor.fetchall()
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:
        raise UserError(f"the SQL query failed: {error}") from None


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
    cells = [[_cell(value) for value in row] for row in rows]
    lines = [""] * (len(rows) + 1)
    for position, column in enumerate(columns):
        texts = [column, *(row[position] for row in cells)]
        width = max(map(len, texts))
        numeric = any(isinstance(row[position], int | float) for row in rows)
        for number, text in enumerate(texts):
            lines[number] += (text.rjust(width) if numeric else text.ljust(width)) + "  "
    return "".join(line.rstrip() + "\n" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    text = f"{value:.4g}" if isinstance(value, float) else value.hex() if isinstance(value, bytes) else str(value)
    # What a cell holds may come from a file of somebody else: no escape sequence reaches the terminal.
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


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


def _parquet(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    names_apart(columns)
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UserError(
            f"the format parquet needs the package pyarrow, which is not installed: {HOW_TO_INSTALL}"
        ) from None
    values = [[row[position] for row in rows] for position in range(len(columns))]
    try:
        table = pyarrow.table(values, names=list(columns))
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds means and sums of an SQL query that pool runs of different designs, scales, servers, images or engines.

The check repeats the query with further columns: for each row of the result, the number of designs (scales, ...) of the
runs that the row pools. This works if the query reads tables or views that have these columns, as all views do.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

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

# SPDX-License-Identifier: GPL-2.0-or-later
"""The attributed misses of a run by line, offset and function, in the SQLite file misses.sqlite of the run's folder.

Table `access` has one row per line, offset, function, line of the source and process; view `v_access` shows the texts.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from dataclasses import field as default
from functools import cached_property
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.files import whole
from s80lab.base.vocabulary import LABELS

COUNTS = (
    *("reads", "writes", "upgrades", "memory", *LABELS["state"]),
    *("true_sharing", "false_sharing", "stall_cycles"),
)
"""Numbers of each access. reads, writes: misses of loads, fetches and page walks, and of stores. memory, M, O, E, S:
the source of the misses."""
SUMS: Mapping[str, tuple[str, ...]] = {"transfers": LABELS["state"], "misses": ("reads", "writes")}
"""Numbers that are sums of others. transfers: cache-to-cache transfers."""
SORTS = (*SUMS, *COUNTS)
TEXTS = ("data", "field", "function", "source", "process")
# Raise when the tables or the names in them change.
FORMAT = 1
_SCHEMA = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE text(number INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE line(number INTEGER PRIMARY KEY, address INTEGER NOT NULL, pattern TEXT NOT NULL,
    readers INTEGER NOT NULL, writers INTEGER NOT NULL);
CREATE TABLE access(line INTEGER NOT NULL, offset INTEGER NOT NULL,
    {", ".join(f"{name} INTEGER NOT NULL" for name in (*TEXTS, *COUNTS))});
CREATE VIEW v_access AS SELECT line.address, line.pattern, access.offset,
    {", ".join(f"(SELECT text FROM text WHERE number = access.{name}) AS {name}" for name in TEXTS)},
    {", ".join(f"access.{name}" for name in COUNTS)}
    FROM access JOIN line ON line.number = access.line;
"""


@dataclass(frozen=True)
class Grouped:
    """What is stored. lines: (address, pattern, number of reading cores, number of writing cores) of each line. texts:
    all texts. accesses: (line, offset, one text for each of TEXTS, one number for each of COUNTS)."""

    lines: Iterable[tuple[int, str, int, int]]
    texts: Sequence[str]
    accesses: Iterable[Sequence[int]]


@dataclass
class Access:
    """The requests of one function to one offset of a line. sources, processes: number of requests by line of the
    source, and by process."""

    offset: int
    data: str
    field: str
    function: str
    counts: Counter[str] = default(default_factory=Counter)
    sources: Counter[str] = default(default_factory=Counter)
    processes: Counter[str] = default(default_factory=Counter)


@dataclass
class Line:
    """The requests to one line. readers, writers: number of cores that missed with reads and with stores, over all
    processes. accesses: by offset and function, by offset."""

    address: int
    pattern: str
    readers: int
    writers: int
    counts: Counter[str] = default(default_factory=Counter)
    accesses: list[Access] = default(default_factory=list)

    def largest(self, text: str, count: int = 3) -> list[str]:
        """The most frequent data, fields or functions of the line's requests; texts that are unknown are left out."""
        found: Counter[str] = Counter()
        for access in self.accesses:
            found[getattr(access, text)] += requests(access.counts)
        return [name for name, _ in found.most_common() if name][:count]


def requests(counts: Mapping[str, int]) -> int:
    """Misses and upgrades."""
    return counts["reads"] + counts["writes"] + counts["upgrades"]


def number_of(counts: Mapping[str, int], name: str) -> int:
    """One of SORTS."""
    return sum(counts[part] for part in SUMS.get(name, (name,)))


def write_store(path: Path, meta: Mapping[str, str], grouped: Grouped) -> None:
    """Writes the file completely or not at all. meta: what the result was computed from."""
    with whole(path) as partial, closing(sqlite3.connect(partial)) as connection, connection:
        connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_SCHEMA}")
        connection.executemany("INSERT INTO meta VALUES (?, ?)", {**meta, "format": str(FORMAT)}.items())
        connection.executemany("INSERT INTO text VALUES (?, ?)", enumerate(grouped.texts))
        connection.executemany(
            "INSERT INTO line VALUES (?, ?, ?, ?, ?)", ((number, *line) for number, line in enumerate(grouped.lines))
        )
        marks = ", ".join("?" * (2 + len(TEXTS) + len(COUNTS)))
        connection.executemany(f"INSERT INTO access VALUES ({marks})", grouped.accesses)


def grouped_lines(lines: Sequence[Line]) -> Grouped:
    """Lines as they are stored. Each access has one source and one process."""
    texts: dict[str, int] = {}
    accesses = []
    for number, line in enumerate(lines):
        for access in line.accesses:
            (source,), (process,) = access.sources, access.processes
            named = (access.data, access.field, access.function, source, process)
            numbers = (texts.setdefault(text, len(texts)) for text in named)
            accesses.append((number, access.offset, *numbers, *(access.counts[name] for name in COUNTS)))
    found = [(line.address, line.pattern, line.readers, line.writers) for line in lines]
    return Grouped(found, list(texts), accesses)


class MissStore:
    """Reads misses.sqlite. UserError if the file cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def meta(self) -> dict[str, str]:
        """What the result was computed from; empty if the file is missing or has another format."""
        if not self.path.is_file():
            return {}
        with self._opened() as connection:
            found = dict(connection.execute("SELECT key, value FROM meta"))
        return found if found.get("format") == str(FORMAT) else {}

    @cached_property
    def processes(self) -> dict[str, int]:
        """The processes with their numbers of requests, most first."""
        with self._opened() as connection:
            return dict(
                connection.execute(
                    "SELECT text, SUM(reads + writes + upgrades) AS requests FROM access JOIN text ON number = process "
                    "GROUP BY process ORDER BY requests DESC, text"
                )
            )

    def lines(self, top: int, process: str | None = None, sort: str = "transfers") -> list[Line]:
        """The first lines in the order of a column, largest number first; lines with the number 0 are left out.

        process: count the requests of this process only. sort: one of SORTS.
        """
        parts = SUMS.get(sort, (sort,))
        total = " + ".join(f"SUM({part})" for part in parts)
        with self._opened() as connection:
            chosen = "process = (SELECT number FROM text WHERE text = ?)" if process is not None else "TRUE"
            values = () if process is None else (process,)
            order = [
                number
                for (number,) in connection.execute(
                    f"SELECT line FROM access WHERE {chosen} GROUP BY line HAVING {total} > 0 "
                    f"ORDER BY {total} DESC, line LIMIT ?",
                    (*values, top),
                )
            ]
            marks = ", ".join("?" * len(order))
            found = {
                number: Line(*rest)
                for number, *rest in connection.execute(
                    f"SELECT number, address, pattern, readers, writers FROM line WHERE number IN ({marks})",
                    order,
                )
            }
            texts = dict(connection.execute("SELECT number, text FROM text"))
            rows = connection.execute(
                f"SELECT line, offset, {', '.join((*TEXTS, *COUNTS))} FROM access "
                f"WHERE line IN ({marks}) AND {chosen} ORDER BY line, offset",
                (*order, *values),
            )
            _add_accesses(found, rows, texts)
        return [found[number] for number in order]

    def fields(self, top: int, process: str | None = None, sort: str = "transfers") -> list[tuple[str, Counter[str]]]:
        """The fields with the largest sums over all lines, with their numbers; unknown fields are left out."""
        total = " + ".join(f"SUM({part})" for part in SUMS.get(sort, (sort,)))
        chosen = "AND process = (SELECT number FROM text WHERE text = ?)" if process is not None else ""
        sums = ", ".join(f"SUM({name})" for name in COUNTS)
        with self._opened() as connection:
            rows = connection.execute(
                f"SELECT text, {sums} FROM access JOIN text ON number = field "
                f"WHERE text <> '' {chosen} GROUP BY field HAVING {total} > 0 ORDER BY {total} DESC, text LIMIT ?",
                (*(() if process is None else (process,)), top),
            )
            return [(name, Counter(dict(zip(COUNTS, numbers, strict=True)))) for name, *numbers in rows]

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            uri = f"{self.path.resolve().as_uri()}?mode=ro&immutable=1"
            with closing(sqlite3.connect(uri, uri=True)) as connection:
                yield connection
        except sqlite3.Error as error:
            raise UserError(f"{self.path}: cannot be read ({error}); remove the file and repeat the command") from None


def _add_accesses(lines: Mapping[int, Line], rows: Iterable[Sequence[int]], texts: Mapping[int, str]) -> None:
    """Adds the rows of the table `access` to their lines."""
    found: dict[tuple[int, ...], Access] = {}
    for line, offset, data, name, function, source, process, *numbers in rows:
        key = line, offset, data, name, function
        if key not in found:
            found[key] = Access(offset, texts[data], texts[name], texts[function])
            lines[line].accesses.append(found[key])
        counts = Counter(dict(zip(COUNTS, numbers, strict=True)))
        access = found[key]
        access.counts += counts
        lines[line].counts += counts
        access.sources[texts[source]] += requests(counts)
        access.processes[texts[process]] += requests(counts)
    for one in lines.values():
        one.accesses.sort(key=lambda access: (access.offset, -requests(access.counts), access.function))

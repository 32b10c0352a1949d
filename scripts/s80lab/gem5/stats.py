# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads gem5's stats.txt, dump by dump. gem5/table.py explains the rows.

    for dump in read_dumps(path): dump.vector("...L1Cache_Controller.I.Load"), dump.scalar("simTicks")

gem5 prints the elements of a vector in one row (`name | 2 40.00% 40.00% | ...`), a scalar as `name 5`, and the parts
of any other statistic in a row each (`name::mean 45.5`). Behind an element are its share and the sum of the shares,
which recorded outputs leave out. gem5 omits rows whose value is zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from s80lab.base.errors import UserError

BEGIN = "---------- Begin Simulation Statistics ----------"
END = "---------- End Simulation Statistics   ----------"

Row = tuple[float, ...]

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Dump:
    """One dump. where: the file and the number of the dump, for messages."""

    where: str
    rows: Mapping[str, Row]

    def scalar(self, name: str) -> float:
        """The value of the row. UserError: the row is missing or has several values."""
        row = self.rows.get(name)
        if row is None:
            raise UserError(f"{self.where}: the row `{name}` is missing")
        if len(row) != 1:
            raise UserError(
                f"{self.where}: the row `{name}` has {len(row)} values instead of one; `s80lab gem5 check` shows "
                "whether s80lab can use this gem5"
            )
        return row[0]

    def number(self, name: str) -> float:
        """The value of the row, or zero if the row is missing."""
        return self.scalar(name) if name in self.rows else 0.0

    def vector(self, name: str, length: int) -> Row:
        """The elements of the row, or zeros if the row is missing. UserError: the row has another length."""
        row = self.rows.get(name, (0.0,) * length)
        if len(row) != length:
            raise UserError(f"{self.where}: the row `{name}` has {len(row)} values instead of {length}")
        return row

    def matching(self, pattern: str) -> dict[str, Row]:
        """Rows whose whole name matches the pattern, by the pattern's first group."""
        compiled = re.compile(pattern)
        found = ((compiled.fullmatch(name), row) for name, row in self.rows.items())
        return {match[1]: row for match, row in found if match}


def read_dumps(path: Path, renamed: Mapping[str, str] = NOTHING) -> Iterator[Dump]:
    """All dumps of the file, in order. UserError: the file is cut short or holds no dump.

    renamed: beginnings of names in the file, and the beginnings in gem5/table.py that replace them. facts.json has them
    as `rows`."""
    try:
        with path.open(encoding="utf-8") as file:
            yield from dumps_of(file, str(path), renamed)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from None


def dumps_of(lines: Iterable[str], where: str, renamed: Mapping[str, str] = NOTHING) -> Iterator[Dump]:
    """All dumps of lines that were read from `where`, in order. renamed, UserError: as in read_dumps."""
    rows: dict[str, Row] | None = None
    number = 0
    for line in lines:
        if line.startswith(BEGIN):
            rows, number = {}, number + 1
        elif line.startswith(END):
            if rows is not None:
                yield Dump(f"{where}, dump {number}", _translate(rows, renamed))
            rows = None
        elif rows is not None:
            _take(line, rows, f"{where}, dump {number}")
    if rows is not None:
        raise UserError(
            f"{where}, dump {number}: the end line is missing, because gem5 ended early or the file is "
            "truncated: repeat the run"
        )
    if number == 0:
        raise UserError(
            f"{where}: the file contains no statistics, because gem5 ended before the first dump: repeat the run"
        )


def _translate(rows: Mapping[str, Row], renamed: Mapping[str, str]) -> Mapping[str, Row]:
    def translated(name: str) -> str:
        for theirs, ours in renamed.items():
            if name.startswith(theirs):
                return ours + name.removeprefix(theirs)
        return name

    return {translated(name): row for name, row in rows.items()} if renamed else rows


def _take(line: str, rows: dict[str, Row], where: str) -> None:
    name, *words = line.split("#")[0].split("(Unspecified)")[0].split() or [""]
    if not words:
        return
    try:
        columns = " ".join(words[1:]).split("|") if words[0] == "|" else [words[0]]
        rows[name] = tuple(float(column.split()[0]) for column in columns if column.strip())
    except ValueError:
        raise UserError(f"{where}: the row `{line.strip()}` contains a value that is not a number") from None

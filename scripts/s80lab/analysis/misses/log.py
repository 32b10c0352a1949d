# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the plugin's log of misses (docs/reference/interfaces/miss-log.md) into columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import FailFast, Field

from s80lab.analysis.misses.record_file import LARGEST_PID, Description, RecordFile
from s80lab.base.vocabulary import LABELS

RECORD = np.dtype(
    [
        *((name, "<u8") for name in ("time_ns", "pc", "address", "physical")),
        *((name, "<u4") for name in ("who", "holders")),
        *((name, "<u2") for name in ("reads", "writes", "foreign")),
        *((name, "u1") for name in ("core", "processor", "kind", "request", "source", "supplier", "reason", "sharing")),
        *((name, "u1") for name in ("context", "size")),
        *((name, "<u4") for name in ("stall", "zero")),
    ]
)
MAGIC = b"S80MISS1"
# Physical addresses of x86-64 have 52 bits.
LARGEST_ADDRESS = 1 << 52
_PAGE_MASK = 4095
# Columns of smaller values need not be sorted to be counted. Codes of rows must be smaller than the largest.
_SMALL, _LARGEST = 1 << 20, 1 << 62
_KERNEL_HALF = np.uint64(1 << 63)


@dataclass(frozen=True)
class Who:
    """A task and its current system call (-1: none). tgid: its process; 0: not recorded, as in logs."""

    pid: int
    comm: str
    system_call: int
    tgid: int = 0


@dataclass(frozen=True)
class Distinct:
    """The distinct rows of columns. rows: the values of each row. index: for each record, the number of its row."""

    rows: list[tuple[int, ...]]
    index: NDArray[np.int64]


def distinct(*columns: NDArray[Any]) -> Distinct:
    """The distinct rows of columns of equal length, ordered by the first column, then by the next ones. The values are
    not negative."""
    coded = [_coded(column) for column in columns]
    fitting = 1
    while fitting < len(coded) and math.prod(len(values) for _, values in coded[: fitting + 1]) < _LARGEST:
        fitting += 1
    if fitting < len(columns):
        head = distinct(*columns[:fitting])
        whole = distinct(head.index, *columns[fitting:])
        return Distinct([(*head.rows[first], *rest) for first, *rest in whole.rows], whole.index)
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column, values in coded:
        code = code * len(values) + column
    found, index = np.unique(code, return_inverse=True)
    decoded: list[list[int]] = []
    for _, values in reversed(coded):
        found, inside = np.divmod(found, max(len(values), 1))
        decoded.insert(0, values[inside].tolist())
    return Distinct(list(zip(*decoded, strict=True)), index.reshape(-1).astype(np.int64))


def _coded(column: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """A column as indexes into a list of values, which is ordered."""
    largest = int(column.max(initial=0))
    if largest < _SMALL:
        return column.astype(np.int64), np.arange(largest + 1)
    values, index = np.unique(column, return_inverse=True)
    return index.reshape(-1).astype(np.int64), values


@dataclass(frozen=True)
class Log:
    """The bus requests of one measured region, in the order in which the model processed them."""

    records: NDArray[np.void]
    labels: Mapping[str, Sequence[str]]
    whos: Sequence[Who]
    line_bytes: int
    cores: int
    system_calls: Sequence[str] = ()

    @cached_property
    def misses(self) -> NDArray[np.bool_]:
        """Mask of the records that are misses; all other records are upgrades."""
        return self._is("request", "miss")

    @cached_property
    def by_cache(self) -> NDArray[np.bool_]:
        """Mask of the misses that another core's cache serviced."""
        states = [self.labels["source"].index(state) for state in LABELS["state"]]
        return self.misses & np.isin(self.records["source"], states)

    @cached_property
    def by_memory(self) -> NDArray[np.bool_]:
        return self.misses & self._is("source", "memory")

    @cached_property
    def stores(self) -> NDArray[np.bool_]:
        """Mask of the requests by stores, upgrades included."""
        return self._is("kind", "store")

    @cached_property
    def pid(self) -> NDArray[np.int64]:
        return np.asarray(np.array([who.pid for who in self.whos], dtype=np.int64)[self.records["who"]])

    @cached_property
    def offset(self) -> NDArray[np.int64]:
        """Offset in the line of the first byte that each access uses. The page walker's accesses are known by granule.
        An access that crosses into the next line begins at byte 0 of that line. A fetch uses the whole line."""
        records = self.records
        inside = np.uint64(self.line_bytes - 1)
        exact = (records["address"] & inside).astype(np.int64)
        crossed = ((records["address"] ^ records["physical"]) & np.uint64(_PAGE_MASK) & ~inside) != 0
        used = (records["reads"] | records["writes"]).astype(np.int64)
        granule = np.where(used > 0, np.bitwise_count((used & -used) - 1), 0).astype(np.int64) * self.granule
        return np.asarray(np.where(self._is("kind", "walk"), granule, np.where(crossed, 0, exact)))

    @cached_property
    def byte(self) -> NDArray[np.uint64]:
        """Guest-physical address of the first byte that each access uses."""
        return np.asarray(self.records["physical"] + self.offset.astype(np.uint64), dtype=np.uint64)

    @cached_property
    def codes(self) -> Distinct:
        """The distinct pairs of a thread (pid) and a code address. Kernel code has the pid 0."""
        pc = self.records["pc"]
        return distinct(np.where(pc >= _KERNEL_HALF, 0, self.pid).astype(np.uint64), pc)

    @cached_property
    def bytes(self) -> Distinct:
        """The distinct guest-physical addresses of first bytes."""
        return distinct(self.byte)

    @cached_property
    def own_reads(self) -> NDArray[np.integer[Any]]:
        """For each record, the stores that directly follow a read of the same line by the same core: 0 or 1."""
        order = np.argsort(self.records["physical"], kind="stable")
        lines, cores, stored = self.records["physical"][order], self.records["core"][order], self.stores[order]
        found = np.zeros(len(order), dtype=np.int64)
        if len(order) > 1:
            same = (lines[1:] == lines[:-1]) & (cores[1:] == cores[:-1])
            found[order[1:]] = same & stored[1:] & ~stored[:-1]
        return found

    def requests(self, mask: NDArray[np.bool_]) -> NDArray[np.integer[Any] | np.bool_]:
        """For each record, the number of requests that it adds if the mask selects it."""
        return mask

    @property
    def granule(self) -> int:
        """Bytes per granule: a line's use is recorded in 16 bits, one per granule."""
        return max(1, self.line_bytes // 16)

    def from_state(self, state: str) -> NDArray[np.bool_]:
        """Mask of the misses that a cache serviced which held the line in this state."""
        return self.by_cache & self._is("source", state)

    def shared(self, how: str) -> NDArray[np.bool_]:
        """Mask of the coherence misses due to true or false sharing."""
        return self._is("sharing", how)

    def named(self, column: str) -> NDArray[np.str_]:
        """The labels of a labelled column, one per record."""
        return np.asarray(np.array(self.labels[column])[self.records[column]])

    def callers(self) -> tuple[list[str], NDArray[np.int64]]:
        """`process; kernel entry cause`, with the name of the system call as its cause: the texts, and for each record
        the index of its text."""
        found = distinct(self.records["who"].astype(np.int64), self.records["context"].astype(np.int64))
        numbers: dict[str, int] = {}
        texts = (f"{self.whos[who].comm}; {self._entry(who, context)}" for who, context in found.rows)
        index = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)
        return list(numbers), index[found.index]

    def _entry(self, who: int, context: int) -> str:
        entry = self.labels["entry"][context % len(self.labels["entry"])]
        number = self.whos[who].system_call
        if entry == "system_call" and 0 <= number < len(self.system_calls):
            return self.system_calls[number]
        return entry

    def _is(self, column: str, label: str) -> NDArray[np.bool_]:
        return np.asarray(self.records[column] == self.labels[column].index(label))


class _Description(Description):
    """whos: (pid, process name, system call) of each task."""

    whos: Annotated[
        list[tuple[Annotated[int, Field(ge=0, le=LARGEST_PID)], str, Annotated[int, Field(ge=-1, le=LARGEST_PID)]]],
        FailFast(),
    ]


_FILE = RecordFile(
    MAGIC,
    RECORD,
    _Description,
    "log of misses",
    "copy the folder of the run again, or run the experiment again with --misses",
)


def read_log(path: Path, system_calls: Sequence[str] = (), records: int | None = None) -> Log:
    """Reads a log. UserError if the file is incomplete, or if a value is not one that the plugin writes.

    system_calls: names of the system calls by number. records: the number of records that the log must have, which is
    checked before the records are read; None if it is not known.
    """
    found, described = _FILE.read(path, records)
    limits = {
        "physical": LARGEST_ADDRESS,
        "who": max(len(described.whos), 1),
        "holders": 1 << described.cores,
    }
    aligned = found["physical"] % np.uint64(described.line_bytes) == 0
    _FILE.check(path, found, described, limits, {"physical": aligned})
    # The plugin lists no task of a guest whose kernel it does not know, and writes 0 for all.
    whos = [Who(*who) for who in described.whos] or [Who(0, "unknown", -1)]
    return Log(found, described.labels, whos, described.line_bytes, described.cores, system_calls)


def count_records(path: Path) -> int:
    """The number of records of a complete log."""
    return len(read_log(path).records)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the plugin's log of misses (docs/reference/interfaces/miss-log.md) into columns."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import FailFast, Field, ValidationError, model_validator

from s80lab.base.errors import UserError
from s80lab.base.files import open_regular
from s80lab.base.strict import Strict
from s80lab.base.terminal import counted
from s80lab.config.machine import LINE_BYTES, PROCESSORS

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
# Starts the file. The records follow, then a JSON text, then its length in 8 bytes.
MAGIC = b"S80MISS1"
_LENGTH = struct.Struct("<Q")
_LARGEST_LOG, _LARGEST_DESCRIPTION = 1 << 42, 64 << 20
_LARGEST_PID = (1 << 31) - 1
# Physical addresses of x86-64 have 52 bits.
_LARGEST_ADDRESS = 1 << 52
_NO_CORE = 255
# The labels that the analysis uses; src/plugin/miss_log.cpp writes all of them.
_LABELS = {
    "kind": ("ifetch", "load", "store", "walk"),
    "request": ("miss", "upgrade"),
    "source": ("memory", "M", "O", "E", "S"),
    "reason": ("cold", "capacity", "conflict", "coherence", "none"),
    "sharing": ("none", "true", "false"),
    "class": ("session",),
    "entry": ("user", "system_call"),
}
_AGAIN = "copy the folder of the run again, or run the experiment again with --misses"
_PAGE_MASK = 4095
# Columns of smaller values need not be sorted to be counted. Codes of rows must be smaller than the largest.
_SMALL, _LARGEST = 1 << 20, 1 << 62
_KERNEL_HALF = np.uint64(1 << 63)


@dataclass(frozen=True)
class Who:
    """A task and its current system call (-1: none)."""

    pid: int
    comm: str
    system_call: int


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
        return self.misses & ~self._is("source", "memory")

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

    @property
    def granule(self) -> int:
        """Bytes per granule: a line's use is recorded in 16 bits, one per granule."""
        return max(8, self.line_bytes // 16)

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


class _Description(Strict):
    """The JSON text at the end of a log. whos: (pid, process name, system call) of each task."""

    line_bytes: int = Field(ge=LINE_BYTES[0], le=LINE_BYTES[1])
    cores: int = Field(ge=1, le=PROCESSORS)
    labels: dict[str, list[str]]
    whos: Annotated[
        list[tuple[Annotated[int, Field(ge=0, le=_LARGEST_PID)], str, Annotated[int, Field(ge=-1, le=_LARGEST_PID)]]],
        FailFast(),
    ]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.line_bytes & (self.line_bytes - 1):
            raise ValueError(f"line_bytes = {self.line_bytes} must be a power of two")
        for column, needed in _LABELS.items():
            if not set(needed) <= set(self.labels.get(column, [])):
                raise ValueError(f"labels.{column} must contain {', '.join(needed)}")
        return self


def read_log(path: Path, system_calls: Sequence[str] = (), records: int | None = None) -> Log:
    """Reads a log. UserError if the file is incomplete, or if a value is not one that the plugin writes.

    system_calls: names of the system calls by number. records: the number of records that the log must have, which is
    checked before the records are read; None if it is not known.
    """
    with open_regular(path, _LARGEST_LOG, _AGAIN) as file:
        size = file.seek(0, os.SEEK_END)
        length = _length_of_description(file, size)
        end = size - _LENGTH.size - length
        count, rest = divmod(end - len(MAGIC), RECORD.itemsize)
        if not length or count < 0 or rest:
            raise UserError(f"{path}: is not a complete log of misses; {_AGAIN}")
        if records is not None and count != records:
            raise UserError(
                f"{path}: has {counted(count, 'record')}, but the run counted {records} misses and upgrades; {_AGAIN}"
            )
        file.seek(end)
        described = _description(path, file.read(length))
        file.seek(len(MAGIC))
        found = np.fromfile(file, dtype=RECORD, count=count)
    _check_values(path, found, described)
    # The plugin lists no task of a guest whose kernel it does not know, and writes 0 for all.
    whos = [Who(*who) for who in described.whos] or [Who(0, "unknown", -1)]
    return Log(found, described.labels, whos, described.line_bytes, described.cores, system_calls)


def count_records(path: Path) -> int:
    """The number of records of a complete log."""
    return len(read_log(path).records)


def _length_of_description(file: BinaryIO, size: int) -> int:
    """Bytes of the JSON text; 0 if the file is not a log."""
    file.seek(0)
    if size <= len(MAGIC) + _LENGTH.size or file.read(len(MAGIC)) != MAGIC:
        return 0
    file.seek(size - _LENGTH.size)
    (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
    return int(length) if length <= min(size, _LARGEST_DESCRIPTION) else 0


def _description(path: Path, text: bytes) -> _Description:
    try:
        return _Description.model_validate_json(text)
    except ValidationError as failure:
        error = failure.errors(include_input=False)[0]
        key = ".".join(map(str, error["loc"]))
        raise UserError(
            f"{path}: the description at the end of the file cannot be read ({f'key `{key}`: ' if key else ''}"
            f"{error['msg'].partition(':')[0]}); {_AGAIN}"
        ) from None


def _check_values(path: Path, records: NDArray[np.void], described: _Description) -> None:
    """UserError for the first record with a value that the plugin does not write."""
    labels = described.labels
    limits = {
        "physical": _LARGEST_ADDRESS,
        "who": max(len(described.whos), 1),
        "holders": 1 << described.cores,
        "core": described.cores,
        "processor": PROCESSORS,
        **{column: len(labels[column]) for column in ("kind", "request", "source", "reason", "sharing")},
        "context": len(labels["class"]) * len(labels["entry"]),
        "zero": 1,
    }
    wrong = {column: records[column] >= limit for column, limit in limits.items()}
    wrong["supplier"] = (records["supplier"] >= described.cores) & (records["supplier"] != _NO_CORE)
    wrong["physical"] |= records["physical"] % np.uint64(described.line_bytes) != 0
    for column, bad in wrong.items():
        if bad.any():
            first = int(bad.argmax())
            raise UserError(
                f"{path}: record {first}: the value {records[column][first]} of `{column}` is not possible; {_AGAIN}"
            )

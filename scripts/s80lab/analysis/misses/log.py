# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the plugin's log of misses (docs/reference/interfaces/miss-log.md) into columns."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from s80lab.base.errors import UserError

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


@dataclass(frozen=True)
class Who:
    """A task and its current system call (-1: none)."""

    pid: int
    comm: str
    system_call: int


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
    def byte(self) -> NDArray[np.uint64]:
        """Guest-physical address of the first granule that each access uses."""
        used = (self.records["reads"] | self.records["writes"]).astype(np.int64)
        lowest = np.bitwise_count((used & -used) - 1)
        inside = np.where(used > 0, lowest, 0).astype(np.uint64) * np.uint64(self.granule)
        return np.asarray(self.records["physical"] + inside, dtype=np.uint64)

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

    def callers(self) -> NDArray[np.str_]:
        """`process; kernel entry cause` of each record; for a system call, its name is the cause."""
        keys = np.stack([self.records["who"].astype(np.int64), self.records["context"].astype(np.int64)], axis=1)
        found, numbers = np.unique(keys, axis=0, return_inverse=True)
        texts = [f"{self.whos[who].comm}; {self._entry(who, context)}" for who, context in found.tolist()]
        return np.array(texts)[numbers.reshape(-1)]

    def _entry(self, who: int, context: int) -> str:
        entry = self.labels["entry"][context % len(self.labels["entry"])]
        number = self.whos[who].system_call
        if entry == "system_call" and 0 <= number < len(self.system_calls):
            return self.system_calls[number]
        return entry

    def _is(self, column: str, label: str) -> NDArray[np.bool_]:
        return np.asarray(self.records[column] == self.labels[column].index(label))


def read_log(path: Path, system_calls: Sequence[str] = ()) -> Log:
    """Reads a log. UserError if the file is incomplete. system_calls: names of the system calls by number."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error})") from None
    (length,) = _LENGTH.unpack(content[-_LENGTH.size :]) if len(content) > len(MAGIC) + _LENGTH.size else (0,)
    end = len(content) - _LENGTH.size - length
    if not content.startswith(MAGIC) or length == 0 or end < len(MAGIC) or (end - len(MAGIC)) % RECORD.itemsize:
        raise UserError(f"{path}: is not a complete log of misses; run the experiment again with --misses")
    try:
        tail = json.loads(content[end : end + length])
        whos = [Who(int(pid), str(comm), int(call)) for pid, comm, call in tail["whos"]]
        labels = {str(name): [str(label) for label in names] for name, names in tail["labels"].items()}
        line_bytes, cores = int(tail["line_bytes"]), int(tail["cores"])
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{path}: the description at the end of the file cannot be read ({error}); run the experiment "
            "again with --misses"
        ) from None
    records = np.frombuffer(content, dtype=RECORD, count=(end - len(MAGIC)) // RECORD.itemsize, offset=len(MAGIC))
    return Log(records, labels, whos, line_bytes, cores, system_calls)

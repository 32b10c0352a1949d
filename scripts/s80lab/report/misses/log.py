# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin's log of misses (docs/reference/interfaces/miss-log.md), as columns."""

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

LOG = "misses.bin"
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
# In front of the records; behind them JSON and, in 8 bytes, its length.
MAGIC = b"S80MISS1"
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Who:
    """A task in a system call, or in none (-1)."""

    pid: int
    comm: str
    system_call: int


@dataclass(frozen=True)
class Log:
    """One measured region's requests to the bus, in the order in which they were played."""

    records: NDArray[np.void]
    labels: Mapping[str, Sequence[str]]
    whos: Sequence[Who]
    line_bytes: int
    cores: int
    system_calls: Sequence[str] = ()

    @cached_property
    def misses(self) -> NDArray[np.bool_]:
        """The others are upgrades."""
        return self._is("request", "miss")

    @cached_property
    def by_cache(self) -> NDArray[np.bool_]:
        """Misses that another core's cache serviced."""
        return self.misses & ~self._is("source", "memory")

    @cached_property
    def by_memory(self) -> NDArray[np.bool_]:
        return self.misses & self._is("source", "memory")

    @cached_property
    def stores(self) -> NDArray[np.bool_]:
        """Of stores, upgrades among them."""
        return self._is("kind", "store")

    @cached_property
    def pid(self) -> NDArray[np.int64]:
        return np.asarray(np.array([who.pid for who in self.whos], dtype=np.int64)[self.records["who"]])

    @cached_property
    def byte(self) -> NDArray[np.uint64]:
        """Guest-physical, of the first granule that the access uses."""
        used = (self.records["reads"] | self.records["writes"]).astype(np.int64)
        lowest = np.bitwise_count((used & -used) - 1)
        inside = np.where(used > 0, lowest, 0).astype(np.uint64) * np.uint64(self.granule)
        return np.asarray(self.records["physical"] + inside, dtype=np.uint64)

    @property
    def granule(self) -> int:
        """Bytes for each of the 16 bits that tell what of a line was used."""
        return max(8, self.line_bytes // 16)

    def from_state(self, state: str) -> NDArray[np.bool_]:
        """Misses that a cache serviced which held the line so."""
        return self.by_cache & self._is("source", state)

    def shared(self, how: str) -> NDArray[np.bool_]:
        """Coherence misses of true or false sharing."""
        return self._is("sharing", how)

    def named(self, column: str) -> NDArray[np.str_]:
        """The labels of a column that has labels."""
        return np.asarray(np.array(self.labels[column])[self.records[column]])

    def callers(self) -> NDArray[np.str_]:
        """`process; entry of the kernel`, with the name of the system call."""
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
    """UserError where the file is not whole. system_calls: their names by number."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error})") from None
    (length,) = _LENGTH.unpack(content[-_LENGTH.size :]) if len(content) > len(MAGIC) + _LENGTH.size else (0,)
    end = len(content) - _LENGTH.size - length
    if not content.startswith(MAGIC) or length == 0 or end < len(MAGIC) or (end - len(MAGIC)) % RECORD.itemsize:
        raise UserError(f"{path}: is no whole log of misses; run it again with --misses")
    try:
        tail = json.loads(content[end : end + length])
        whos = [Who(int(pid), str(comm), int(call)) for pid, comm, call in tail["whos"]]
        labels = {str(name): [str(label) for label in names] for name, names in tail["labels"].items()}
        line_bytes, cores = int(tail["line_bytes"]), int(tail["cores"])
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: what it says of itself cannot be read ({error}); run it again") from None
    records = np.frombuffer(content, dtype=RECORD, count=(end - len(MAGIC)) // RECORD.itemsize, offset=len(MAGIC))
    return Log(records, labels, whos, line_bytes, cores, system_calls)

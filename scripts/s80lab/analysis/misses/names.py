# SPDX-License-Identifier: GPL-2.0-or-later
"""Attributes each miss to the function that missed and to the data in the line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from s80lab.analysis.misses.functions import UNNAMED, Functions
from s80lab.analysis.misses.log import Log
from s80lab.analysis.misses.memory import FREE, UNKNOWN, MemoryMap, What
from s80lab.guest.kernel.symbols import Symbols

# Kinds that give the place of a line, not its data: such a miss is not attributed.
NAMELESS = (FREE, UNKNOWN, "allocated")
_KERNEL_HALF = np.uint64(1 << 63)


@dataclass(frozen=True)
class Named:
    """Attribution of all records. function, what: for each record of the log, an index into `functions` and `whats`."""

    functions: list[str]
    function: NDArray[np.int64]
    whats: list[What]
    what: NDArray[np.int64]

    def named(self) -> NDArray[np.bool_]:
        """Mask of the records whose function and data are both known."""
        good_functions = np.array([not name.endswith(UNNAMED) for name in self.functions])
        good_whats = np.array([what.kind not in NAMELESS for what in self.whats])
        return np.asarray(good_functions[self.function] & good_whats[self.what])


def name_all(log: Log, memory_map: MemoryMap, functions: Functions, symbols: Symbols) -> Named:
    """Attributes every record. Each distinct (process, code address) and each distinct data address is looked up
    once."""
    # A kernel address is the same function whatever the process.
    pc = log.records["pc"]
    pids = np.where(pc >= _KERNEL_HALF, 0, log.pid).astype(np.uint64)
    places, at = np.unique(np.stack([pids, pc], axis=1), axis=0, return_inverse=True)
    function_names: dict[str, int] = {}
    of_place = np.array(
        [function_names.setdefault(functions.name(pid, pc), len(function_names)) for pid, pc in places.tolist()],
        dtype=np.int64,
    )
    bytes_used, byte_at = np.unique(log.byte, return_inverse=True)
    whats: dict[What, int] = {}
    of_byte = np.array(
        [whats.setdefault(memory_map.of(byte, symbols), len(whats)) for byte in bytes_used.tolist()], dtype=np.int64
    )
    return Named(list(function_names), of_place[at.reshape(-1)], list(whats), of_byte[byte_at.reshape(-1)])

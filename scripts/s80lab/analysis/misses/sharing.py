# SPDX-License-Identifier: GPL-2.0-or-later
"""Sharing patterns of lines, derived from the cores that missed on them with loads and stores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from s80lab.analysis.misses.log import Log

PATTERNS = ("one processor", "widely read", "producer-consumer", "migratory", "several writers")


@dataclass(frozen=True)
class Lines:
    """The lines of a log. line: for each record, the index of its line. For each line: numbers, its physical address;
    readers and writers, masks of the cores that missed on it with reads and with stores; pattern, an index into
    PATTERNS."""

    line: NDArray[np.int64]
    numbers: NDArray[np.uint64]
    readers: NDArray[np.uint64]
    writers: NDArray[np.uint64]
    pattern: NDArray[np.int64]


def lines_of(log: Log) -> Lines:
    """All lines of a log with their sharing patterns.

    Migratory: at least half of the stores that missed or requested an upgrade came from the core that was the last to
    read the line. Producer-consumer: one core stores, other cores read.
    """
    numbers, line = np.unique(log.records["physical"], return_inverse=True)
    line = line.reshape(-1)
    core, stores = log.records["core"], log.stores
    bit = np.left_shift(np.uint64(1), core.astype(np.uint64))
    readers, writers = (np.zeros(len(numbers), dtype=np.uint64) for _ in range(2))
    np.bitwise_or.at(readers, line[~stores], bit[~stores])
    np.bitwise_or.at(writers, line[stores], bit[stores])
    count, own = (
        np.bincount(line, weights=weights, minlength=len(numbers)).astype(np.int64).tolist()
        for weights in (log.requests(stores), log.own_reads)
    )
    patterns = [_pattern(*each) for each in zip(readers.tolist(), writers.tolist(), count, own, strict=True)]
    return Lines(line, numbers, readers, writers, np.array(patterns, dtype=np.int64))


def _pattern(readers: int, writers: int, stores: int, own: int) -> int:
    if (readers | writers).bit_count() == 1:
        return PATTERNS.index("one processor")
    if writers == 0:
        return PATTERNS.index("widely read")
    if 2 * own >= stores and writers.bit_count() > 1:
        return PATTERNS.index("migratory")
    return PATTERNS.index("producer-consumer" if writers.bit_count() == 1 else "several writers")


def supply_of(log: Log) -> list[list[int]]:
    """The misses that caches serviced, by the core that missed (row) and the core that supplied the line (column)."""
    matrix = np.zeros((log.cores, log.cores), dtype=np.int64)
    requests = np.asarray(log.requests(log.by_cache)).astype(np.int64)
    chosen = log.records[log.by_cache]
    np.add.at(matrix, (chosen["core"], chosen["supplier"]), requests[log.by_cache])
    found: list[list[int]] = matrix.tolist()
    return found

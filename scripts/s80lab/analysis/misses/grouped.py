# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds up the requests of a log by line, offset, function, line of the source and process."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from s80lab.analysis.misses.log import Log, distinct
from s80lab.analysis.misses.names import Details, Named
from s80lab.analysis.misses.sharing import PATTERNS, Lines
from s80lab.analysis.misses.store import COUNTS, Grouped


def group(log: Log, named: Named, details: Details, lines: Lines) -> Grouped:
    """The rows of misses.sqlite."""
    numbers: dict[str, int] = {}
    columns = [
        _numbered(numbers, [str(what) for what in named.whats])[named.what],
        _numbered(numbers, details.fields)[details.field],
        _numbered(numbers, named.functions)[named.function],
        _numbered(numbers, details.sources)[details.source],
        # One name for the threads that each processor has: `swapper/3`.
        _numbered(numbers, [re.sub(r"/\d+$", "", who.comm) for who in log.whos])[log.records["who"]],
    ]
    found = distinct(lines.line, log.offset, *columns)
    sums = [
        np.bincount(found.index, weights=weights, minlength=len(found.rows)).astype(np.int64).tolist()
        for weights in _weights(log)
    ]
    patterns = (PATTERNS[number] for number in lines.pattern.tolist())
    cores = ((mask.bit_count() for mask in masks.tolist()) for masks in (lines.readers, lines.writers))
    return Grouped(
        lines=zip(lines.numbers.tolist(), patterns, *cores, strict=True),
        texts=list(numbers),
        accesses=((*row, *counts) for row, *counts in zip(found.rows, *sums, strict=True)),
    )


def _weights(log: Log) -> Iterable[NDArray[np.generic]]:
    """For each of COUNTS, the number that each record adds."""
    stores = log.stores
    masks = {
        "reads": log.misses & ~stores,
        "writes": log.misses & stores,
        "upgrades": ~log.misses,
        "memory": log.by_memory,
        **{state: log.from_state(state) for state in "MOES"},
        "true_sharing": log.misses & log.shared("true"),
        "false_sharing": log.misses & log.shared("false"),
    }
    return (log.records["stall"] if name == "stall_cycles" else log.requests(masks[name]) for name in COUNTS)


def _numbered(numbers: dict[str, int], texts: Iterable[str]) -> NDArray[np.int64]:
    """The number of each text; new texts get new numbers."""
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)

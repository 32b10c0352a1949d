# SPDX-License-Identifier: GPL-2.0-or-later
"""A program's contended lines in the form of the attributed misses of a run (analysis/misses/store.py): for the page,
and for the SQLite file of a run. Reads and writes are transfers here; `memory` is 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from s80lab.analysis.misses import store
from s80lab.exec.contention import Access, Line


def stored_lines(lines: Iterable[Line]) -> list[store.Line]:
    """The lines in their order."""
    return [_stored(line) for line in lines]


def _stored(line: Line) -> store.Line:
    found = store.Line(line.physical, line.kind, len(line.readers), len(line.writers))
    for access in line.accesses:
        counts = _numbers(access)
        found.counts.update(counts)
        requests = store.requests(counts)
        found.accesses.append(
            store.Access(
                access.offset,
                access.data,
                access.declared,
                access.code,
                counts,
                Counter({access.source: requests}),
                Counter({access.process: requests}),
            )
        )
    return found


def _numbers(access: Access) -> Counter[str]:
    return Counter(
        {
            **access.states,
            "reads": access.loads,
            "writes": access.stores,
            "upgrades": access.upgrades,
            "true_sharing": access.true,
            "false_sharing": access.false,
            "stall_cycles": access.stall_cycles,
        }
    )

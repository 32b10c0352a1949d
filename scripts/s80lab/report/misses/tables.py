# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of attributed misses: coverage, contended data, functions, reasons, supplying cores."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from s80lab.analysis.misses.functions import UNNAMED
from s80lab.analysis.misses.log import Log
from s80lab.analysis.misses.names import Details, Named
from s80lab.analysis.misses.sharing import PATTERNS, Lines, supply_of
from s80lab.base.format import ABSENT
from s80lab.base.vocabulary import LABELS
from s80lab.report.figures.supply import SUPPLY
from s80lab.report.tables import Cell, Row, Table

SHOWN = 20
_FUNCTIONS = 3
_NAMELESS = re.compile(rf"\+0x[0-9a-f]+$|{re.escape(UNNAMED)}$")
Select = NDArray[np.bool_]


def all_tables(log: Log, named: Named, details: Details, lines: Lines) -> list[Table]:
    """All tables, most important first. Misses are L2 misses; upgrades are counted separately."""
    return [
        coverage_table(log, named, details),
        things_table(log, named, lines),
        kinds_table(log, named),
        functions_table(log, named),
        entries_table(log),
        reasons_table(log),
        patterns_table(log, lines),
        supply_table(supply_of(log)),
    ]


def coverage_table(log: Log, named: Named, details: Details) -> Table:
    """How many misses are attributed to a function and to data, and how many names are known."""
    known = named.named()
    table = Table(
        "Attributed misses",
        ("records", "attributed", "with function name", "with field"),
        note="Attributed: function and data in the line are both known. A function that its file does not name is "
        "shown as `file+0xaddress`. Fields are known for variables of the kernel, and for objects of its slab caches.",
    )
    with_name = np.array([not _NAMELESS.search(name) for name in named.functions])[named.function]
    with_field = np.array([bool(name) for name in details.fields])[details.field]
    for label, chosen in (
        ("misses serviced by a cache", log.by_cache),
        ("misses serviced by memory", log.by_memory),
        ("upgrades", ~log.misses),
    ):
        shares = (_percent((mask & chosen).sum(), chosen.sum()) for mask in (known, with_name, with_field))
        table.rows.append(_row(label, int(chosen.sum()), *shares))
    return table


def things_table(log: Log, named: Named, lines: Lines) -> Table:
    """The data of the misses that a cache serviced."""
    chosen = log.by_cache
    table = Table(
        "Data of the misses that a cache serviced",
        ("share", *LABELS["state"], "upgrades", "true sharing", "false sharing", "pattern"),
        note="Share: of all misses that a cache serviced. M, O, E, S: state in the supplying cache, share of the row's "
        "misses. Upgrades: share of all upgrades. True and false sharing: share of the row's misses that are coherence "
        "misses of this type; sharing is true if the access uses bytes that another core has written since. Pattern: "
        "the sharing pattern of most of the row's misses. Below each row: the functions with the most misses.",
    )
    upgrades = ~log.misses
    for number, count in _ranked(named.what[chosen], SHOWN):
        of_it = named.what == number
        here = of_it & chosen
        sources = [_percent((here & log.from_state(s)).sum(), count) for s in LABELS["state"]]
        pattern = Counter(lines.pattern[lines.line[here]].tolist()).most_common(1)[0][0]
        row = _row(
            str(named.whats[number]),
            *(_percent(count, chosen.sum()), *sources, _percent((of_it & upgrades).sum(), upgrades.sum())),
            *(_sharing(log, here, "true"), _sharing(log, here, "false")),
            PATTERNS[pattern],
        )
        table.rows.append(replace(row, detail=_functions(named, here)))
    return table


def kinds_table(log: Log, named: Named) -> Table:
    """Misses by kind of data and source."""
    return _by_source("Misses by kind of data", log, [what.kind for what in named.whats], named.what)


def functions_table(log: Log, named: Named) -> Table:
    """Misses by function and source."""
    table = _by_source("Misses by function", log, named.functions, named.function)
    del table.rows[SHOWN:]
    return table


def entries_table(log: Log) -> Table:
    """Misses by process and kernel entry cause."""
    table = _by_source("Misses by process and kernel entry cause", log, *log.callers())
    del table.rows[2 * SHOWN :]
    return table


def reasons_table(log: Log) -> Table:
    """Misses by reason: cold, capacity, conflict, coherence."""
    return _by_source("Misses by reason", log, log.labels["reason"], log.records["reason"])


def patterns_table(log: Log, lines: Lines) -> Table:
    """Misses by the sharing pattern of the line."""
    return _by_source("Misses by sharing pattern", log, PATTERNS, lines.pattern[lines.line])


def supply_table(matrix: Sequence[Sequence[int]]) -> Table:
    """Matrix of cores (`supply_of`): rows missed, columns supplied the line."""
    table = Table(
        SUPPLY,
        tuple(str(core) for core in range(len(matrix))),
        note="Misses that a cache serviced. Rows: the core that missed. Columns: the core that supplied the line.",
    )
    for core, row in enumerate(matrix):
        table.rows.append(_row(str(core), *row))
    return table


def _by_source(title: str, log: Log, labels: Sequence[str], label: NDArray[Any]) -> Table:
    """One row per label, most misses first: its share of all misses, and of the misses of each source. label: for each
    record, the index of its label."""
    table = Table(
        title,
        (
            "misses",
            "share of all misses",
            "share of misses from memory",
            "share of misses from caches",
            "share of upgrades",
        ),
    )
    sets: Sequence[Select] = (log.misses, log.by_memory, log.by_cache, ~log.misses)
    found, merged = np.unique(np.array(labels), return_inverse=True)
    numbers = merged.reshape(-1)[label]
    counts = [np.bincount(numbers[chosen], minlength=len(found)).tolist() for chosen in sets]
    totals = [int(chosen.sum()) for chosen in sets]
    seen = (place for place in range(len(found)) if counts[0][place] or counts[3][place])
    for place in sorted(seen, key=lambda i: (-counts[0][i], -counts[3][i], i)):
        shares = (_percent(count[place], total) for count, total in zip(counts, totals, strict=True))
        table.rows.append(_row(str(found[place]), counts[0][place], *shares))
    return table


def _ranked(numbers: NDArray[np.int64], limit: int) -> Iterable[tuple[int, int]]:
    """The most frequent numbers with their counts; equal counts are ordered by number."""
    found, counts = np.unique(numbers, return_counts=True)
    order = np.lexsort((found, -counts))[:limit]
    return zip(found[order].tolist(), counts[order].tolist(), strict=True)


def _sharing(log: Log, chosen: Select, which: str) -> str:
    return _percent((chosen & log.shared(which)).sum(), chosen.sum())


def _functions(named: Named, chosen: Select) -> str:
    total = int(chosen.sum())
    ranked = _ranked(named.function[chosen], _FUNCTIONS)
    return ", ".join(f"{named.functions[number]} {100 * count / total:.0f}%" for number, count in ranked)


def _percent(part: float, whole: float) -> str:
    return f"{100 * float(part) / float(whole):.1f}%" if whole else ABSENT


def _row(label: str, *values: object) -> Row:
    show: Callable[[object], str] = lambda value: f"{value:,}" if isinstance(value, int) else str(value)  # noqa: E731
    return Row(label, tuple(Cell(show(value)) for value in values))

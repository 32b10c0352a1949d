# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables, JSON and the part of a page of contended lines: lines, fields, and the offsets and functions of each line, as
in `perf c2c`.

In the browser, a script that the page contains sorts and filters the lines. Without scripts, they are sorted by
transfers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from s80lab.analysis.misses.store import COUNTS, Access, Line, MissStore, number_of, requests
from s80lab.base.errors import UserError
from s80lab.base.format import ABSENT
from s80lab.base.suggest import hint
from s80lab.base.vocabulary import LABELS
from s80lab.report.page import TEMPLATES, template
from s80lab.report.tables import Cell, Row, Table

TOP = 20
# Lines of which the terminal lists the offsets and functions, and the rows of each.
LISTED, ROWS = 5, 12
_TEXTS = 3

COLUMNS: Mapping[str, str] = {
    "transfers": "transfers",
    **{state: state for state in LABELS["state"]},
    "memory": "memory",
    "upgrades": "upgrades",
    "reads": "reads",
    "writes": "writes",
    "true_sharing": "true",
    "false_sharing": "false",
}
"""Numbers in the tables, with their headings."""
_NARROW = {name: COLUMNS[name] for name in ("reads", "writes", "upgrades", "memory", *LABELS["state"])}
MEANING = (
    "Transfers: misses that another cache serviced, which held the line in state M, O, E or S. memory: misses that "
    "memory serviced. Reads, writes: misses by loads, fetches and page walks, and by stores. true, false: misses "
    "because of true and of false sharing; sharing is true if the access uses bytes that another core has written "
    "since."
)


@dataclass(frozen=True)
class Selection:
    """What a user wants to see. process: count the requests of this process only. sort: one of store.SORTS."""

    top: int = TOP
    process: str | None = None
    sort: str = "transfers"


def check_process(store: MissStore, process: str | None) -> None:
    """UserError if no process of this name made a request."""
    if process is not None and process not in store.processes:
        raise UserError(f"--process {process}: no such process made an L2 miss: {hint(process, store.processes)}")


def line_tables(store: MissStore, selection: Selection) -> list[Table]:
    """The lines with the largest numbers, their fields, and the accesses of the first lines."""
    lines = store.lines(selection.top, selection.process, selection.sort)
    return [lines_table(lines, selection), fields_table(store, selection), accesses_table(lines, selection)]


def lines_table(lines: Sequence[Line], selection: Selection) -> Table:
    """One row per line."""
    table = Table(
        f"Lines with the most {_title(selection)}",
        (*COLUMNS.values(), "pattern", "readers", "writers"),
        note=f"Rows: guest-physical address of the line, and what the line holds. {MEANING} Pattern: sharing pattern. "
        "Readers, writers: number of cores that missed on the line with reads and with stores.",
    )
    for line in lines:
        label = f"{line.address:#x} {'; '.join(line.largest('data', _TEXTS))}"
        cells = (*_numbers(line.counts), line.pattern, str(line.readers), str(line.writers))
        detail = "; ".join(line.largest("field", _TEXTS))
        table.rows.append(Row(label, tuple(map(Cell, cells)), detail=detail))
    return table


def fields_table(store: MissStore, selection: Selection) -> Table:
    """One row per field, over all lines: for example the same field of each processor's variable."""
    table = Table(
        f"Fields with the most {_title(selection)}",
        tuple(COLUMNS.values()),
        note="Sums over all lines that hold the field. A row such as `kmalloc-512+0x48` is an offset in an object "
        "of unknown structure.",
    )
    for name, counts in store.fields(selection.top, selection.process, selection.sort):
        table.rows.append(Row(name, tuple(map(Cell, _numbers(counts)))))
    return table


def accesses_table(lines: Sequence[Line], selection: Selection) -> Table:
    """The offsets and functions of the first lines, most requests first."""
    table = Table(
        f"Offsets and functions of the first {min(LISTED, len(lines))} lines",
        ("function", *_NARROW.values(), "processes"),
        note="Rows: offset of the access in the line, and the field. The page and --json have all lines, and the lines "
        "of the source.",
    )
    for line in lines[:LISTED]:
        table.rows.append(Row(f"{line.address:#x} {'; '.join(line.largest('data', _TEXTS))}", (), head=True))
        most = sorted(line.accesses, key=lambda access: -number_of(access.counts, selection.sort))[:ROWS]
        for access in sorted(most, key=lambda access: access.offset):
            cells = (access.function, *_numbers(access.counts, _NARROW), shares(access.processes))
            table.rows.append(Row(f"{access.offset:#04x} {access.field}", tuple(map(Cell, cells))))
    return table


def lines_record(store: MissStore, selection: Selection) -> dict[str, Any]:
    """The lines with all their accesses, and the fields, as plain values."""
    return {
        "process": selection.process,
        "sort": selection.sort,
        "lines": [
            {
                "address": line.address,
                "data": line.largest("data", len(line.accesses)),
                "pattern": line.pattern,
                "readers": line.readers,
                "writers": line.writers,
                **_record(line.counts),
                "accesses": [
                    {
                        "offset": access.offset,
                        "data": access.data,
                        "field": access.field or None,
                        "function": access.function,
                        **_record(access.counts),
                        "sources": {name: count for name, count in access.sources.most_common() if name},
                        "processes": dict(access.processes.most_common()),
                    }
                    for access in line.accesses
                ],
            }
            for line in store.lines(selection.top, selection.process, selection.sort)
        ],
        "fields": [
            {"field": name, **_record(counts)}
            for name, counts in store.fields(selection.top, selection.process, selection.sort)
        ],
    }


def source(access: Access) -> str:
    """The most frequent line of the source."""
    known = [name for name, _ in access.sources.most_common() if name]
    return known[0] if known else ABSENT


def shares(processes: Counter[str]) -> str:
    """The processes with most requests, with their shares: `imap 60%, lmtp 30%`."""
    return ", ".join(f"{name} {100 * count / processes.total():.0f}%" for name, count in processes.most_common(_TEXTS))


def _title(selection: Selection) -> str:
    what = {state: f"transfers from {state}" for state in LABELS["state"]}
    name = what.get(selection.sort, selection.sort.replace("_", " "))
    name = {"memory": "misses that memory serviced"}.get(name, name)
    return name + (f", process {selection.process}" if selection.process is not None else "")


def _numbers(counts: Mapping[str, int], columns: Iterable[str] = COLUMNS) -> list[str]:
    return [f"{number_of(counts, name):,}" for name in columns]


def _record(counts: Mapping[str, int]) -> dict[str, int]:
    return {"transfers": number_of(counts, "transfers"), **{name: counts[name] for name in COUNTS}}


SHOWN = 200
# Rows of a line: the accesses with most requests.
ROWS = 40
# Processes that the page can select.
PROCESSES = 30


_NOTE = (
    "A choice of a process hides the lines and rows that the process did not request; the numbers still count all "
    "processes. The option `--process` of `s80lab misses` counts one process."
)


def lines_section(store: MissStore) -> Markup:
    """The lines with the most transfers."""
    return lines_html(store.lines(SHOWN), list(store.processes), COLUMNS, MEANING, _NOTE)


def lines_html(
    lines: Sequence[Line], processes: Sequence[str], columns: Mapping[str, str], meaning: str, note: str
) -> Markup:
    """The table of these lines. processes: by their requests, most first. columns: headings of the numbers. meaning: of
    the numbers; note: a text behind the table."""
    text = template("lines.html.j2", number=number_of).render(
        lines=[(line, most_accesses(line)) for line in lines],
        columns=columns,
        meaning=meaning,
        note=note,
        processes=processes[:PROCESSES],
        style=(TEMPLATES / "lines.css").read_text(encoding="utf-8"),
        script=(TEMPLATES / "lines.js").read_text(encoding="utf-8"),
        source=source,
        shares=shares,
    )
    return Markup(text)


def most_accesses(line: Line) -> Sequence[Access]:
    """The accesses that the page lists, by offset."""
    most = sorted(line.accesses, key=lambda access: -requests(access.counts))[:ROWS]
    return sorted(most, key=lambda access: access.offset)

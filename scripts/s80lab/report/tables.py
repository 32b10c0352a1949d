# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a report as rows of text, which the terminal and the page both render, and as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from s80lab.analysis.groups import Group, Run
from s80lab.analysis.interval import number
from s80lab.analysis.sections import Entry, Section
from s80lab.base.format import ABSENT
from s80lab.report.seeds import averaged_text, has_boots, seeds_text, units_text
from s80lab.results import paper

MISS_TABLES = 3


@dataclass(frozen=True)
class Cell:
    """A number as text. warm: False if the run had not reached steady state; the cell is then printed in italics."""

    text: str
    warm: bool = True


@dataclass(frozen=True)
class Row:
    label: str
    cells: tuple[Cell, ...]
    head: bool = False  # a heading line above the rows that follow
    title: str = ""  # what the row measures: the tooltip of its label
    detail: str = ""  # explanation in sentences, printed below the row


@dataclass
class Table:
    """columns: headings of the cells; the column of row labels has no heading. shown: number of rows that a page shows;
    None: all. The CSV file has all rows."""

    title: str
    columns: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    note: str = ""
    shown: int | None = None


def metrics_table(section: Section, groups: Sequence[Group]) -> Table | None:
    """The metrics of a section: one column per group, and the paper's number in the last column. Rows without any value
    are left out; None if there is no row."""
    entries = [(head, entry) for head, entry in _headed(section.entries) if has_value(entry, groups)]
    if not entries:
        return None
    stated = [paper_says(entry.metric, groups) for _, entry in entries]
    columns = tuple(group.label for group in groups) + (("paper",) if any(stated) else ())
    table = Table(section.title, columns, note=section.note)
    above = ""
    for (head, entry), says in zip(entries, stated, strict=True):
        if head != above:
            table.rows.append(Row(head, (), head=True))
            above = head
        cells = _cells(entry, groups)
        table.rows.append(Row(entry.label, (*cells, Cell(says)) if any(stated) else cells, title=entry.title))
    return table


def table_by_group(
    title: str,
    groups: Sequence[Group],
    entries: Sequence[Entry],
    last: Mapping[str, Callable[[Group], Cell]] | None = None,
    detail: Callable[[Group], str] = lambda group: "",
) -> Table:
    """One row per group and one column per metric. last: further columns, by their titles. detail: the sentences below
    the row of a group."""
    more = last or {}
    table = Table(title, (*(entry.label for entry in entries), *more))
    for group in groups:
        cells = [
            Cell(number(group.estimate(entry.metric), entry.style), warm=not group.marked(entry.metric))
            for entry in entries
        ]
        cells += [cell(group) for cell in more.values()]
        table.rows.append(Row(group.label, tuple(cells), detail=detail(group)))
    return table


def has_value(entry: Entry, groups: Sequence[Group]) -> bool:
    """Whether any group has a value of the entry's metric."""
    return any(group.estimate(entry.metric) is not None for group in groups)


def _headed(entries: Sequence[Entry]) -> list[tuple[str, Entry]]:
    """Each entry with the heading that it stands under."""
    head, headed = "", []
    for entry in entries:
        head = entry.head or head
        headed.append((head, entry))
    return headed


def miss_tables(content: Sequence[Mapping[str, Any]]) -> list[Table]:
    """The most important tables of a run's misses.json, which are the first ones; the run's misses.html has all
    tables."""
    return [table_from(each) for each in content[:MISS_TABLES]]


def runs_with_misses(groups: Sequence[Group]) -> list[tuple[Group, Run]]:
    """Each group whose runs have a log of misses, with the first such run; in the order of the labels."""
    found = ((group, [run for run in group.runs if run.misses]) for group in sorted(groups, key=lambda one: one.label))
    return [(group, runs[0]) for group, runs in found if runs]


def table_from(content: Mapping[str, Any]) -> Table:
    """A table from its JSON form (dataclasses.asdict). Cells of an older version have a third key."""
    rows = [
        Row(**{**row, "cells": tuple(Cell(cell["text"], cell.get("warm", True)) for cell in row["cells"])})
        for row in content["rows"]
    ]
    return Table(content["title"], tuple(content["columns"]), rows, content["note"])


def comparison_note(groups: Sequence[Group]) -> str:
    """How to read the intervals of these groups."""
    if max(len(group.runs) for group in groups) == 1:
        return "One seed per column: there are no intervals, so differences between columns may be chance."
    note = f"Numbers are means over {units_text(groups)} ± the half-width of the 95% confidence interval (Student t)"
    if len(groups) == 1:
        return f"{note}.{averaged_text(groups)}"
    return (
        f"{note}.{averaged_text(groups)} Two numbers can differ significantly although their intervals overlap: "
        "`s80lab compare` tests each difference."
    )


def intervals_note(groups: Sequence[Group]) -> str:
    """How to read the intervals of groups that are not compared with the first; seed counts may differ."""
    most = max(groups, key=lambda group: len(group.runs))
    single = len(most.runs) > 1 and any(len(group.runs) == 1 for group in groups)
    return comparison_note([most]) + (" Rows with one seed have no interval." if single else "")


def paper_says(metric: str, groups: Sequence[Group]) -> str:
    """The paper's number for the first of the groups' mixes for which the paper states one; empty if no group has the
    paper's design."""
    found = (paper.claim_on(metric, group.workload) for group in groups if group.has_design_of_paper)
    claim = next((claim for claim in found if claim is not None), None)
    return "" if claim is None else claim.stated


def _cells(entry: Entry, groups: Sequence[Group]) -> tuple[Cell, ...]:
    """The metric of each group."""
    values = [group.estimate(entry.metric) for group in groups]
    return tuple(
        Cell(number(value, entry.style), warm=value is None or not group.marked(entry.metric))
        for group, value in zip(groups, values, strict=True)
    )


def run_table(groups: Sequence[Group]) -> Table:
    """The runs of each group: inputs, warm-up, errors and speed of the host. Rows without any value are left out."""
    rows: list[tuple[str, str, Callable[[Group], str]]] = [
        ("experiment", "", lambda g: str(g.runs[0].manifest["experiment"])),
        ("machine, protocol", "", lambda g: "{machine}, {protocol}".format(**g.runs[0].manifest)),
        ("engine", "", lambda g: str(g.runs[0].manifest["engine"])),
        ("scale", "", lambda g: str(g.runs[0].manifest["scale"])),
        ("clients, think time", "", clients_and_think),
        (
            "boots and seeds" if any(map(has_boots, groups)) else "seeds",
            "Each seed has a warm-up of its own",
            lambda g: ABSENT if g.imported else seeds_text(g, g.runs),
        ),
        (
            "invalid runs" if any(map(has_boots, groups)) else "invalid seeds",
            "These runs are left out of every mean",
            lambda g: seeds_text(g, g.excluded) or ABSENT,
        ),
        (
            "steady state",
            "reached: the caches are full and the shares no longer drift (docs/background/precision.md)",
            _verdict,
        ),
        ("length of the warm-up, instructions", "Mean over the runs", _warmup_length),
        (
            "errors",
            "Protocol errors, lost connections, missing messages and SMTP errors, sum over the runs",
            lambda g: ABSENT if g.replayed else str(sum(sum(run.load["errors"].values()) for run in g.runs)),
        ),
        (
            "speed of the simulation on the host",
            "Million instructions per second of wall time",
            lambda g: f"{sum(run.manifest['mips'] for run in g.runs) / len(g.runs):,.3g} MIPS",
        ),
    ]
    table = Table("Runs", tuple(group.label for group in groups))
    for label, title, text in rows:
        cells = tuple(Cell(text(group)) for group in groups)
        if any(cell.text != ABSENT for cell in cells):
            table.rows.append(Row(label, cells, title=title))
    return table


def replay_notes(groups: Sequence[Group]) -> list[str]:
    """Limits of groups that gem5 or a replay produced, and the error of filtered captures."""
    notes = []
    engines = {run.manifest["engine"] for group in groups for run in group.runs}
    if "gem5" in engines:
        notes.append(
            "gem5's runs are too short for response times. gem5 does not separate user from kernel code, nor "
            "server from clients. State E stands for Ruby's state M: the only copy of a block, to which this "
            "core has not stored; the copy may have been received dirty. The instruction mix counts "
            "micro-operations. The base CPI contains one cycle per micro-operation and per access that hits "
            "(docs/reference/gem5.md)."
        )
    if "replay" in engines:
        notes.append(
            "A replay plays recorded accesses through another design. The clients cannot react to the timing "
            "of this design, so the report has no response times, no throughput and no checks of the "
            "operational laws."
        )
    statements = {
        (group.label, run.manifest["filter_error"]["statement"])
        for group in groups
        for run in group.runs
        if run.manifest.get("filter_error")
    }
    return notes + [
        f"{label}: {statement}" if len(groups) > 1 else statement for label, statement in sorted(statements)
    ]


def clients_and_think(group: Group) -> str:
    """Number of clients and mean think time, for example "200, 850 ms"; a dash for replays, which have no load
    generator."""
    return ABSENT if group.replayed else "{clients}, {think_ms:g} ms".format(**group.runs[0].load)


def _verdict(group: Group) -> str:
    return "reached" if group.warm else "not reached"


def _warmup_length(group: Group) -> str:
    lengths = [run.stats["warmup"]["instructions"] for run in group.runs]
    return f"{sum(lengths) / len(lengths) / 1e6:,.0f} M"


WIDTH = 110


def wrap(paragraph: str) -> list[str]:
    """The lines of a paragraph, of WIDTH characters at most. Words and code are not divided."""
    return textwrap.wrap(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)


def markdown(table: Table, heading: str = "") -> str:
    """A complete file: title, note, table. heading: heading of the label column. Numbers of runs that had not reached
    steady state are in italics."""
    return "\n".join([f"# {table.title}", *wrap(table.note), "", *markdown_rows(table, heading)]) + "\n"


def markdown_rows(table: Table, heading: str = "") -> list[str]:
    """The lines of the table only. If rows have details, these form the last column."""
    detailed = any(row.detail for row in table.rows)
    columns = [heading, *table.columns, *(["explanation"] if detailed else [])]
    lines = [f"| {' | '.join(columns)} |", "| --- |" + " --- |" * (len(columns) - 1)]
    for row in table.rows:
        cells = [row.label, *map(_text, row.cells), *([row.detail] if detailed else [])]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _text(cell: Cell) -> str:
    return cell.text if cell.warm else f"*{cell.text}*"

# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints a report on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable

from s80lab.analysis.groups import Group
from s80lab.base.errors import UserError
from s80lab.base.suggest import hint
from s80lab.base.terminal import counted, plain, plain_text
from s80lab.report.contents import ReportSection, contents, terminal_tables
from s80lab.report.guest import guest_notes
from s80lab.report.summary import (
    MORE,
    MOST_CONDITIONS,
    summary_by_group,
    summary_lines,
    summary_table,
    with_short_labels,
)
from s80lab.report.tables import Cell, Table, comparison_note, replay_notes
from s80lab.report.validity import invalid_table, verdicts

GAP = 2
"""Blanks between columns."""
UNBROKEN = 20
"""Largest length of a cell that is never broken: a number, with its interval and unit."""


def print_groups(groups: Sequence[Group], console: Console) -> None:
    """Prints warnings, the headline, then all tables. Groups are columns; each group has a table of transactions."""
    for head, why in verdicts(groups):
        console.print(plain_text(head, "bold yellow"), plain_text(why))
    for table in terminal_tables(groups):
        print_table(table, console)
    for note in (*guest_notes(groups), comparison_note(groups), *replay_notes(groups)):
        console.print(plain_text(note, "italic"))


def print_summary(groups: Sequence[Group], console: Console) -> None:
    """Prints verdict, differences and six headline rows: at most summary.LINES lines on a terminal of 80 columns."""
    for text, style in summary_lines(groups):
        console.print(plain_text(text, style))
    console.print()
    named = with_short_labels(groups)
    if len(groups) == 1 and (invalid := invalid_table(named, MOST_CONDITIONS)) is not None:
        print_table(invalid, console)
    table = summary_table(named)
    beside = len(column_parts(table, console.width)) == 1
    print_table(table if beside else summary_by_group(named), console)
    console.print(plain_text(MORE, "dim"))


def find_section(key: str) -> ReportSection:
    """The section of the terminal with this key. UserError if there is none."""
    sections = {section.key: section for section in contents() if section.place == "both"}
    if key not in sections:
        raise UserError(f"--section {key}: the report has no such section: {hint(key, sections)}")
    return sections[key]


def print_section(groups: Sequence[Group], key: str, console: Console) -> None:
    """Prints one section of the report. UserError if no section has this key, or if these runs have no data for it."""
    tables = find_section(key).tables_of(groups)
    if not tables:
        raise UserError(f"--section {key}: these runs have no data for this section")
    for table in tables:
        print_table(table, console, details=True)


def print_table(table: Table, console: Console, *, details: bool = False) -> None:
    """Prints one table and its note; with `details` also the explanations of its rows. A table that is wider than the
    console is printed in parts below each other, each with some of the columns. No number is cut."""
    console.print(plain_text(table.title, "bold"))
    for part, columns in enumerate(column_parts(table, console.width)):
        if part:
            console.print()
        console.print(_rich_table(table, columns, console.width))
    if table.note:
        console.print(plain_text(table.note, "dim"))
    for row in table.rows if details else ():
        if row.detail:
            console.print(plain_text(row.label, "bold"))
            console.print(plain_text(row.detail))
    console.print()


def first_rows(table: Table, width: int, lines: int) -> Table:
    """The table with as many of its first rows as fit into so many lines of a console of `width` characters, and a
    note on the others."""
    most = max(1, lines // len(column_parts(table, width)) - 2)
    left_out = len(table.rows) - most
    if left_out <= 0:
        return table
    note = f"{counted(left_out, 'further row')} on the page; --all prints all rows. {table.note}"
    return replace(table, rows=table.rows[:most], note=note.strip())


def column_parts(table: Table, width: int) -> list[list[int]]:
    """The columns of each part of a table, such that each part fits into `width` characters (or has one column)."""
    label = min(_natural(_labels(table)), max(_longest_word(_labels(table)), width // 3))
    parts: list[list[int]] = [[]]
    room = width - label
    for column in range(len(table.columns)):
        needed = GAP + _least(table, column)
        if parts[-1] and needed > room:
            parts.append([])
            room = width - label
        parts[-1].append(column)
        room -= needed
    return parts


def _rich_table(table: Table, columns: Sequence[int], width: int) -> RichTable:
    """A part of the table. Where it is too wide, labels and heads are broken at blanks, numbers are not."""
    natural = [_natural([table.columns[column], *_texts(table, column)]) for column in columns]
    label = _natural(_labels(table))
    widths = natural
    if label + sum(GAP + one for one in natural) > width:
        widths = [_least(table, column) for column in columns]
        label = min(label, max(width - sum(GAP + one for one in widths), 1))
    shown = RichTable(box=None, pad_edge=False, header_style="dim", padding=(0, GAP, 0, 0))
    shown.add_column("", width=max(label, 4), overflow="fold")
    for column, wide in zip(columns, widths, strict=True):
        shown.add_column(plain_text(table.columns[column]), justify="right", width=wide, overflow="fold")
    for row in table.rows:
        style = "underline" if row.head else ""
        cells = (row.cells[column] for column in columns if column < len(row.cells))
        shown.add_row(plain_text(row.label, style), *(plain_text(cell.text, _style(cell)) for cell in cells))
    return shown


def _least(table: Table, column: int) -> int:
    """The least width of a column in which no number is broken. Longer texts may be broken at blanks."""
    texts = _texts(table, column)
    return max(min(_natural(texts), UNBROKEN), _longest_word([table.columns[column], *texts]))


def _labels(table: Table) -> list[str]:
    return [row.label for row in table.rows]


def _texts(table: Table, column: int) -> list[str]:
    return [row.cells[column].text for row in table.rows if column < len(row.cells)]


def _natural(texts: Sequence[str]) -> int:
    return max((cell_len(plain(line)) for text in texts for line in text.split("\n")), default=0)


def _longest_word(texts: Sequence[str]) -> int:
    return _natural([word for text in texts for word in text.split()])


def _style(cell: Cell) -> str:
    return "" if cell.warm else "yellow italic"

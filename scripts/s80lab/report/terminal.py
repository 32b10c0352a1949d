# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints a report on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from s80lab.report.claims.tables import claims_table
from s80lab.report.commands import commands_tables
from s80lab.report.data import Group
from s80lab.report.guest import guest_notes
from s80lab.report.headline import headline_table
from s80lab.report.tables import Cell, Table, comparison_note, measured_tables, replay_notes, run_table, verdicts
from s80lab.report.transactions import transactions_table


def print_groups(groups: Sequence[Group], console: Console) -> None:
    """Prints warnings, the headline, then all tables. Groups are columns; each group has a table of transactions."""
    for head, why in verdicts(groups):
        console.print(Text(head, style="bold yellow"), Text(why))
    loaded = [group for group in groups if not group.replayed]
    tables = [headline_table(groups), *measured_tables(groups), *(transactions_table(group) for group in loaded)]
    for table in [*tables, *commands_tables(loaded), run_table(groups), claims_table(groups)]:
        print_table(table, console)
    for note in (*guest_notes(groups), comparison_note(groups), *replay_notes(groups)):
        console.print(Text(note, style="italic"))


def print_table(table: Table, console: Console, *, details: bool = False) -> None:
    """Prints one table and its note; with `details` also the explanations of its rows."""
    console.print(Text(table.title, style="bold"))
    shown = RichTable(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    shown.add_column("", min_width=4)
    for column in table.columns:
        shown.add_column(column, justify="right")
    for row in table.rows:
        style = "underline" if row.head else ""
        shown.add_row(Text(row.label, style=style), *(_cell(cell) for cell in row.cells))
    console.print(shown)
    if table.note:
        console.print(Text(table.note, style="dim"))
    for row in table.rows if details else ():
        if row.detail:
            console.print(Text(row.label, style="bold"))
            console.print(Text(row.detail))
    console.print()


def _cell(cell: Cell) -> Text:
    return Text(("≈ " if cell.overlap else "") + cell.text, style="" if cell.warm else "yellow italic")

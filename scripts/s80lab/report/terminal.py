# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints a report on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from s80lab.base.terminal import plain_text
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
        console.print(plain_text(head, "bold yellow"), plain_text(why))
    loaded = [group for group in groups if not group.replayed]
    tables = [headline_table(groups), *measured_tables(groups), *(transactions_table(group) for group in loaded)]
    for table in [*tables, *commands_tables(loaded), run_table(groups), claims_table(groups)]:
        print_table(table, console)
    for note in (*guest_notes(groups), comparison_note(groups), *replay_notes(groups)):
        console.print(plain_text(note, "italic"))


def print_table(table: Table, console: Console, *, details: bool = False) -> None:
    """Prints one table and its note; with `details` also the explanations of its rows."""
    console.print(plain_text(table.title, "bold"))
    shown = RichTable(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    shown.add_column("", min_width=4)
    for column in table.columns:
        shown.add_column(plain_text(column), justify="right")
    for row in table.rows:
        style = "underline" if row.head else ""
        shown.add_row(plain_text(row.label, style), *(_cell(cell) for cell in row.cells))
    console.print(shown)
    if table.note:
        console.print(plain_text(table.note, "dim"))
    for row in table.rows if details else ():
        if row.detail:
            console.print(plain_text(row.label, "bold"))
            console.print(plain_text(row.detail))
    console.print()


def _cell(cell: Cell) -> Text:
    return plain_text(("≈ " if cell.overlap else "") + cell.text, "" if cell.warm else "yellow italic")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a report's table as Markdown."""

from __future__ import annotations

import textwrap

from s80lab.report.tables import Cell, Table

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

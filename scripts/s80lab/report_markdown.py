# SPDX-License-Identifier: GPL-2.0-or-later
"""A report's table as a Markdown file."""

from __future__ import annotations

from s80lab.report_data import NOT_WARM
from s80lab.report_tables import Cell, Table


def markdown(table: Table, heading: str = "") -> str:
    """A whole file: title, note, table. heading: of the rows' names. Numbers of cold caches say so."""
    lines = [
        f"# {table.title}",
        table.note,
        "",
        f"| {heading} | {' | '.join(table.columns)} |",
        "| --- |" + " --- |" * len(table.columns),
    ]
    lines += [f"| {row.label} | {' | '.join(map(_text, row.cells))} |" for row in table.rows]
    return "\n".join(lines) + "\n"


def _text(cell: Cell) -> str:
    return cell.text if cell.warm else f"{cell.text} {NOT_WARM}"

# SPDX-License-Identifier: GPL-2.0-or-later
"""The heat map of core-to-core supply: which L2 supplied the misses of which core. It needs a log of misses."""

from __future__ import annotations

from collections.abc import Sequence

from s80lab.analysis.groups import Group
from s80lab.report.figures.all import Picture, drawn_picture
from s80lab.report.figures.drawing import LINE_PX, SMALL_PX, Drawing
from s80lab.report.figures.style import COLOURS
from s80lab.report.tables import Table, runs_with_misses, table_from

SUPPLY = "Misses by missing and supplying core"
"""Title of the table that holds the numbers."""
CAPTION = (
    "Rows: the core that missed. Columns: the core whose L2 supplied the line. The darker a cell, the more misses. The "
    "last row and column, in another colour and scale, are the sums."
)
_LEFT, _TOP = 24, 38
_LEAST_WIDTH_PX = 320
_CELL_PX, _LEAST_PX, _ROOM_PX = 24, 12, 298
_LABEL_PX = 18
"""Least distance of two labels, which have two digits at most."""
_GAP = 6
"""Between the matrix and the sums."""


def supply_pictures(groups: Sequence[Group]) -> list[Picture]:
    """A heat map for each group with a log of misses: of the run whose tables the report shows."""
    pictures: list[Picture] = []
    for group, run in runs_with_misses(groups):
        tables = (table_from(content) for content in run.misses if content["title"] == SUPPLY)
        for table in tables:
            name = "supply" if not pictures else f"supply-{len(pictures) + 1}"
            label = f"{group.label}, seed {run.manifest['seed']}"
            pictures += [_picture(name, f"{label}: ", matrix) for matrix in [_matrix(table)] if _largest(matrix)]
    return pictures


def supply_pictures_of(table: Table) -> list[Picture]:
    """The heat map of a table; none if this is another table, or if no cache supplied a miss."""
    matrix = _matrix(table) if table.title == SUPPLY else []
    return [_picture("supply", "", matrix)] if _largest(matrix) else []


def _picture(name: str, label: str, matrix: Sequence[Sequence[int]]) -> Picture:
    total, largest = sum(map(sum, matrix)), _largest(matrix)
    misser, supplier = next(
        (row, column) for row, counts in enumerate(matrix) for column, count in enumerate(counts) if count == largest
    )
    summary = (
        f"{label}{total:,} misses that other caches supplied. The largest number is {largest:,} "
        f"({largest / total:.1%}): core {misser} missed and core {supplier} supplied."
    )
    title = f"Heat map of core-to-core supply. {summary}"
    return drawn_picture(name, title, f"{summary} {CAPTION}", [_draw(matrix)], "misses")


def _draw(matrix: Sequence[Sequence[int]]) -> Drawing:
    cores = len(matrix)
    cell = max(_LEAST_PX, min(_CELL_PX, _ROOM_PX // cores))
    every = -(-_LABEL_PX // cell)
    drawing = Drawing(max(_LEAST_WIDTH_PX, _LEFT + cores * cell + _GAP + cell + 2))
    drawing.text(0, SMALL_PX, "rows: core that missed; columns: core that supplied", small=True)
    for core in range(0, cores, every):
        middle = (core + 0.5) * cell
        drawing.text(_LEFT + middle, _TOP - 8, str(core), small=True, anchor="middle")
        drawing.text(_LEFT - 6, _TOP + middle + 4, str(core), small=True, anchor="end")
    sums = [sum(counts) for counts in matrix], [sum(counts) for counts in zip(*matrix, strict=True)]
    colour, largest = COLOURS["M"], _largest(matrix)
    for row, counts in enumerate(matrix):
        for column, count in enumerate(counts):
            tip = f"core {row} missed, core {column} supplied: {count:,}"
            _cell(drawing, column * cell, row * cell, cell, count / largest, colour, tip)
    most = max(max(counts) for counts in sums)
    for core, (missed, supplied) in enumerate(zip(*sums, strict=True)):
        edge = cores * cell + _GAP
        _cell(drawing, edge, core * cell, cell, missed / most, COLOURS["E"], f"core {core} missed: {missed:,}")
        _cell(drawing, core * cell, edge, cell, supplied / most, COLOURS["E"], f"core {core} supplied: {supplied:,}")
    drawing.box(_LEFT, _TOP, cores * cell, cores * cell)
    drawing.text(_LEFT, _TOP + (cores + 1) * cell + _GAP + LINE_PX, f"0 to {largest:,} misses", small=True)
    return drawing


def _cell(drawing: Drawing, x: float, y: float, size: float, share: float, colour: str, tip: str) -> None:
    drawing.box(_LEFT + x, _TOP + y, size, size, fill=colour, opacity=share, frame=False, tip=tip)


def _matrix(table: Table) -> list[list[int]]:
    """The numbers of the table, row by row."""
    return [[int(cell.text.replace(",", "")) for cell in row.cells] for row in table.rows]


def _largest(matrix: Sequence[Sequence[int]]) -> int:
    return max((count for counts in matrix for count in counts), default=0)

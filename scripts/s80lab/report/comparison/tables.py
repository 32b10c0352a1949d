# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from s80lab.analysis.comparison.contrast import Comparison, Contrast
from s80lab.analysis.comparison.functions import FunctionContrast, compare_functions
from s80lab.analysis.groups import Group
from s80lab.base.format import ABSENT, ONE
from s80lab.report.comparison.words import difference_number, effort_lines, ratio_text, signed_text, value_text
from s80lab.report.tables import Cell, Row, Table

FUNCTIONS = 10
"""Number of functions in the table of attributed misses."""
_POINTS = "Differences of shares are in percentage points."
_DESIGNS = (
    f"First row: values. Other rows: differences from the first row. *: the verdict is higher or lower. {_POINTS}"
)


def headline_table(comparison: Comparison) -> Table:
    """The rows that are tested, with verdicts."""
    table = Table("Headline", ("A", "B", "difference", "ratio", "verdict"))
    table.note = " ".join([_POINTS, *effort_lines(comparison)])
    # In two lines, so that the table fits into 80 columns.
    table.rows = [_row(one, Cell(one.verdict.replace(" shown", "\nshown"))) for one in comparison.tested]
    return table


def further_table(comparison: Comparison) -> Table | None:
    """The rows that are not tested; None without any."""
    table = Table("Other values", ("A", "B", "difference", "ratio"), note=f"These rows are not tested. {_POINTS}")
    table.rows = [_row(one) for one in comparison.further]
    return table if table.rows else None


def functions_table(comparison: Comparison) -> Table | None:
    """The functions whose misses differ most; None unless runs on both sides have a log of misses."""
    found = compare_functions(comparison)
    if not found:
        return None
    table = Table(
        "Attributed misses by function",
        ("A", "B", "difference", "change"),
        note="L2 misses per million instructions, largest difference first. Change: the difference as a share of A.",
    )
    table.rows = [_function(one) for one in found[:FUNCTIONS]]
    return table


def runs_table(comparison: Comparison) -> Table:
    """The runs of both sides with their observations."""
    table = Table("Runs", ("side", comparison.unit, "seed"))
    for name, side in (("A", comparison.first), ("B", comparison.second)):
        table.rows += _runs(name, side)
    return table


def designs_table(comparisons: Sequence[Comparison]) -> Table:
    """One row per design: the values of the first design, and the differences of the other designs from it."""
    first = comparisons[0]
    names = list(dict.fromkeys(one.row.name for comparison in comparisons for one in comparison.tested))
    labels = {one.row.name: one.row.label for comparison in comparisons for one in comparison.tested}
    table = Table("Designs", tuple(labels[name] for name in names), note=_DESIGNS)
    values = {one.row.name: Cell(value_text(one.row, one.first)) for one in first.tested}
    table.rows = [Row(first.first.label, tuple(values.get(name, Cell(ABSENT)) for name in names))]
    for comparison in comparisons:
        cells = {one.row.name: Cell(_cell(one)) for one in comparison.tested}
        table.rows.append(Row(comparison.second.label, tuple(cells.get(name, Cell(ABSENT)) for name in names)))
    return table


def tables_of(comparison: Comparison) -> list[Table]:
    """All tables of one comparison, in the order of page and terminal."""
    found = (headline_table(comparison), functions_table(comparison), further_table(comparison), runs_table(comparison))
    return [table for table in found if table is not None]


def _row(one: Contrast, *cells: Cell) -> Row:
    values = (value_text(one.row, one.first), value_text(one.row, one.second), difference_number(one), ratio_text(one))
    return Row(one.row.label, (*map(Cell, values), *cells))


def _cell(one: Contrast) -> str:
    return difference_number(one) + (" *" if one.verdict in ("higher", "lower") else "")


def _function(one: FunctionContrast) -> Row:
    change = ABSENT if one.change is None else f"{100 * one.change:+.0f}%"
    cells = (ONE.text(one.first), ONE.text(one.second), signed_text(one.difference, ONE), change)
    return Row(one.name, tuple(map(Cell, cells)))


def _runs(name: str, side: Group) -> list[Row]:
    return [Row(run.name, (Cell(name), Cell(run.observation[:8]), Cell(str(run.seed)))) for run in side.runs]

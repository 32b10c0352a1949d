# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables on narrow terminals: parts below each other, and no number cut."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from s80lab.report.tables import Cell, Row, Table
from s80lab.report.terminal import column_parts, first_rows, print_table

HEADS = (
    "L2 MPKI",
    "from memory",
    "from M",
    "E-to-M per E fill",
    "upgrades",
    "traffic",
    "CPI",
    "95% interval",
    "verdict",
)
CELLS = ("3.389", "42.5%", "11.8%", "31.0%", "0.322", "4.609", "1.490", "73.1 ± 0.8%", "not comparable")


def designs() -> Table:
    """As many columns as an exploration has, for two designs and one claim."""
    cells = tuple(map(Cell, CELLS))
    labels = ("moesi, l2.size 1MiB", "mesi, l2.size 512KiB", "C15 Misses serviced by memory, share of all misses")
    return Table("All designs", HEADS, [Row("protocols", (), head=True), *(Row(label, cells) for label in labels)])


def lines(table: Table, width: int) -> list[str]:
    text = io.StringIO()
    print_table(table, Console(file=text, width=width))
    return text.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_print_table_at_any_width_shows_every_cell_whole(width: int) -> None:
    shown = lines(designs(), width)
    assert max(map(len, shown)) <= width
    assert all("\u2026" not in line for line in shown)
    for cell in CELLS:
        assert sum(line.count(cell) for line in shown) == 3


def test_print_table_too_wide_repeats_the_labels_in_each_part() -> None:
    assert [line.split("  ")[0] for line in lines(designs(), 80)].count("moesi, l2.size 1MiB") == 2


def test_print_table_that_fits_has_one_part() -> None:
    assert column_parts(designs(), 160) == [list(range(len(HEADS)))]


def test_print_table_breaks_a_long_text_at_blanks_only() -> None:
    words = "SELT 14 ms (mean of 18), VIEW 3 ms (mean of 21)"
    shown = lines(Table("Claims", ("ours",), [Row("slowest, fastest", (Cell(words),))]), 40)
    assert " ".join(line.replace("slowest, fastest", "").strip() for line in shown[2:]).split() == words.split()


def test_first_rows_fit_into_lines_and_name_how_many_are_left_out() -> None:
    rows = [Row(f"point {number}", (Cell("1.0"), Cell("2.0"))) for number in range(40)]
    table = Table("All points", ("first", "second"), rows, "Means over the seeds.")
    beside = first_rows(table, 80, 22)
    assert [row.label for row in beside.rows] == [f"point {number}" for number in range(20)]
    assert beside.note == "20 further rows on the page; --all prints all rows. Means over the seeds."
    in_two_parts = first_rows(table, 18, 22)
    assert len(in_two_parts.rows) == 9
    assert first_rows(in_two_parts, 80, 22) is in_two_parts

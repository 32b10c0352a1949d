# SPDX-License-Identifier: GPL-2.0-or-later
"""The contents of a report: everything that the terminal prints is on the page, and nothing is shown twice. The summary
on the terminal: verdict, differences and six rows in at most 30 lines, whatever the runs are. Tables on narrow
terminals: parts below each other, and no number cut."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from rich.console import Console

from s80lab.analysis.groups import Group, read_groups, read_run
from s80lab.analysis.sections import SECTIONS
from s80lab.base.errors import UserError
from s80lab.report.contents import contents, terminal_tables
from s80lab.report.figures.registry import PICTURES
from s80lab.report.summary import LINES, MOST_GROUPS, ROWS, summary_lines, summary_table
from s80lab.report.tables import Cell, Row, Table
from s80lab.report.terminal import column_parts, first_rows, print_groups, print_section, print_summary, print_table
from s80lab.report.write import write_experiment_report, write_run_report
from s80lab.results.run_folder import RunFolder

LOST_ONCE = ("levels", "classes", "entries", "probes", "requests", "mail", "streams", "kernel")
"""Sections that the page did not show while it selected tables by their titles."""


def page_text(page: Path) -> str:
    """The text of a page, without its tags, with single blanks."""
    content = re.sub(r"</?(code|span)[^>]*>", "", page.read_text(encoding="utf-8").split("</style>", 1)[1])
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", content)).split())


def test_sections_and_figures_have_one_place_in_the_contents() -> None:
    metrics = [key for section in contents() for key in section.metrics]
    figures = [name for section in contents() for name in section.figures]
    assert sorted(metrics) == sorted(section.key for section in SECTIONS)
    assert sorted(figures) == sorted(PICTURES)
    keys = [section.key for section in contents()]
    assert len(keys) == len(set(keys))
    assert set(LOST_ONCE) <= set(metrics)


@pytest.mark.parametrize("mixes", ["imapb-1", "imap?-?"])
def test_terminal_tables_are_on_the_page(runs: Path, tmp_path: Path, mixes: str) -> None:
    folders = sorted(runs.glob(mixes))
    text = page_text(write_experiment_report("report", folders, tmp_path))
    for table in terminal_tables(read_groups(folders)):
        assert table.title in text
        assert " ".join(table.note.replace("`", "").split()) in text
        for row in table.rows:
            cells = " ".join(cell.text for cell in row.cells)
            assert " ".join(f"{row.label} {cells}".split()) in text, f"{table.title}: {row.label}"


def test_terminal_words_are_on_the_page(run_dir: Path) -> None:
    printed = io.StringIO()
    print_groups(read_groups([run_dir]), Console(file=printed, width=1000))
    text = page_text(write_run_report(read_run(RunFolder(run_dir))))
    missing = [word for word in printed.getvalue().replace("`", " ").split() if word not in text]
    assert not missing


@pytest.mark.parametrize("name", ["imapb-1", "imape-1"])
def test_summary_words_are_on_the_page(runs: Path, name: str) -> None:
    groups = read_groups([runs / name])
    text = page_text(write_run_report(read_run(RunFolder(runs / name))))
    lines = [line for line, _ in summary_lines(groups)] + [summary_table(groups).note]
    assert not [word for line in lines for word in line.removesuffix(" ...").split() if word not in text]


def test_figure_without_place_is_last_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PICTURES, "unplaced", replace(PICTURES["cpi"], name="unplaced"))
    last = contents()[-1]
    assert (last.key, last.figures, last.metrics) == ("unplaced", ("unplaced",), ())


def test_link_of_a_table_holds_its_numbers_as_csv(run_dir: Path) -> None:
    page = write_run_report(read_run(RunFolder(run_dir))).read_text(encoding="utf-8")
    (table,) = next(section for section in contents() if section.key == "fills").tables_of(read_groups([run_dir]))
    (link,) = re.findall(
        r'download="fills-of-the-l2-caches[^"]*\.csv" href="data:text/csv;charset=utf-8,([^"]*)"', page
    )
    first, *rows = csv.reader(unquote(link).splitlines())
    assert first == ["", *table.columns]
    assert rows == [[row.label, *(cell.text for cell in row.cells)] for row in table.rows]


def summary(groups: Sequence[Group], width: int = 80) -> list[str]:
    text = io.StringIO()
    print_summary(groups, Console(file=text, width=width))
    return text.getvalue().splitlines()


def test_summary_has_verdict_six_rows_and_where_the_rest_is(runs: Path) -> None:
    lines = summary(read_groups(sorted(runs.glob("imape-?"))))
    assert lines[0] == "Valid: imape · tiny (3 runs)."
    assert lines[1] == "Different from the experiment's file: tiny."
    rows = [line for line in lines if " ± " in line]
    assert len(rows) == len(ROWS) == 6
    assert rows[1].startswith("L2 misses serviced by memory ")
    assert "--all" in lines[-2] + lines[-1]
    assert len(lines) <= 16


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 30])
@pytest.mark.parametrize("label", ["imapb", "imapb · tiny · moesi-dirty-supply · l2.size=2MiB · latency.memory=200"])
def test_summary_of_any_number_of_groups_fits_a_terminal(runs: Path, count: int, label: str) -> None:
    invalid, valid = read_groups(sorted(runs.glob("imap?-?")))
    groups = [replace(group, label=f"{label} {number}") for number in range(count) for group in (invalid, valid)][
        :count
    ]
    lines = summary(groups)
    assert len(lines) <= LINES
    if count > MOST_GROUPS:
        assert any(f"{count - MOST_GROUPS} further groups on the page" in line for line in lines)


def test_summary_table_leaves_out_the_paper_if_the_design_is_not_the_papers(runs: Path) -> None:
    run = runs / "imape-1"
    assert summary_table(read_groups([run])).columns == ("imape · tiny", "paper")
    path = run / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"protocol": "mesi"}))
    assert summary_table(read_groups([run])).columns == ("imape · tiny · mesi",)


def test_section_is_printed_alone_and_an_unknown_one_is_refused(runs: Path) -> None:
    groups = read_groups([runs / "imape-1"])
    text = io.StringIO()
    print_section(groups, "fills", Console(file=text, width=120))
    assert text.getvalue().startswith("Fills of the L2 caches") and "Headline" not in text.getvalue()
    with pytest.raises(UserError, match=r"--section fils: the report has no such section: did you mean fills\?"):
        print_section(groups, "fils", Console())


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

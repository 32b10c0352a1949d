# SPDX-License-Identifier: GPL-2.0-or-later
"""The contents of a report: everything that the terminal prints is on the page, and nothing is shown twice."""

from __future__ import annotations

import csv
import html
import io
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from rich.console import Console

from s80lab.analysis.groups import read_groups
from s80lab.analysis.sections import SECTIONS
from s80lab.report.contents import contents, terminal_tables
from s80lab.report.figures.registry import PICTURES
from s80lab.report.summary import summary_lines, summary_table
from s80lab.report.write import print_experiment, write_experiment_report, write_run_report

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
    print_experiment([run_dir], Console(file=printed, width=1000))
    text = page_text(write_run_report(run_dir))
    missing = [word for word in printed.getvalue().replace("`", " ").split() if word not in text]
    assert not missing


@pytest.mark.parametrize("name", ["imapb-1", "imape-1"])
def test_summary_words_are_on_the_page(runs: Path, name: str) -> None:
    groups = read_groups([runs / name])
    text = page_text(write_run_report(runs / name))
    lines = [line for line, _ in summary_lines(groups)] + [summary_table(groups).note]
    assert not [word for line in lines for word in line.removesuffix(" ...").split() if word not in text]


def test_figure_without_place_is_last_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PICTURES, "unplaced", replace(PICTURES["cpi"], name="unplaced"))
    last = contents()[-1]
    assert (last.key, last.figures, last.metrics) == ("unplaced", ("unplaced",), ())


def test_link_of_a_table_holds_its_numbers_as_csv(run_dir: Path) -> None:
    page = write_run_report(run_dir).read_text(encoding="utf-8")
    (table,) = next(section for section in contents() if section.key == "fills").tables_of(read_groups([run_dir]))
    (link,) = re.findall(
        r'download="fills-of-the-l2-caches[^"]*\.csv" href="data:text/csv;charset=utf-8,([^"]*)"', page
    )
    first, *rows = csv.reader(unquote(link).splitlines())
    assert first == ["", *table.columns]
    assert rows == [[row.label, *(cell.text for cell in row.cells)] for row in table.rows]

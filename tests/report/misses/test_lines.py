# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables, JSON and page of contended lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.miss_log import LINE, details, named, small_log

from s80lab.analysis.misses.run import Analysis, keep
from s80lab.analysis.misses.sharing import lines_of
from s80lab.analysis.misses.store import SORTS, MissStore
from s80lab.base.errors import UserError
from s80lab.commands.line.options import MissSort
from s80lab.report.misses.lines import Selection, check_process, line_tables, lines_record, lines_section
from s80lab.report.misses.page import misses_page, tables_of
from s80lab.results.run_folder import MEMORY_MAP, MISS_LOG


def analysis() -> Analysis:
    log = small_log()
    return Analysis(log, named(log), lines_of(log), details(log), {})


@pytest.fixture
def store(tmp_path: Path) -> MissStore:
    for name in (MISS_LOG, MEMORY_MAP):
        (tmp_path / name).write_bytes(b"")
    return keep(tmp_path, analysis())


def test_tables_of_lines_fields_and_accesses(store: MissStore) -> None:
    lines, fields, accesses = line_tables(store, Selection())
    assert [row.label for row in lines.rows] == [f"{LINE:#x} slab: cache1", f"{2 * LINE:#x} slab: cache2"]
    first = dict(zip(lines.columns, (cell.text for cell in lines.rows[0].cells), strict=True))
    assert (first["transfers"], first["M"], first["O"], first["upgrades"]) == ("3", "2", "1", "1")
    assert (first["true"], first["false"], first["pattern"], first["readers"]) == ("2", "1", "producer-consumer", "3")
    assert [(row.label, row.cells[0].text) for row in fields.rows] == [("object.counter", "2")]
    rows = [(row.label, row.cells[0].text, row.cells[-1].text) for row in accesses.rows if not row.head]
    assert rows[:2] == [("0x00 ", "f2", "imap 100%"), ("0x08 object.counter", "f1", "imap 100%")]


def test_titles_name_the_selection(store: MissStore) -> None:
    selection = Selection(top=1, process="imap", sort="upgrades")
    lines, fields, _ = line_tables(store, selection)
    assert lines.title == "Lines with the most upgrades, process imap" and len(lines.rows) == 1
    assert fields.title == "Fields with the most upgrades, process imap" and fields.rows == []
    assert line_tables(store, Selection(sort="E"))[0].title == "Lines with the most transfers from E"


def test_unknown_process_is_refused(store: MissStore) -> None:
    check_process(store, "imap")
    check_process(store, None)
    with pytest.raises(UserError, match="--process imaap: no such process made an L2 miss: did you mean imap"):
        check_process(store, "imaap")


def test_record_has_all_accesses(store: MissStore) -> None:
    record = lines_record(store, Selection(process="lmtp"))
    (line,) = record["lines"]
    assert (line["address"], line["data"], line["transfers"], line["M"]) == (LINE, ["slab: cache1"], 1, 1)
    (access,) = line["accesses"]
    assert (access["offset"], access["field"], access["function"]) == (8, "object.counter", "f3")
    assert access["sources"] == {} and access["processes"] == {"lmtp": 1}
    assert record["fields"][0]["field"] == "object.counter"


def test_page_lists_lines_with_accesses_and_works_without_network(store: MissStore) -> None:
    page = misses_page("imapb-1", tables_of(analysis(), store), store)
    assert "object.counter" in page and "file.c:10" in page and 'data-processes="lmtp"' in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    # The sortable table replaces the table of lines; all other tables stay.
    assert "Lines with the most transfers</h2>" not in page
    for title in ("Attributed misses", "Contended lines", "Fields with the most transfers", "Misses by function"):
        assert f"{title}</h2>" in page


def test_page_escapes_names(tmp_path: Path) -> None:
    for name in (MISS_LOG, MEMORY_MAP):
        (tmp_path / name).write_bytes(b"")
    found = analysis()
    found.named.functions[1] = "f<script>"
    text = lines_section(keep(tmp_path, found))
    assert "f&lt;script&gt;" in text and "f<script>" not in text


def test_page_without_lines_has_an_empty_table(tmp_path: Path) -> None:
    for name in (MISS_LOG, MEMORY_MAP):
        (tmp_path / name).write_bytes(b"")
    found = analysis()
    found.log.records.setflags(write=True)
    found.log.records["request"] = 1
    found.log.records["source"] = 0
    text = lines_section(keep(tmp_path, found))
    assert "<tbody" not in text and "data-processes=" not in text


def test_sort_option_offers_the_stored_columns() -> None:
    assert set(MissSort.__args__) == set(SORTS)  # type: ignore[attr-defined]

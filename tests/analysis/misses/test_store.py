# SPDX-License-Identifier: GPL-2.0-or-later
"""The stored result: requests by line, offset and function."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.miss_log import LINE, details, named, small_log

from s80lab.analysis.misses.run import Analysis, keep, kept
from s80lab.analysis.misses.sharing import lines_of
from s80lab.analysis.misses.store import MissStore, number_of
from s80lab.base.errors import UserError
from s80lab.results.run_folder import MEMORY_MAP, MISS_LOG, MISS_STORE


def analysis() -> Analysis:
    log = small_log()
    return Analysis(log, named(log), lines_of(log), details(log), {"addr2line": "installed"})


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / MISS_LOG).write_bytes(b"log")
    (tmp_path / MEMORY_MAP).write_bytes(b"map")
    return tmp_path


@pytest.fixture
def store(run: Path) -> MissStore:
    return keep(run, analysis())


def test_lines_are_sorted_by_transfers(store: MissStore) -> None:
    first, second = store.lines(10)  # lines without a transfer are left out
    assert (first.address, second.address) == (LINE, 2 * LINE)
    assert first.pattern == "producer-consumer" and (first.readers, first.writers) == (3, 1)
    expected = {"reads": 3, "writes": 0, "upgrades": 1, "memory": 0, "M": 2, "O": 1, "E": 0, "S": 0}
    assert {name: first.counts[name] for name in expected} == expected
    assert (first.counts["true_sharing"], first.counts["false_sharing"]) == (2, 1)
    assert (number_of(first.counts, "transfers"), number_of(first.counts, "misses")) == (3, 3)
    assert first.counts["stall_cycles"] == 420
    assert [line.address for line in store.lines(1)] == [LINE]


def test_accesses_are_by_offset_and_function(store: MissStore) -> None:
    accesses = store.lines(1)[0].accesses
    assert [(one.offset, one.field, one.function, number_of(one.counts, "misses")) for one in accesses] == [
        (0, "", "f2", 1),
        (8, "object.counter", "f1", 1),
        (8, "object.counter", "f3", 1),
    ]
    assert accesses[0].counts["upgrades"] == 1
    assert accesses[1].sources == {"file.c:10": 1} and accesses[1].processes == {"imap": 1}
    assert accesses[2].sources == {"": 1} and accesses[2].processes == {"lmtp": 1}


def test_process_restricts_the_counts(store: MissStore) -> None:
    assert store.processes == {"imap": 6, "lmtp": 1}
    (line,) = store.lines(10, process="lmtp")
    assert line.address == LINE and number_of(line.counts, "transfers") == 1
    assert store.lines(10, process="smtpd") == []


def test_sort_column_orders_the_lines(store: MissStore) -> None:
    assert [line.address for line in store.lines(10, sort="memory")] == [3 * LINE, 4 * LINE]
    assert [line.address for line in store.lines(10, sort="upgrades")] == [LINE]


def test_fields_are_summed_over_lines(store: MissStore) -> None:
    ((name, counts),) = store.fields(10)
    assert name == "object.counter" and number_of(counts, "transfers") == 2
    assert [name for name, _ in store.fields(10, process="lmtp")] == ["object.counter"]


def test_view_shows_the_texts(run: Path, store: MissStore) -> None:
    del store
    connection = sqlite3.connect(run / MISS_STORE)
    query = (
        "SELECT address, offset, data, field, function, source, process, M FROM v_access WHERE field <> '' ORDER BY 5"
    )
    assert connection.execute(query).fetchall() == [
        (LINE, 8, "slab: cache1", "object.counter", "f1", "file.c:10", "imap", 1),
        (LINE, 8, "slab: cache1", "object.counter", "f3", "", "lmtp", 1),
    ]


@pytest.mark.parametrize("changed", [MISS_LOG, MEMORY_MAP])
def test_stored_result_is_outdated_after_a_change_of_its_inputs(run: Path, changed: str) -> None:
    keep(run, analysis())
    assert kept(run) is not None
    (run / changed).write_bytes(b"other")
    assert kept(run) is None


def test_stored_result_is_outdated_after_debug_files_were_added(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    debug = tmp_path / "debug"
    monkeypatch.setattr("s80lab.base.paths.BUILD", tmp_path)
    log = small_log()
    keep(run, Analysis(log, named(log), lines_of(log), details(log), {"abcd": "", "addr2line": "installed"}))
    assert kept(run) is not None
    (debug / ".build-id" / "ab").mkdir(parents=True)
    (debug / ".build-id" / "ab" / "cd.debug").write_bytes(b"symbols")
    assert kept(run) is None


def test_absent_and_foreign_results_are_not_taken(run: Path) -> None:
    assert kept(run) is None
    (run / MISS_STORE).write_bytes(b"no database")
    with pytest.raises(UserError, match=r"misses\.sqlite: cannot be read"):
        kept(run)
    (run / MISS_STORE).unlink()
    connection = sqlite3.connect(run / MISS_STORE)
    connection.executescript("CREATE TABLE meta(key, value); INSERT INTO meta VALUES ('format', '0')")
    connection.close()
    assert kept(run) is None

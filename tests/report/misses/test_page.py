# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that are computed from a log of misses: a file that does not have its hash is computed again."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.miss_log import details, named, small_log

from s80lab.analysis.misses.run import Analysis
from s80lab.analysis.misses.sharing import lines_of
from s80lab.base.errors import UserError
from s80lab.report.misses import page
from s80lab.report.misses.page import write_misses
from s80lab.report.write import write_pages
from s80lab.results.products import record_products
from s80lab.results.run_folder import MEMORY_MAP, MISS_LOG, MISS_STORE, MISS_TABLES, RunFolder

DERIVED = ("misses.sqlite", "misses.json", "misses.html", "misses.collapsed", "stalls.collapsed")


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The runs whose logs were analysed. The analysis of a file needs the image of a guest; this one is of the small
    log."""
    found: list[Path] = []

    def analyse(run: Path) -> Analysis:
        found.append(run)
        log = small_log()
        return Analysis(log, named(log), lines_of(log), details(log), {})

    monkeypatch.setattr(page, "analyse", analyse)
    monkeypatch.setattr("s80lab.analysis.misses.run.state_now", lambda names: {})
    return found


@pytest.fixture
def run(run_dir: Path, analysed: list[Path]) -> Path:
    for name in (MISS_LOG, MEMORY_MAP):
        (run_dir / name).write_bytes(name.encode())
    record_products(RunFolder(run_dir))
    write_misses(run_dir)
    analysed.clear()
    return run_dir


def sql(statement: str) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        with sqlite3.connect(run / MISS_STORE) as connection:
            connection.executescript(statement)
        connection.close()

    return change


def text(name: str, content: str) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        (run / name).write_text(content)

    return change


def test_current_files_are_not_computed_again(run: Path, analysed: list[Path]) -> None:
    again = write_misses(run)
    assert analysed == [] and [table.title for table in again.tables][:1] == ["Attributed misses"]


def write_missing_pages(run: Path) -> None:
    write_pages(RunFolder(run))


@pytest.mark.parametrize(
    "change",
    [
        sql("UPDATE access SET M = M + 1000000 WHERE rowid = 1"),
        sql("UPDATE access SET reads = 'many'"),
        sql("UPDATE access SET stall_cycles = x'00ff'"),
        sql("UPDATE access SET reads = 1e300"),
        sql("UPDATE line SET address = 'x'"),
        sql("DELETE FROM line"),
        sql("UPDATE meta SET value = '[' WHERE key = 'debug'"),
        sql("UPDATE meta SET value = '[1]' WHERE key = 'debug'"),
        sql(
            "DROP VIEW v_access; DROP TABLE access; CREATE VIEW access AS WITH RECURSIVE n(line) AS "
            "(SELECT 1 UNION ALL SELECT line + 1 FROM n) SELECT line FROM n"
        ),
        text(MISS_STORE, "no database"),
        *(text(MISS_TABLES, content) for content in ("[]", "{}", "5", "null", "[" * 50_000, '{"tables": []}')),
        *(text(name, "other") for name in DERIVED),
        *(lambda run, name=name: (run / name).unlink() for name in DERIVED),
    ],
)
@pytest.mark.parametrize("again", [write_misses, write_missing_pages])
def test_changed_files_are_computed_again(
    change: Callable[[Path], None], again: Callable[[Path], object], run: Path, analysed: list[Path]
) -> None:
    before = {name: (run / name).read_bytes() for name in DERIVED}
    change(run)
    again(run)
    assert analysed == [run]
    assert {name: (run / name).read_bytes() for name in DERIVED} == before


def test_tables_of_another_run_are_computed_again(run: Path, analysed: list[Path]) -> None:
    content = json.loads((run / MISS_TABLES).read_text())
    content["tables"][0]["title"] = "Other"
    (run / MISS_TABLES).write_text(json.dumps(content))
    with pytest.raises(UserError, match=r"misses\.json: is not a file that s80lab wrote for this run; `s80lab misses"):
        _ = RunFolder(run).misses
    write_misses(run)
    assert analysed == [run] and RunFolder(run).misses[0]["title"] != "Other"


@pytest.mark.parametrize("name", [MISS_LOG, MEMORY_MAP])
def test_changed_log_is_refused(name: str, run: Path, analysed: list[Path]) -> None:
    (run / name).write_bytes(b"other")
    with pytest.raises(UserError, match=f"{name}: the file differs from the file that s80lab wrote"):
        write_misses(run)
    assert analysed == []


@pytest.mark.parametrize("name", DERIVED)
def test_pipe_in_place_of_a_file_is_refused(name: str, run: Path, analysed: list[Path]) -> None:
    (run / name).unlink()
    os.mkfifo(run / name)
    with pytest.raises(UserError, match=f"{name}: is a folder, a pipe or a device; remove it"):
        write_misses(run)
    assert analysed == []


def test_tables_of_a_run_without_hashes_stay_readable(run: Path, analysed: list[Path]) -> None:
    folder = RunFolder(run)
    tables = folder.misses
    folder.write_manifest({key: value for key, value in folder.manifest.items() if key != "logs"})
    (run / MISS_TABLES).write_text(json.dumps(tables))
    assert RunFolder(run).misses == tables
    shutil.rmtree(run / "figures", ignore_errors=True)
    write_pages(RunFolder(run))
    assert analysed == []
    write_misses(run)
    assert analysed == [run] and RunFolder(run).misses == tables

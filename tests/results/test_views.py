# SPDX-License-Identifier: GPL-2.0-or-later
"""The views of the database: valid runs only, the columns of v_run, and upgrades of older databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.results.designs import database_of_two_designs

from s80lab.results.database import SCHEMA_FILE, SCHEMA_VERSION, insert_run, list_runs, list_tables
from s80lab.results.identity import COLUMNS, identity
from s80lab.results.query import select
from s80lab.results.run_folder import RunFolder

VIEWS = [one.name for one in list_tables() if one.kind == "view"]
PLAIN = [name for name in VIEWS if not name.endswith("_all")]


@pytest.fixture
def database(runs: Path) -> Path:
    return database_of_two_designs(runs)


def column(database: Path, sql: str) -> list[object]:
    return [row[0] for row in select(database, sql)[1]]


def test_views_of_the_schema_are_known() -> None:
    assert len(PLAIN) >= 11 and "v_run" in PLAIN
    assert {f"{name}_all" for name in PLAIN} == set(VIEWS) - set(PLAIN)


@pytest.mark.parametrize("view", PLAIN)
def test_plain_view_returns_no_invalid_run(database: Path, view: str) -> None:
    assert set(column(database, f"SELECT run FROM {view}")) == {"imape-1", "imape-2", "imape-3"}
    assert set(column(database, f"SELECT status FROM {view}")) == {"result"}
    assert {"imapb-1", "imapb-2", "imapb-3"} < set(column(database, f"SELECT run FROM {view}_all"))
    assert column(database, f"SELECT count(*) FROM (SELECT * FROM {view}_all WHERE status = 'result')") == column(
        database, f"SELECT count(*) FROM {view}"
    )


@pytest.mark.parametrize("view", VIEWS)
def test_view_has_the_columns_of_v_run(database: Path, view: str) -> None:
    columns, _ = select(database, f"SELECT * FROM {view} LIMIT 0")
    assert tuple(columns[: len(COLUMNS)]) == COLUMNS and len(set(columns)) == len(columns)


def test_view_without_valid_runs_is_empty(runs: Path) -> None:
    path = runs.parent / "other.sqlite"
    insert_run(path, RunFolder(runs / "imapb-1"))
    assert all(not column(path, f"SELECT run FROM {view}") for view in PLAIN)


def test_v_run_has_the_identity_of_each_run(database: Path, runs: Path) -> None:
    columns, rows = select(database, "SELECT * FROM v_run_all")
    assert len(rows) == 6
    for row in rows:
        found = dict(zip(columns, row, strict=True))
        run = RunFolder(runs / found["run"])
        assert found == identity(run.manifest, run.stats)


def test_design_differs_if_and_only_if_a_value_differs(runs: Path) -> None:
    run = RunFolder(runs / "imape-1")
    usual = identity(run.manifest, run.stats)["design"]
    assert usual.startswith("s80 · moesi #")
    other = {**run.manifest, "seed": 99, "boot": 7, "run": "other"}
    assert identity(other, run.stats)["design"] == usual
    design = {**run.manifest["design"], "l2.size": 2 << 20}
    found = identity({**run.manifest, "design": design}, run.stats)["design"]
    assert found.startswith("s80 · moesi · l2.size=2MiB #")
    # A value that the text does not show.
    files = {**run.manifest["inputs"], "protocol": "0" * 64}
    assert identity({**run.manifest, "inputs": files}, run.stats)["design"] not in (usual, found)


OLD_VIEWS = "CREATE VIEW v_cache AS SELECT id AS run FROM run; CREATE VIEW v_design AS SELECT id AS run FROM run;"


def make_old(database: Path, version: int) -> None:
    """Turn the database into one of an older schema."""
    added = {4: ("image", "differences", "boot", "design"), 5: ("boot", "design")}[version]
    with closing(sqlite3.connect(database)) as connection:
        for view in VIEWS:
            connection.execute(f"DROP VIEW {view}")
        for name in added:
            connection.execute(f"ALTER TABLE run DROP COLUMN {name}")
        connection.executescript(f"{OLD_VIEWS} PRAGMA user_version = {version};")


@pytest.mark.parametrize("version", [4, 5])
def test_database_of_an_older_schema_is_upgraded_with_one_sentence(
    database: Path, version: int, capsys: pytest.CaptureFixture[str]
) -> None:
    before = select(database, "SELECT * FROM v_design_all ORDER BY run"), list_runs(database)
    make_old(database, version)
    assert set(column(database, "SELECT run FROM v_cache")) == {"imape-1", "imape-2", "imape-3"}
    said = capsys.readouterr().err
    assert f"s80lab.sqlite: upgraded from schema {version} to {SCHEMA_VERSION}: the views v_... now" in said
    assert said.count("\n") == 1
    assert (select(database, "SELECT * FROM v_design_all ORDER BY run"), list_runs(database)) == before
    assert capsys.readouterr().err == ""


def test_upgraded_run_without_folder_has_a_design_of_its_own(
    database: Path, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_old(database, 5)
    for name in ("imape-1", "imape-2"):
        (runs / name / "manifest.json").unlink()
    assert column(database, "SELECT DISTINCT design FROM v_run ORDER BY run")[:2] == [
        "unknown: imape-1",
        "unknown: imape-2",
    ]
    assert "the design of 2 runs without a readable folder is unknown" in capsys.readouterr().err


def test_schema_file_has_the_version_of_the_program() -> None:
    assert f"PRAGMA user_version = {SCHEMA_VERSION};" in SCHEMA_FILE.read_text(encoding="utf-8")

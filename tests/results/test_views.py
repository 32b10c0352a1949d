# SPDX-License-Identifier: GPL-2.0-or-later
"""The views of the database: valid runs only, the columns of v_run, and upgrades of older databases."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.results.designs import database_of_two_designs

from s80lab.results.database import SCHEMA_FILE, SCHEMA_VERSION, insert_run, list_tables
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
    assert set(column(database, f"SELECT status FROM {view}")) == {"valid"}
    assert {"imapb-1", "imapb-2", "imapb-3"} < set(column(database, f"SELECT run FROM {view}_all"))
    assert column(database, f"SELECT count(*) FROM (SELECT * FROM {view}_all WHERE status = 'valid')") == column(
        database, f"SELECT count(*) FROM {view}"
    )


@pytest.mark.parametrize("view", VIEWS)
def test_view_has_the_columns_of_v_run(database: Path, view: str) -> None:
    columns, *_ = select(database, f"SELECT * FROM {view} LIMIT 0")
    assert tuple(columns[: len(COLUMNS)]) == COLUMNS and len(set(columns)) == len(columns)


def test_view_without_valid_runs_is_empty(runs: Path) -> None:
    path = runs.parent / "other.sqlite"
    insert_run(path, RunFolder(runs / "imapb-1"))
    assert all(not column(path, f"SELECT run FROM {view}") for view in PLAIN)


def test_v_run_has_the_identity_of_each_run(database: Path, runs: Path) -> None:
    columns, rows, *_ = select(database, "SELECT * FROM v_run_all")
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


def test_schema_file_has_the_version_of_the_program() -> None:
    assert f"PRAGMA user_version = {SCHEMA_VERSION};" in SCHEMA_FILE.read_text(encoding="utf-8")

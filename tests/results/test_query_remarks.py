# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab query`: warnings about pooled designs, the list of tables, and unknown tables."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.lab import Lab
from tests.results.designs import change, database_of_two_designs

from s80lab.base.errors import UserError
from s80lab.results.database import insert_run, list_tables
from s80lab.results.query import select
from s80lab.results.run_folder import RunFolder


@pytest.fixture
def database(runs: Path) -> Path:
    return database_of_two_designs(runs)


@pytest.mark.parametrize(
    ("sql", "differing"),
    [
        ("SELECT workload, avg(e_share) FROM v_e_state WHERE class = 'session' GROUP BY workload", "design"),
        ("select sum(misses) from v_miss_source", "design"),
        ("SELECT avg(e_share) FROM v_design_all", "design and status"),
        (
            "SELECT source, sum(misses) AS n FROM v_miss_source GROUP BY 1 HAVING n > 0 ORDER BY n LIMIT 1",
            "design",
        ),
        ("SELECT avg(e.e_share) FROM v_e_state AS e JOIN v_traffic t ON t.run = e.run", "design"),
        ("SELECT avg(v_e_state.e_share) FROM v_e_state JOIN v_traffic USING (run)", "design"),
        ("SELECT avg(value) FROM metric JOIN run ON run.id = metric.run WHERE status = 'valid'", "design"),
        ("WITH s AS (SELECT * FROM v_e_state) SELECT workload, avg(e_share) FROM s GROUP BY workload", "design"),
        ("SELECT 'FROM (', avg(e_share) FROM v_design", "design"),
    ],
)
def test_mean_over_several_designs_is_remarked(database: Path, sql: str, differing: str) -> None:
    assert f"pools runs that differ in {differing}: add" in select(database, sql).remark


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT design, avg(e_share) FROM v_design GROUP BY design",
        "SELECT avg(e_share) FROM v_design WHERE protocol = 'moesi'",
        "SELECT run, sum(misses) FROM v_miss_source GROUP BY run",
        "SELECT run, e_share, sum(e_share) OVER (PARTITION BY run) FROM v_e_state",
        "SELECT run, e_share FROM v_design",
        "SELECT count(*), 'avg(' FROM run",
        "SELECT 1",
    ],
)
def test_query_that_pools_no_designs_is_not_remarked(database: Path, sql: str) -> None:
    assert select(database, sql).remark == ""


def test_mean_whose_source_has_no_design_is_remarked(database: Path) -> None:
    remark = select(database, "SELECT avg(value) FROM metric WHERE name = 'e_share'").remark
    assert remark.startswith("the database has runs of 2 designs, and this query may pool them: read a view v_...")


def test_query_command_warns_about_pooled_designs(measured: Lab, runs: Path) -> None:
    change(measured.results / "runs" / "imape-3", scale="small")
    insert_run(measured.results / "s80lab.sqlite", RunFolder(measured.results / "runs" / "imape-3"))
    said = measured.call("query", "SELECT avg(e_share) AS e FROM v_design")
    assert "warning: a row of this result pools runs that differ in scale: add scale to SELECT" in " ".join(
        said.split()
    )
    assert "warning" not in measured.answer("query", "SELECT avg(e_share) AS e FROM v_design", "--json")


def test_query_tables_lists_every_table_and_view(measured: Lab) -> None:
    said = measured.answer("query", "--tables")
    with closing(sqlite3.connect(measured.results / "s80lab.sqlite")) as connection:
        asked = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
        names = [name for (name,) in connection.execute(asked)]
    assert sorted(names) == sorted(one.name for one in list_tables())
    assert all(f"\n{name} " in f"\n{said}" for name in names)
    assert all(one.text.endswith(".") and len(one.text) < 100 for one in list_tables())
    records = json.loads(measured.answer("query", "--tables", "--json"))
    assert records[0] == {"name": "v_run", "kind": "view", "text": "Valid runs, with what distinguishes them."}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("query",), "write an SQL query, or list the tables and views with --tables"),
        (("query", "SELECT 1", "--tables"), "--tables lists tables and views and takes no SQL"),
    ],
)
def test_query_without_sql_and_with_both_is_refused(measured: Lab, arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in " ".join(measured.call(*arguments, code=2).split())


@pytest.mark.parametrize(
    ("name", "near"), [("runs", "run, v_run, "), ("v_caches", "v_cache, "), ("miss", "v_miss_source, "), ("xyz", "")]
)
def test_unknown_table_names_the_nearest(database: Path, name: str, near: str) -> None:
    hint = rf" \(the nearest: {near}" if near else ""
    with pytest.raises(UserError, match=f"no such table: {name}{hint}.*; `s80lab query --tables` lists all tables"):
        select(database, f"SELECT * FROM {name}")

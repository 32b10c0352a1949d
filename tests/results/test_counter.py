# SPDX-License-Identifier: GPL-2.0-or-later
"""The table `counter` of the database: all statistics of a run, with their dimensions as columns."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from s80lab.base.vocabulary import LABELS, STATISTICS
from s80lab.results.database import connect, insert_run
from s80lab.results.query import select
from s80lab.results.run_folder import RunFolder


@pytest.fixture
def database(runs: Path) -> Path:
    database = runs.parent / "counters.sqlite"
    for name in ("imape-1", "imape-2"):
        insert_run(database, RunFolder(runs / name))
    return database


def test_counter_has_one_column_per_dimension(database: Path) -> None:
    columns, *_ = select(database, "SELECT * FROM counter LIMIT 0")
    assert (columns[:2], columns[-1]) == (["run", "statistic"], "value")
    assert sorted(columns[2:-1]) == sorted(LABELS), "add a new dimension to the table in results/schema.sql"


def test_counter_has_the_counts_of_stats(database: Path, runs: Path) -> None:
    region = RunFolder(runs / "imape-1").stats["region"]
    columns, rows, *_ = select(database, "SELECT * FROM counter WHERE run = 'imape-1'")
    found = {}
    for row in rows:
        place = dict(zip(columns, row, strict=True))
        value = place.pop("value")
        found[tuple(sorted((key, label) for key, label in place.items() if label and key != "run"))] = value
    expected = {}
    for name, entry in region["totals"].items():
        places = itertools.product(*(region["labels"][dim] for dim in entry["dims"]))
        for labels, value in zip(places, entry["values"], strict=True):
            expected[tuple(sorted([("statistic", name), *zip(entry["dims"], labels, strict=True)]))] = value
    assert found == expected and len(rows) == len(expected)


def test_statistic_has_unit_and_description(database: Path) -> None:
    _, rows, *_ = select(database, "SELECT name, unit, description FROM statistic")
    known = {(one.name, one.unit, one.description) for one in STATISTICS.values()}
    assert {row[0] for row in rows} >= {"fills", "e_to_m"} and set(map(tuple, rows)) <= known


def test_deleted_run_leaves_no_counts(database: Path) -> None:
    with closing(connect(database)) as connection:
        connection.execute("DELETE FROM run WHERE id = 'imape-1'")
    assert select(database, "SELECT DISTINCT run FROM counter")[1] == [("imape-2",)]


def test_changed_count_is_entered_anew(database: Path, runs: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE counter SET value = value + 1 WHERE run = 'imape-1' AND statistic = 'busy_cycles'")
        connection.commit()
    before = RunFolder(runs / "imape-1").stats["region"]["totals"]["busy_cycles"]["values"]
    insert_run(database, RunFolder(runs / "imape-1"))
    asked = "SELECT value FROM counter WHERE run = 'imape-1' AND statistic = 'busy_cycles'"
    assert [value for (value,) in select(database, asked)[1]] == before

# SPDX-License-Identifier: GPL-2.0-or-later
"""A Slurm of two nodes for the tests of a file, and what two laboratories are compared by."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.slurm import Slurm, missing, slurm
from tests.lab import Lab

# Of the table `run`: the host's time, which no two runs have in common.
HOSTS = {"mips", "wall_s", "created"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    if lacks := missing():
        pytest.skip(f"{', '.join(lacks)}: Debian's slurm-wlm is not installed")
    with slurm(tmp_path_factory.mktemp("slurm") / "lab") as running:
        yield running


def same(one: Lab, other: Lab) -> bool:
    """Whether both have the same runs, byte for byte in every stats.json, and the same rows in their databases."""
    files = [{run.name: (run / "stats.json").read_bytes() for run in lab.runs()} for lab in (one, other)]
    assert files[0].keys() == files[1].keys()
    assert [name for name in files[0] if files[0][name] != files[1][name]] == []
    assert rows(one) == rows(other)
    return True


def rows(lab: Lab) -> dict[str, list[Any]]:
    """All tables, by name, but what is the host's."""
    with sqlite3.connect(lab.results / "s80lab.sqlite") as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: _rows(database, name) for name in tables}


def _rows(database: sqlite3.Connection, table: str) -> list[Any]:
    names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    wanted = [f'"{name}"' for name in names if not (table == "run" and name in HOSTS)]
    return sorted(database.execute(f"SELECT {', '.join(wanted)} FROM {table}").fetchall(), key=repr)


@pytest.fixture
def shared(tmp_path: Path) -> Lab:
    """The laboratory of the cluster's tasks, on what stands for the file system that nodes share."""
    return Lab(tmp_path / "checkpoints", tmp_path / "shared" / "results")

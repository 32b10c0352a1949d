# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of older versions are refused with the new name, and each new name exists."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from tests.forked import call
from tests.lab import LIMIT_S, Lab
from typer import TyperException
from typer.main import get_command

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.renamed import METRICS, PROGRAMS, RENAMED
from s80lab.commands.line.app import app
from s80lab.commands.line.errors import sentence
from s80lab.report.sweep import showable
from s80lab.results.database import insert_run
from s80lab.results.metrics.derive import REGISTRY
from s80lab.results.query import select

PAGE = paths.ROOT / "docs" / "guides" / "troubleshooting.md"


@pytest.fixture
def measured(runs: Path) -> Lab:
    """A lab with one run in its database."""
    insert_run(runs.parent / "s80lab.sqlite", runs / "imapb-1")
    return Lab(runs.parent / "checkpoints", runs.parent)


@pytest.mark.parametrize(("old", "new"), METRICS.items())
def test_old_metric_in_an_experiment_is_refused_with_the_new_name(tmp_path: Path, old: str, new: str) -> None:
    file = tmp_path / "configs" / "experiments" / "own.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'base = "imapb"\nshow = ["{old}"]\n')
    done = call(["run", "own", "--list"], os.environ | {"S80LAB_HOME": str(tmp_path)}, LIMIT_S)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"s80lab: configs/experiments/own.toml: `show` names the metric `{old}`, which no report has: `{old}` is now "
        f"`{new}`\n"
    )


@pytest.mark.parametrize(("old", "new"), METRICS.items())
def test_old_metric_in_a_query_is_refused_with_the_new_name(measured: Lab, old: str, new: str) -> None:
    said = measured.call("query", f"SELECT avg(value) FROM metric WHERE name = '{old}'", code=2)
    assert said == f"s80lab: no run has the metric that the SQL text names: `{old}` is now `{new}`\n"


def test_old_metric_of_an_old_run_can_be_selected(made_runs: Path, tmp_path: Path) -> None:
    database = tmp_path / "s80lab.sqlite"
    insert_run(database, made_runs / "imapb-1")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO metric VALUES ('imapb-1', 'body_mbit_per_s', 'Mbit', 5.0)")
    assert select(database, "SELECT value FROM metric WHERE name = 'body_mbit_per_s'")[1] == [(5.0,)]


@pytest.mark.parametrize(("old", "new"), PROGRAMS.items())
def test_old_command_of_a_program_is_refused_with_the_new_name(old: str, new: str) -> None:
    program, command = old.split()
    done = subprocess.run([paths.BIN / program, command], capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stderr.startswith(f"{program}: {command} is ") and done.stderr.endswith(f" write {new}\n")


def test_each_new_name_exists_and_each_old_name_does_not() -> None:
    assert set(METRICS.values()) <= set(REGISTRY) and set(METRICS.values()) <= set(showable())
    assert set(METRICS).isdisjoint(REGISTRY)
    for name in PROGRAMS.values():
        program, command = name.split()
        done = subprocess.run([paths.BIN / program, command], capture_output=True, text=True)
        assert re.fullmatch(rf"{program}: the key '[a-z]+' is missing\n", done.stderr)


@pytest.mark.parametrize(
    ("old", "new", "arguments"),
    [
        ("measure", "run", ["measure", "imapb"]),
        ("stepping", "step", ["trace", "stepping"]),
        ("--computer", "--machine", ["run", "imapb", "--computer", "s80"]),
        ("llc", "l2", ["run", "imapb", "--list", "--set", "llc.size=1MiB"]),
        ("capacity", "size", ["run", "imapb", "--list", "--set", "l2.capacity=1MiB"]),
        ("browsing", "imapb", ["run", "browsing"]),
        ("starfire", "s80", ["run", "imapb", "--machine", "starfire"]),
        ("illinois", "mesi", ["protocol", "show", "illinois"]),
        ("little", "small", ["run", "imapb", "--scale", "little"]),
        ("postfix", "uw", ["run", "imapb", "--server", "postfix"]),
        ("handover", "migratory", ["lesson", "handover"]),
        ("v_sources", "v_miss_source", ["query", "SELECT * FROM v_sources"]),
        ("random_seed", "seed", ["query", "SELECT run.random_seed FROM run"]),
    ],
)
def test_every_kind_of_renamed_name_is_refused_with_the_new_name(
    measured: Lab, monkeypatch: pytest.MonkeyPatch, old: str, new: str, arguments: list[str]
) -> None:
    monkeypatch.setitem(RENAMED, "example", {old: new})
    with measured.entered(), pytest.raises((UserError, TyperException)) as refused:
        get_command(app).main(arguments, prog_name="s80lab", standalone_mode=False)
    error = refused.value
    text = sentence(error) if isinstance(error, TyperException) else str(error)
    assert f"`{old}` is now `{new}`" in text and "did you mean" not in text


def test_page_lists_every_renamed_name() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## Renamed\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z ]+) \| `(.+)` \| `(.+)` \|$", section, re.MULTILINE)
    assert rows == [(kind, old, new) for kind, table in RENAMED.items() for old, new in table.items()]

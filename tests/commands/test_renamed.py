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

from s80lab.analysis.sweep import showable
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.renamed import COLUMNS, KEYS, METRICS, PHASE_KEYS, PROGRAMS, REMOVED, RENAMED, TABLES
from s80lab.base.strict import dotted_keys
from s80lab.commands.line.app import app
from s80lab.commands.line.errors import sentence
from s80lab.config.machine import Machine
from s80lab.results.database import insert_run
from s80lab.results.metrics.derive import REGISTRY
from s80lab.results.query import select
from s80lab.results.run_folder import RunFolder

PAGE = paths.ROOT / "docs" / "guides" / "troubleshooting.md"
NOT_IN_REPORTS = "turns_m"


@pytest.fixture
def measured(runs: Path) -> Lab:
    """A lab with one run in its database."""
    insert_run(runs.parent / "s80lab.sqlite", RunFolder(runs / "imapb-1"))
    return Lab(runs.parent / "checkpoints", runs.parent)


def list_own(text: str, home: Path) -> str:
    """The refusal of an experiment with this text."""
    file = home / "configs" / "experiments" / "own.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    done = call(["run", "own", "--list"], os.environ | {"S80LAB_HOME": str(home)}, LIMIT_S)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def show(metric: str, home: Path) -> str:
    """The refusal of an experiment whose `show` names the metric."""
    return list_own(f'base = "imapb"\nshow = ["{metric}"]\n', home).removeprefix(
        f"s80lab: configs/experiments/own.toml: `show` names the metric `{metric}`, which no report has: "
    )


@pytest.mark.parametrize(("old", "new"), [pair for pair in METRICS.items() if pair[0] != NOT_IN_REPORTS])
def test_old_metric_in_an_experiment_is_refused_with_the_new_name(tmp_path: Path, old: str, new: str) -> None:
    assert show(old, tmp_path) == f"`{old}` is now `{new}`\n"


def test_old_metric_with_a_label_is_refused_with_the_new_name(measured: Lab, tmp_path: Path) -> None:
    assert show("turn_length.median", tmp_path) == "`turn_length` is now `slice_length`\n"
    said = measured.call("query", "SELECT avg(value) FROM metric WHERE name = 'turn_length.median'", code=2)
    assert said == "s80lab: no run has the metric that the SQL text names: `turn_length` is now `slice_length`\n"


@pytest.mark.parametrize(("old", "new"), KEYS.items())
def test_old_key_is_refused_with_the_new_name(tmp_path: Path, old: str, new: str) -> None:
    said = Lab(tmp_path, tmp_path).call("run", "imapb", "--list", "--set", f"clock.{old}=5", code=2)
    assert said == f"s80lab: --set clock.{old}=5: unknown key `clock.{old}`: `{old}` is now `{new}`\n"


@pytest.mark.parametrize(("old", "new"), PHASE_KEYS.items())
def test_old_key_of_a_phase_is_refused_with_the_new_name(tmp_path: Path, old: str, new: str) -> None:
    said = list_own(f'base = "imapb"\n[phases.tiny]\n{old} = 5\n', tmp_path)
    assert said.endswith(f": unknown key `phases.tiny.{old}`: `{old}` is now `{new}`\n")


@pytest.mark.parametrize(("old", "new"), [*TABLES.items(), *COLUMNS.items()])
def test_old_table_or_column_in_a_query_is_refused_with_the_new_name(measured: Lab, old: str, new: str) -> None:
    text = f"SELECT * FROM {old}" if old in TABLES else f"SELECT run.{old} FROM run"
    assert f"`{old}` is now `{new}`" in measured.call("query", text, code=2)
    measured.call("query", text.replace(old, new))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("guest.time_ratio", ["run", "imapb", "--list", "--set", "guest.time_ratio=6.5"]),
        ("guest.tick_hz", ["run", "imapb", "--list", "--set", "guest.tick_hz=100"]),
        ("guest_time_ratio", ["metrics", "guest_time_ratio"]),
        ("guest_time_ratio_wanted", ["metrics", "guest_time_ratio_wanted"]),
        ("tick_hz_wanted", ["metrics", "tick_hz_wanted"]),
        ("--order", ["run", "imapb", "--order"]),
    ],
)
def test_removed_name_is_refused_with_the_reason(tmp_path: Path, name: str, arguments: list[str]) -> None:
    said = Lab(tmp_path, tmp_path).call(*arguments, code=2)
    assert f"`{name}` was removed, because {REMOVED[name]}" in said and "did you mean" not in said


@pytest.mark.parametrize(("old", "new"), METRICS.items())
def test_old_metric_in_a_query_is_refused_with_the_new_name(measured: Lab, old: str, new: str) -> None:
    said = measured.call("query", f"SELECT avg(value) FROM metric WHERE name = '{old}'", code=2)
    assert said == f"s80lab: no run has the metric that the SQL text names: `{old}` is now `{new}`\n"


@pytest.mark.parametrize("name", ["body_mbit_per_s", "turn_length.median"])
def test_old_metric_of_an_old_run_can_be_selected(made_runs: Path, tmp_path: Path, name: str) -> None:
    database = tmp_path / "s80lab.sqlite"
    insert_run(database, RunFolder(made_runs / "imapb-1"))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO metric VALUES ('imapb-1', ?, '', 5.0)", [name])
    assert select(database, f"SELECT value FROM metric WHERE name = '{name}'")[1] == [(5.0,)]


@pytest.mark.parametrize(("old", "new"), PROGRAMS.items())
def test_old_command_of_a_program_is_refused_with_the_new_name(old: str, new: str) -> None:
    program, command = old.split()
    done = subprocess.run([paths.BIN / program, command], capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stderr.startswith(f"{program}: {command} is ") and done.stderr.endswith(f" write {new}\n")


def test_new_names_exist_and_old_names_do_not() -> None:
    shown = {part for name in showable() for part in (name, name.partition(".")[0])}
    assert set(METRICS.values()) <= set(REGISTRY) and set(METRICS.values()) - shown == {METRICS[NOT_IN_REPORTS]}
    assert (set(METRICS) | set(REMOVED)).isdisjoint(REGISTRY)
    keys = dotted_keys(Machine)
    assert {f"clock.{new}" for new in KEYS.values()} <= set(keys)
    assert {f"clock.{old}" for old in KEYS}.isdisjoint(keys) and set(REMOVED).isdisjoint(keys)
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
        ("l3", "l2", ["run", "imapb", "--list", "--set", "l3.size=1MiB"]),
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
def test_renamed_names_are_refused_with_the_new_name(
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


def test_page_lists_every_removed_name() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## Renamed\n")[2].partition("\n## ")[0]
    table = section.partition("| removed name | reason |\n| --- | --- |\n")[2]
    assert dict(re.findall(r"^\| `(.+)` \| (.+) \|$", table, re.MULTILINE)) == REMOVED

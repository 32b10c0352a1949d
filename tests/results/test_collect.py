# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of many hosts in one database: all or nothing, the same again, and what is refused in one sentence."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from s80lab.base.errors import UserError
from s80lab.results.collect import Collected, collect
from s80lab.results.database import SCHEMA_VERSION, insert_run

# Of a database, without the hour at which a run was entered.
TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"


def rows(database: Path) -> dict[str, list[Any]]:
    with sqlite3.connect(database) as connection:
        names = [name for (name,) in connection.execute(TABLES)]
        content = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    content["run"] = [row[:-1] for row in content["run"]]
    return {name: sorted(found, key=repr) for name, found in content.items()}


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A results folder that is not there yet."""
    return tmp_path / "collected" / "results"


@pytest.fixture
def hosts(runs: Path) -> list[Path]:
    """Two hosts' results folders: imapb's runs and imape's."""
    folders = [runs.parent / host / "results" for host in ("one", "two")]
    for folder, mix in zip(folders, ("imapb", "imape"), strict=True):
        for run in runs.glob(f"{mix}-?"):
            shutil.copytree(run, folder / "runs" / run.name)
    return folders


def gather(lab: Path, *folders: Path) -> Collected:
    return collect(folders, lab / "runs", lab / "s80lab.sqlite")


def state(lab: Path) -> dict[str, tuple[int, bytes]]:
    """Time and bytes of every file."""
    files = [path for path in lab.rglob("*") if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(lab)): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def refused(lab: Path, *folders: Path) -> str:
    """The one sentence; nothing is changed."""
    before = state(lab)
    with pytest.raises(UserError) as caught:
        gather(lab, *folders)
    assert state(lab) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_rows_are_those_of_runs_entered_where_they_were_made(lab: Path, hosts: list[Path], runs: Path) -> None:
    assert gather(lab, *hosts) == Collected(runs=6, copied=6, entered=6, unfinished=0)
    local = runs.parent / "s80lab.sqlite"
    for folder in runs.glob("imap?-?"):
        insert_run(local, folder)
    assert rows(lab / "s80lab.sqlite") == rows(local)
    assert len(rows(local)["run"]) == 6 and rows(local)["latency"]


def test_a_second_time_nothing_changes(lab: Path, hosts: list[Path]) -> None:
    gather(lab, *hosts)
    before = state(lab)
    assert gather(lab, *reversed(hosts)) == Collected(runs=6, copied=0, entered=0, unfinished=0)
    assert state(lab) == before


def test_what_has_come_since_is_added(lab: Path, hosts: list[Path]) -> None:
    gather(lab, hosts[0])
    assert gather(lab, *hosts, hosts[1] / "runs", hosts[1] / "runs" / "imape-1") == Collected(6, 3, 3, 0)


def test_runs_that_lie_in_the_lab_are_entered_where_they_are(runs: Path) -> None:
    lab = runs.parent
    (runs / ".partial-imapb-9-abc@host").mkdir()
    assert gather(lab, runs) == Collected(runs=6, copied=0, entered=6, unfinished=1)


def test_rows_of_another_hour_are_replaced(lab: Path, hosts: list[Path]) -> None:
    """What a run took is told of its last folder; a manifest may be stated anew."""
    gather(lab, *hosts)
    path = lab / "runs" / "imapb-2" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mips": 17.0}))
    assert gather(lab, lab).entered == 1
    with sqlite3.connect(lab / "s80lab.sqlite") as connection:
        assert connection.execute("SELECT id FROM run WHERE mips = 17").fetchall() == [("imapb-2",)]


def test_two_folders_of_one_run_with_unlike_bytes(lab: Path, hosts: list[Path]) -> None:
    other = hosts[1] / "runs" / "imapb-2"
    shutil.copytree(hosts[0] / "runs" / "imapb-2", other)
    assert gather(lab / "alike", *hosts).runs == 6
    stats = other / "stats.json"
    stats.write_bytes(stats.read_bytes().replace(b'"schema": 1', b'"schema": 1 '))
    assert "are one run (equal inputs), but their files stats.json differ" in refused(lab, *hosts)
    gather(lab, hosts[0])
    assert f"{other} and {lab / 'runs' / 'imapb-2'} are one run (equal inputs), but their" in refused(lab, hosts[1])
    (other / "stats.json").write_bytes((hosts[0] / "runs" / "imapb-2" / "stats.json").read_bytes())
    (other / "transactions.json").unlink()
    assert "transactions.json: cannot be read" in refused(lab, hosts[1])


def test_what_comes_behind_the_measured_region_is_the_hosts(lab: Path, hosts: list[Path]) -> None:
    """When a live guest is ended is not known to the instruction; every line before is."""
    other = hosts[1] / "runs" / "imapb-2"
    shutil.copytree(hosts[0] / "runs" / "imapb-2", other)
    lines = (other / "snapshots.jsonl").read_text().splitlines(keepends=True)
    last = json.loads(lines[-1])
    assert last["mark"] == "exit"
    assert json.loads(lines[-2])["mark"] == "measure_end"
    last["clock_ns"] += 17
    more = [json.dumps(last | {"mark": mark}) + "\n" for mark in ("window", "exit")]
    (other / "snapshots.jsonl").write_text("".join([*lines[:-1], *more]))
    assert gather(lab, *hosts).runs == 6
    (other / "snapshots.jsonl").write_text("".join([lines[0], *lines[2:]]))
    assert "are one run (equal inputs), but their files snapshots.jsonl differ" in refused(lab, *hosts)


def half(run: Path) -> str:
    (run / "manifest.json").unlink()
    return "manifest.json: cannot be read"


def interrupted(run: Path) -> str:
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "status": "interrupted"}))
    return "the run is incomplete (status `interrupted` instead of `whole`); repeat the run"


def cut(run: Path) -> str:
    stats = run / "stats.json"
    stats.write_bytes(stats.read_bytes()[:-500])
    return "stats.json, line 1062: is not JSON"


def newer(run: Path) -> str:
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "schema": 2}))
    return "has schema 2, but this version of s80lab reads schema 1"


def unknown(run: Path) -> str:
    stats = json.loads((run / "stats.json").read_text())
    stats["metrics"]["colour.red"] = 1
    (run / "stats.json").write_text(json.dumps(stats))
    return "contains the unknown metric colour.red"


def elsewhere(run: Path) -> str:
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "run": "../../etc"}))
    return "`../../etc` is not a valid name of a run"


def without(run: Path) -> str:
    stats = json.loads((run / "stats.json").read_text())
    del stats["windows"][0]["fills_e"]
    (run / "stats.json").write_text(json.dumps(stats))
    return (
        "imape-2: the files of this run do not have the format of this version of s80lab (KeyError('fills_e')); "
        "run the experiment again"
    )


def nameless(run: Path) -> str:
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "versions": None}))
    return "the files of this run do not have the format of this version of s80lab"


@pytest.mark.parametrize("spoil", [half, interrupted, cut, newer, unknown, elsewhere, without, nameless])
def test_one_bad_folder_and_nothing_is_collected(lab: Path, hosts: list[Path], spoil: Any) -> None:
    sentence = spoil(hosts[1] / "runs" / "imape-2")
    assert sentence in refused(lab, *hosts)


def test_a_host_that_has_nothing_whole_yet(lab: Path, hosts: list[Path], tmp_path: Path) -> None:
    """Cut off in its first run, or with a shard that has none."""
    (tmp_path / "third" / "runs" / ".partial-imapb-9-abc@host").mkdir(parents=True)
    (tmp_path / "fourth" / "runs").mkdir(parents=True)
    gathered = gather(lab, *hosts, tmp_path / "third", tmp_path / "fourth")
    assert gathered == Collected(runs=6, copied=6, entered=6, unfinished=1)


def test_a_partial_folder_that_is_named(lab: Path, hosts: list[Path]) -> None:
    run = hosts[0] / "runs" / "imapb-1"
    partial = run.rename(run.with_name(".partial-imapb-1-abcdefgh@host"))
    assert "the run is incomplete; let the run finish, or remove the folder" in refused(lab, partial)


@pytest.mark.parametrize(
    ("name", "sentence"), [("missing", "missing: this folder does not exist"), ("", "contains no run")]
)
def test_what_is_no_folder_of_runs(lab: Path, tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "empty").mkdir()
    assert sentence in refused(lab, tmp_path / "empty" / name)


def test_a_database_of_another_schema(lab: Path, hosts: list[Path]) -> None:
    gather(lab, hosts[0])
    with sqlite3.connect(lab / "s80lab.sqlite") as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
    assert f"has schema {SCHEMA_VERSION - 1} of an older version" in refused(lab, *hosts)

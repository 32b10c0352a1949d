# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of many hosts in one database: all or nothing, the same again, and what is refused in one sentence. A second
call waits for the first."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.lab import LIMIT_S, Lab

from s80lab.base import host
from s80lab.base.errors import UserError
from s80lab.base.staging import PARTIAL, held
from s80lab.results.collect import Collected, collect
from s80lab.results.database import SCHEMA_VERSION, insert_run, list_runs
from s80lab.results.products import record_products
from s80lab.results.run_folder import RunFolder

# Of a database, without the hour at which a run was entered.
TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"


def rows(database: Path) -> dict[str, list[Any]]:
    with sqlite3.connect(database) as connection:
        names = [name for (name,) in connection.execute(TABLES)]
        content = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}
        columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(run)")]
    created = columns.index("created")
    content["run"] = [row[:created] + row[created + 1 :] for row in content["run"]]
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
    files = [path for path in lab.rglob("*") if path.is_file() and not path.name.endswith(".lock")]
    return {str(path.relative_to(lab)): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def folders_of(lab: Path) -> list[Path]:
    return sorted(path for path in (lab / "runs").glob("*") if path.name != ".lock")


def refused(lab: Path, *folders: Path) -> str:
    """The one sentence; nothing is changed, and no folder remains."""
    before, runs = state(lab), folders_of(lab)
    with pytest.raises(UserError) as caught:
        gather(lab, *folders)
    assert (state(lab), folders_of(lab)) == (before, runs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_collected_rows_equal_rows_of_local_runs(lab: Path, hosts: list[Path], runs: Path) -> None:
    assert gather(lab, *hosts) == Collected(runs=6, copied=6, entered=6, unfinished=0)
    local = runs.parent / "s80lab.sqlite"
    for folder in runs.glob("imap?-?"):
        insert_run(local, RunFolder(folder))
    assert rows(lab / "s80lab.sqlite") == rows(local)
    assert len(rows(local)["run"]) == 6 and rows(local)["latency"]


def test_second_collect_changes_nothing(lab: Path, hosts: list[Path]) -> None:
    gather(lab, *hosts)
    before = state(lab)
    assert gather(lab, *reversed(hosts)) == Collected(runs=6, copied=0, entered=0, unfinished=0)
    assert state(lab) == before


def test_folder_of_a_call_that_was_killed_after_its_last_run_is_removed(lab: Path, hosts: list[Path]) -> None:
    """Nothing is left to copy, but the killed call's temporary folder is."""
    gather(lab, *hosts)
    dead = lab / "runs" / f"{PARTIAL}b5bda80f@{host.name()}"
    dead.mkdir()
    assert gather(lab, *hosts).copied == 0
    assert not dead.exists()


def test_second_collect_adds_new_runs(lab: Path, hosts: list[Path]) -> None:
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


def test_run_folders_with_equal_inputs_and_different_bytes_are_refused(lab: Path, hosts: list[Path]) -> None:
    other = hosts[1] / "runs" / "imapb-2"
    shutil.copytree(hosts[0] / "runs" / "imapb-2", other)
    assert gather(lab / "alike", *hosts).runs == 6
    stats = other / "stats.json"
    stats.write_bytes(stats.read_bytes().replace(b'"schema": 2', b'"schema": 2 '))
    assert "are one run (equal inputs), but their files stats.json differ" in refused(lab, *hosts)
    gather(lab, hosts[0])
    assert f"{other} and {lab / 'runs' / 'imapb-2'} are one run (equal inputs), but their" in refused(lab, hosts[1])
    (other / "stats.json").write_bytes((hosts[0] / "runs" / "imapb-2" / "stats.json").read_bytes())
    (other / "transactions.json").unlink()
    assert "transactions.json: cannot be read" in refused(lab, hosts[1])


def test_snapshots_after_the_measured_region_may_differ_between_hosts(lab: Path, hosts: list[Path]) -> None:
    """When a live guest is ended is not known to the instruction; every line before is."""
    other = hosts[1] / "runs" / "imapb-2"
    shutil.copytree(hosts[0] / "runs" / "imapb-2", other)
    lines = (other / "snapshots.jsonl").read_text().splitlines(keepends=True)
    last = json.loads(lines[-1])
    assert last["mark"] == "exit"
    assert json.loads(lines[-2])["mark"] == "measure_end"
    last["clock_ns"] += 17
    more = [json.dumps(last | {"mark": mark}) + "\n" for mark in ("sampling_interval", "exit")]
    (other / "snapshots.jsonl").write_text("".join([*lines[:-1], *more]))
    assert gather(lab, *hosts).runs == 6
    (other / "snapshots.jsonl").write_text("".join([lines[0], lines[1], *lines[3:]]))
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
    return f"stats.json, line {stats.read_text().count(chr(10)) + 1}: is not JSON"


def newer(run: Path) -> str:
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "schema": 3}))
    return "has schema 3, but this version of s80lab reads schema 1 and 2"


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
    del stats["sampling_intervals"][0]["fills_e"]
    (run / "stats.json").write_text(json.dumps(stats))
    return (
        "imape-2: the files of this run do not have the format of this version of s80lab (KeyError('fills_e')); "
        "run the experiment again"
    )


def nameless(run: Path) -> str:
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "versions": None}))
    return "the value of `versions` must be a table of texts and numbers, not None"


@pytest.mark.parametrize("spoil", [half, interrupted, cut, newer, unknown, elsewhere, without, nameless])
def test_collect_with_one_invalid_folder_adds_no_run(lab: Path, hosts: list[Path], spoil: Any) -> None:
    sentence = spoil(hosts[1] / "runs" / "imape-2")
    assert sentence in refused(lab, *hosts)


def test_host_without_complete_run_adds_no_run(lab: Path, hosts: list[Path], tmp_path: Path) -> None:
    """Cut off in its first run, or with a shard that has none."""
    (tmp_path / "third" / "runs" / ".partial-imapb-9-abc@host").mkdir(parents=True)
    (tmp_path / "fourth" / "runs").mkdir(parents=True)
    gathered = gather(lab, *hosts, tmp_path / "third", tmp_path / "fourth")
    assert gathered == Collected(runs=6, copied=6, entered=6, unfinished=1)


def test_partial_folder_that_is_named_is_refused(lab: Path, hosts: list[Path]) -> None:
    run = hosts[0] / "runs" / "imapb-1"
    partial = run.rename(run.with_name(".partial-imapb-1-abcdefgh@host"))
    assert "the run is incomplete; let the run finish, or remove the folder" in refused(lab, partial)


@pytest.mark.parametrize(
    ("name", "sentence"), [("missing", "missing: this folder does not exist"), ("", "contains no run")]
)
def test_path_without_run_folders_is_refused(lab: Path, tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "empty").mkdir()
    assert sentence in refused(lab, tmp_path / "empty" / name)


def test_collect_into_database_of_old_schema_is_refused(lab: Path, hosts: list[Path]) -> None:
    gather(lab, hosts[0])
    with sqlite3.connect(lab / "s80lab.sqlite") as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
    assert f"has schema {SCHEMA_VERSION - 1} of an older version" in refused(lab, *hosts)


def edited(name: str, key: str, value: Any) -> Callable[[Path], None]:
    """Sets a key of a JSON file of the run."""

    def spoil(run: Path) -> None:
        path = run / name
        path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))

    return spoil


def histogram(run: Path) -> None:
    """A bucket that occurs twice: only the database notices."""
    load = json.loads((run / "transactions.json").read_text())
    buckets = load["transactions"]["SRCH"]["histogram"]
    buckets.append(buckets[0])
    (run / "transactions.json").write_text(json.dumps(load))


def nested(run: Path) -> None:
    (run / "stats.json").write_text("[" * 100_000)


def endless(run: Path) -> None:
    (run / "stats.json").unlink()
    (run / "stats.json").symlink_to("/dev/zero")


def huge_number(run: Path) -> None:
    (run / "stats.json").write_text('{"schema": ' + "1" * 5000 + "}")


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (edited("manifest.json", "scale", None), "manifest.json: the value of `scale` must be a text"),
        (edited("manifest.json", "experiment", ["a"]), "the value of `experiment` must be a text"),
        (edited("manifest.json", "workload", ""), "the value of `workload` must be a text"),
        (edited("manifest.json", "workload", "\ud800"), "the value of `workload` must be a text"),
        (edited("manifest.json", "simulated_ns", float("nan")), "manifest.json: cannot be read (NaN is not a number)"),
        (edited("manifest.json", "seed", 1 << 63), "the value of `seed` must be a number of at most 64 bits"),
        (edited("manifest.json", "run", None), "the value of `run` must be a text"),
        (edited("manifest.json", "run", ""), "the value of `run` must be a text"),
        (edited("manifest.json", "run", "a\0b"), "the value of `run` must be a text"),
        (edited("manifest.json", "run", "r" * 300), "is not a valid name of a run"),
        (edited("manifest.json", "created", 1 << 70), "imape-2: the database cannot store a value of this run"),
        (
            edited("transactions.json", "think_ms", 1 << 70),
            "a value for the table run cannot be stored: 11805916207174",
        ),
        (histogram, "imape-2: the database cannot store a value of this run (UNIQUE constraint failed: latency"),
        (nested, "stats.json: is not a file of s80lab (too many nested brackets)"),
        (endless, "stats.json: is a link, and collect copies only regular files"),
        (huge_number, "stats.json: cannot be read (Exceeds the limit"),
    ],
)
def test_value_that_cannot_be_stored_is_refused_with_folder(
    lab: Path, hosts: list[Path], spoil: Callable[[Path], None], sentence: str
) -> None:
    spoil(hosts[1] / "runs" / "imape-2")
    said = refused(lab, *hosts)
    assert sentence in said and "imape-2" in said
    assert not (lab / "s80lab.sqlite").exists()
    shutil.rmtree(hosts[1] / "runs" / "imape-2")
    assert gather(lab, *hosts).entered == 5


def dangling(run: Path) -> None:
    (run / "k").symlink_to("nowhere")


def elsewhere_linked(run: Path) -> None:
    (run.parent.parent / "private").mkdir()
    (run / "k").symlink_to(run.parent.parent / "private")


def circle(run: Path) -> None:
    (run / "figures").mkdir()
    (run / "figures" / "k").symlink_to(run)


def pipe(run: Path) -> None:
    os.mkfifo(run / "k")


def manifest_pipe(run: Path) -> None:
    (run / "manifest.json").unlink()
    os.mkfifo(run / "manifest.json")


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (dangling, "imape-2/k: is a link, and collect copies only regular files and folders"),
        (elsewhere_linked, "imape-2/k: is a link"),
        (circle, "imape-2/figures/k: is a link"),
        (pipe, "imape-2/k: is not a regular file"),
        (manifest_pipe, "imape-2/manifest.json: is not a regular file"),
    ],
)
def test_links_and_pipes_are_refused(
    lab: Path, hosts: list[Path], spoil: Callable[[Path], None], sentence: str
) -> None:
    spoil(hosts[1] / "runs" / "imape-2")
    assert sentence in refused(lab, *hosts)


def test_linked_run_folder_of_another_host_is_refused(lab: Path, hosts: list[Path]) -> None:
    run = hosts[1] / "runs" / "imape-2"
    run.rename(hosts[1] / "imape-2")
    run.symlink_to(hosts[1] / "imape-2")
    assert "imape-2: is a link; name the folder itself" in refused(lab, *hosts)
    assert gather(lab, hosts[1] / "imape-2").entered == 1


def removed(path: Path) -> None:
    path.unlink()


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def binary(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00" * 100)


def digit(path: Path) -> None:
    """One digit of the numbers changes; the length stays."""
    content = path.read_bytes()
    path.write_bytes(content.replace(b"3", b"4", 1))


DAMAGES = [removed, cut_off, emptied, binary, digit]


@pytest.mark.parametrize("name", ["stats.json", "snapshots.jsonl", "transactions.json", "machine.toml"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_changed_product_is_refused(lab: Path, hosts: list[Path], name: str, damage: Callable[[Path], None]) -> None:
    for run in hosts[1].glob("runs/*"):
        (run / "machine.toml").write_text("[guest]\nload_processors = 103\n" + "# a long comment\n" * 20)
        record_products(RunFolder(run))
    assert gather(lab / "undamaged", *hosts).entered == 6
    damage(hosts[1] / "runs" / "imape-2" / name)
    state = "is missing" if damage is removed else "differs from the file that s80lab wrote"
    assert f"imape-2/{name}: the file {state} (manifest.json lists size and hash)" in refused(lab, *hosts)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *(("snapshots.jsonl", damage) for damage in (removed, cut_off, emptied, binary)),
        *(("machine.toml", damage) for damage in (removed, binary)),
    ],
)
def test_run_without_a_list_of_products_must_parse(
    lab: Path, hosts: list[Path], name: str, damage: Callable[[Path], None]
) -> None:
    """Runs of older versions have no list."""
    damage(hosts[1] / "runs" / "imape-2" / name)
    assert f"imape-2/{name}" in refused(lab, *hosts)


def test_malformed_list_of_products_is_refused(lab: Path, hosts: list[Path]) -> None:
    run = hosts[1] / "runs" / "imape-2"
    for files, sentence in (
        ([], "key `files`: is not a table of files"),
        ({"../../x": {"bytes": 1, "sha256": ""}}, "'../../x' is not a product of a run"),
        ({"stats.json": {"bytes": "many", "sha256": ""}}, "key `files`"),
    ):
        edited("manifest.json", "files", files)(run)
        assert sentence in refused(lab, *hosts)


def test_copies_obey_the_umask(lab: Path, hosts: list[Path]) -> None:
    for path in hosts[0].rglob("*"):
        path.chmod(0o777)
    before = os.umask(0o077)
    try:
        gather(lab, hosts[0])
    finally:
        os.umask(before)
    copied = list((lab / "runs").glob("imapb-1/**/*"))
    assert copied and {path.stat().st_mode & 0o077 for path in (*copied, lab / "runs" / "imapb-1")} == {0}


def test_two_at_once_do_one_after_the_other(made_runs: Path, tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    with held(lab.results / ".collect.lock", lambda: None):
        both = [lab.start("collect", str(made_runs)) for _ in range(2)]
        for one in both:
            assert one.stdout is not None
            assert one.stdout.readline().startswith("collect: waiting for another `s80lab collect` in ")
        assert not lab.runs()
    said = sorted(one.communicate(timeout=LIMIT_S)[0] for one in both)
    assert [one.returncode for one in both] == [0, 0], said
    assert said[0].startswith("6 runs: 6 copied to ") and said[1].startswith("6 runs: nothing new, all are in ")
    assert len(list_runs(lab.results / "s80lab.sqlite")) == 6

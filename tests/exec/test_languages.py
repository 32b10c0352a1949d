# SPDX-License-Identifier: GPL-2.0-or-later
"""Markers and names of programs in Rust, Go and Python."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.exec.conftest import Exec

from s80lab.base import paths

pytestmark = pytest.mark.guest

SOURCES = paths.ROOT / "examples/languages"


def _needs(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed, so no program in its language can be compiled")
    return path


def _moved(execute: Exec, folder: Path, *words: str) -> list[set[str]]:
    """The data of each line that more than 10,000 transfers moved, all of it false sharing."""
    ran = execute("--markers", "--json", "report.json", *words)
    assert ran.code == 0, ran.stderr
    lines = json.loads((folder / "report.json").read_text())["contention"]["lines"]
    moved = [line for line in lines if line["transfers"] > 10_000]
    assert {line["kind"] for line in moved} == {"false sharing"}
    return [{one["data"] for one in line["accesses"] if one["loads"] + one["upgrades"] > 1000} for line in moved]


def test_fields_and_objects_of_rust_are_named(execute: Exec, tmp_path: Path) -> None:
    subprocess.run([_needs("rustc"), "-g", "-O", SOURCES / "counter.rs", "-o", tmp_path / "counter"], check=True)
    line = next(
        n for n, text in enumerate((SOURCES / "counter.rs").read_text().splitlines(), 1) if "let shared" in text
    )
    static, heap = sorted(_moved(execute, tmp_path, "--", "./counter"), key=lambda names: "object" in min(names))
    assert static == {"counter::TOTALS.reads.v.value", "counter::TOTALS.writes.v.value"}
    made = f"counter.rs:{line}"
    assert {name.rpartition("/")[2] for name in heap} == {f"{made}+0x10", f"{made}+0x18"}


def test_fields_of_go_are_named(execute: Exec, tmp_path: Path) -> None:
    build = [_needs("go"), "build", "-buildvcs=false", "-o", str(tmp_path / "counter"), "."]
    subprocess.run(build, cwd=SOURCES / "go", check=True)
    (names,) = _moved(execute, tmp_path, "--", "./counter")
    assert names == {"main.totals.reads", "main.totals.writes"}


def test_markers_of_python_begin_and_end_the_region(execute: Exec, tmp_path: Path) -> None:
    if not Path("/usr/bin/python3").is_file() or shutil.which("dpkg-query") is None:
        pytest.skip("/usr/bin/python3 is of no Debian package")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "libmarkers.so", SOURCES / "markers.c"], check=True)
    shutil.copy(SOURCES / "counter.py", tmp_path)
    added = ("--add", "counter.py", "--add", "libmarkers.so")
    (names,) = _moved(execute, tmp_path, *added, "--", "/usr/bin/python3", "counter.py")
    assert len(names) == 1 and min(names).startswith("pym-")  # the file of the shared memory

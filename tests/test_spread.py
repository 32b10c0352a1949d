# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests in several processes: what stays together, what Ctrl-C ends, and folders of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from tests.lab import LIMIT_S, own_folder
from tests.spread import LAB, LONG, MARK, part, urgency

from s80lab.base import paths

FILE = """
import pytest
{mark}
@pytest.mark.parametrize("number", range(4))
def test_it(number):
    pass
"""
# Tells the number of a process that would go on for an hour.
WAITING = """
import subprocess
def test_it():
    process = subprocess.Popen(["sleep", "3600"])
    print(process.pid, file=open("pid.new", "w"))
    import os
    os.rename("pid.new", "pid")
    process.wait()
"""


def start(folder: Path) -> subprocess.Popen[str]:
    """pytest in two processes, in a process group of its own, as from a terminal: it heeds Ctrl-C even where these
    tests were told not to."""
    (folder / "conftest.py").write_text('pytest_plugins = ["tests.spread"]\n')
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = changes_lab\n")
    command = [sys.executable, "-m", "pytest", "--verbose", "--numprocesses", "2", "-p", "no:cacheprovider"]
    return subprocess.Popen(
        command,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        | {"PYTHONPATH": str(paths.ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def test_files_stay_whole_and_those_that_change_the_lab_together(tmp_path: Path) -> None:
    for name in "abcdef":
        mark = f"pytestmark = {MARK}" if name in "acef" else ""
        (tmp_path / f"test_{name}.py").write_text(FILE.format(mark=mark))
    said, _ = start(tmp_path).communicate(timeout=LIMIT_S)
    assert "24 passed" in said.splitlines()[-1]
    places = defaultdict(set)
    for worker, file in re.findall(r"^\[(gw\d)\] .* PASSED test_(.)\.py", said, re.MULTILINE):
        places[file].add(worker)
    assert [len(places[file]) for file in "abcdef"] == [1] * 6, said
    assert places["a"] == places["c"] == places["e"] == places["f"]
    assert set.union(*places.values()) == {"gw0", "gw1"}


def test_ctrl_c_ends_what_the_tests_have_started(tmp_path: Path) -> None:
    (tmp_path / "test_waiting.py").write_text(WAITING)
    (tmp_path / "test_other.py").write_text(FILE.format(mark=""))
    process = start(tmp_path)
    while not (tmp_path / "pid").exists():
        assert process.poll() is None, process.communicate()[0]
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 2, said
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_longest_test_part_begins_first(tmp_path: Path) -> None:
    (tmp_path / "test_runs.py").write_text(MARK)
    (tmp_path / "test_other.py").write_text("")
    names = [part(tmp_path, f"test_{name}.py::test_it[a::b]") for name in ("other", "runs")]
    assert sorted([*names, *reversed(LONG)], key=urgency) == [LAB, *LONG, "test_other.py"]
    assert [file for file in LONG if not (paths.ROOT / file).is_file()] == []


def test_processes_get_different_folders(tmp_path: Path) -> None:
    with own_folder(tmp_path) as first:
        with own_folder(tmp_path) as second:
            assert [first.name, second.name] == ["1", "2"]
        with own_folder(tmp_path) as again:
            assert again == second

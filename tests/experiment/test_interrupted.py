# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C and kill -9 in the middle of a real run: nothing partial is listed, nothing runs on, the next call goes on."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lab import LIMIT_S, Lab

pytestmark = [pytest.mark.guest, pytest.mark.changes_lab]

# A seed that no other test measures; its warm-up is made once, and only the last of these tests lets a run end.
SEED = 71


def until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {LIMIT_S} s for {what}"
        time.sleep(0.1)


def guests(lab: Lab) -> list[str]:
    """Command lines of the QEMUs whose files lie in this laboratory."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if "-icount" in line and str(lab.results) in line:
            lines.append(line)
    return lines


def measuring(lab: Lab) -> subprocess.Popen[str]:
    """`s80lab run`, once its guest is at work on the measured run."""
    process = lab.start("run", "imapb", "--scale", "tiny", "--seeds", str(SEED))

    def begun() -> bool:
        assert process.poll() is None, process.communicate()[0]
        return any(path.stat().st_size for path in lab.results.glob("runs/.partial-*/snapshots.jsonl"))

    until(begun, "the measured run")
    assert len(guests(lab)) == 1
    return process


def check_nothing_partial_is_listed(lab: Lab) -> None:
    assert f"imapb-tiny-s{SEED}-" not in lab.call("list")
    with sqlite3.connect(lab.results / "s80lab.sqlite") as database:
        assert database.execute("pragma integrity_check").fetchall() == [("ok",)]
        assert database.execute("select count(*) from run where seed = ?", (SEED,)).fetchall() == [(0,)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_leaves_no_partial_results(whole: Lab, number: signal.Signals) -> None:
    process = measuring(whole)
    process.send_signal(number)
    said, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    assert "interrupted: complete results are kept" in said
    assert "Traceback" not in said
    assert guests(whole) == []
    assert whole.partial() == []
    check_nothing_partial_is_listed(whole)


def test_run_killed_by_sigkill_is_not_listed_and_the_next_call_resumes(whole: Lab) -> None:
    process = measuring(whole)
    process.kill()
    process.communicate(timeout=LIMIT_S)
    until(lambda: not guests(whole), "QEMU to die with its parent")
    assert len(whole.partial()) == 1
    check_nothing_partial_is_listed(whole)
    said = whole.run_tiny("imapb", "--seeds", str(SEED))
    assert "removed remains of an interrupted process" in said
    assert whole.partial() == []
    assert f"imapb-tiny-s{SEED}-" in whole.call("list")


def test_kill_9_in_a_warm_up_leaves_the_checkpoints_usable(whole: Lab) -> None:
    process = whole.start("checkpoint", "build", "imapb", "--scale", "tiny", "--set", "latency.memory=111")
    until(lambda: list(whole.checkpoints.glob(".partial-warm-*/snapshots.jsonl")), "the warm-up")
    process.kill()
    process.communicate(timeout=LIMIT_S)
    assert set(whole.verdicts().values()) == {"whole"}
    whole.run_tiny("imapb", "--seeds", "1")
    assert whole.partial() == []

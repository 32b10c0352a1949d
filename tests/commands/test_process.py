# SPDX-License-Identifier: GPL-2.0-or-later
"""The command in unfriendly surroundings: one sentence and a non-zero exit, never a traceback."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab import LIMIT_S

from s80lab.commands.process import sentence_of
from s80lab.results.database import insert_run
from s80lab.results.run_folder import RunFolder

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def start(results: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "s80lab", *arguments],
        env={**os.environ, "S80LAB_RESULTS": str(results), **environment},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )


def sentence(results: Path, *arguments: str, **environment: str) -> str:
    """What the command refuses with."""
    process = start(results, *arguments, **environment)
    _, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 2, said
    assert said.startswith("s80lab: ")
    assert said.count("\n") == 1
    return said


@pytest.mark.parametrize("ends", [signal.SIGTERM, signal.SIGINT])
def test_endless_query_can_be_interrupted(runs: Path, ends: signal.Signals) -> None:
    insert_run(runs.parent / "s80lab.sqlite", RunFolder(runs / "imapb-1"))
    process = start(runs.parent, "query", ENDLESS)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2)
    process.send_signal(ends)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode != 0


@pytest.mark.parametrize("command", [("list",), ("report", "imapb"), ("query", "SELECT * FROM run")])
def test_damaged_database_gives_one_sentence(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "s80lab.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 100)
    sentence(tmp_path, *command)


def test_run_with_missing_folder_is_listed_as_missing(runs: Path) -> None:
    for name in ("imapb-1", "imapb-2"):
        insert_run(runs.parent / "s80lab.sqlite", RunFolder(runs / name))
    (runs / "imapb-2").rename(runs / "moved")
    said, _ = start(runs.parent, "list").communicate(timeout=LIMIT_S)
    assert "imapb-2 (its folder is missing" in said
    assert "imapb-1 (its folder is missing" not in said


def test_results_that_are_a_file_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "file" in sentence(tmp_path / "file", "query", "SELECT 1")


def test_full_disk_of_a_copy_is_that_of_the_target() -> None:
    """The error of shutil.copyfile names the source first."""
    full = OSError(errno.ENOSPC, "No space left on device", "/checkpoints/warm-a/snapshots.jsonl", None, "/results/a")
    assert sentence_of(full) == "/results/a: No space left on device"


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1"},
    ],
)
def test_protocol_show_works_in_different_locales(tmp_path: Path, locale: dict[str, str]) -> None:
    process = start(tmp_path, "protocol", "show", "moesi", **locale)
    said, error = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, error) == (0, "")
    assert "moesi" in said

# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of runs on the command line: whole names, beginnings of names, folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.commands.misses import find_run


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs of one experiment, of which one has a log."""
    monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path))
    for name in ("imapb-tiny-s1-aaaa", "imapb-tiny-s1-bbbb"):
        (paths.runs() / name).mkdir(parents=True)
    (paths.runs() / "imapb-tiny-s1-bbbb" / "log").touch()
    return paths.runs()


def test_find_run_accepts_a_name_and_a_folder(runs: Path) -> None:
    assert find_run("imapb-tiny-s1-aaaa", "log", "--log") == runs / "imapb-tiny-s1-aaaa"
    assert find_run(str(runs / "imapb-tiny-s1-aaaa"), "log", "--log") == runs / "imapb-tiny-s1-aaaa"


def test_find_run_beginning_of_a_name_chooses_the_run_with_the_file(runs: Path) -> None:
    assert find_run("imapb-tiny", "log", "--log") == runs / "imapb-tiny-s1-bbbb"


def test_find_run_ambiguous_beginning_is_refused_with_the_names(runs: Path) -> None:
    (runs / "imapb-tiny-s1-aaaa" / "log").touch()
    with pytest.raises(
        UserError, match="begin with `imapb`: imapb-tiny-s1-aaaa, imapb-tiny-s1-bbbb; write one complete name"
    ):
        find_run("imapb", "log", "--log")


def test_find_run_without_the_file_names_the_option(runs: Path) -> None:
    with pytest.raises(UserError, match="was made with --other: make one with `s80lab run EXPERIMENT --other`"):
        find_run("imapb", "other", "--other")


@pytest.mark.parametrize("name", ["imape", "*"])
def test_find_run_unknown_name_is_refused(runs: Path, name: str) -> None:
    with pytest.raises(UserError, match="there is no run"):
        find_run(name, "log", "--log")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of several servers in one laboratory are told apart; runs that name none are of the first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base.errors import UserError
from s80lab.commands.parts import latest_runs
from s80lab.report.data import read_groups
from s80lab.results.database import insert_run, list_runs


@pytest.fixture
def uw(measured: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The laboratory's newest run of imape is of another server."""
    monkeypatch.setenv("S80LAB_RESULTS", str(measured.results))
    folder = measured.results / "runs" / "imape-3"
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"server": "uw"}))
    insert_run(measured.results / "s80lab.sqlite", folder)
    return folder


def test_the_latest_runs_are_the_experiments_servers(uw: Path) -> None:
    assert uw not in latest_runs(["imape"], "tiny")
    assert latest_runs(["imape"], "tiny", server="uw") == [uw]
    with pytest.raises(UserError, match="no run of imape is in"):
        latest_runs(["imape"], "tiny", server="cyrus")


def test_the_database_and_the_report_name_the_server(uw: Path, measured: Lab) -> None:
    servers = {row["id"]: row["server"] for row in list_runs(measured.results / "s80lab.sqlite")}
    assert (servers["imape-3"], servers["imape-2"]) == ("uw", "dovecot")
    groups = read_groups([uw, uw.with_name("imape-1"), uw.with_name("imape-2")])
    assert [(group.label, len(group.runs)) for group in groups] == [("imape uw", 1), ("imape dovecot", 2)]

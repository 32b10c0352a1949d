# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of transactions takes its rows and its words from the workload."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from s80lab.report.data import Group, read_groups
from s80lab.report.transactions import transactions_table


@pytest.fixture
def of_pop3(runs: Path, tmp_path: Path) -> Group:
    """A run of imapb, told as one of pop3."""
    folder = tmp_path / "pop3"
    shutil.copytree(runs / "imapb-1", folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"mix": "pop3", "workload": "pop3"}))
    load = json.loads((folder / "transactions.json").read_text())
    load["transactions"] = {
        name: load["transactions"][of] for name, of in {"CHCK": "VIEW", "RETR": "SELT", "SEND": "SEND"}.items()
    }
    load["transactions"]["RETR"]["substituted"] = 7
    load["driver"] = "independent"
    del load["move"]
    (folder / "transactions.json").write_text(json.dumps(load))
    (group,) = read_groups([folder])
    return group


def test_another_protocols_table_has_nothing_of_imap(of_pop3: Group) -> None:
    table = transactions_table(of_pop3)
    assert [row.label for row in table.rows] == ["CHCK", "RETR", "SEND", "all"]
    assert "Table 1" not in table.columns
    assert [row.cells[3].text for row in table.rows[:3]] == ["40.0%", "40.0%", "20.0%"]
    assert "the profile's mix" in table.note
    assert "7 were run as another type because no new mail was there" in table.note
    assert "MOVE" not in table.note and "mailbox" not in table.note
    assert table.rows[0].title == "Log in, see what mail there is, log out"


def test_imaps_table_is_the_papers(runs: Path) -> None:
    (group,) = read_groups([runs / "imapb-1"])
    table = transactions_table(group)
    assert "Table 1" in table.columns
    assert len(table.rows) == 11
    assert "MOVE is done by" in table.note

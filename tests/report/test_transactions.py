# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of transactions takes its rows and its words from the workload."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from s80lab.analysis.groups import Group, read_groups
from s80lab.base.errors import UserError
from s80lab.report.transactions import commands_tables, transactions_table


@pytest.fixture
def of_pop3(runs: Path, tmp_path: Path) -> Group:
    """A run of imapb, told as one of pop3."""
    folder = tmp_path / "pop3"
    shutil.copytree(runs / "imapb-1", folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"workload": "pop3"}))
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


def test_pop3_transaction_table_has_no_imap_rows_or_words(of_pop3: Group) -> None:
    table = transactions_table(of_pop3)
    assert [row.label for row in table.rows] == ["CHCK", "RETR", "SEND", "all"]
    assert "Table 1" not in table.columns
    assert [row.cells[3].text for row in table.rows[:3]] == ["40.0%", "40.0%", "20.0%"]
    assert "the profile's mix" in table.note
    assert "7 transactions were executed as another type because no new mail was there" in table.note
    assert "MOVE" not in table.note and "mailbox" not in table.note
    assert table.rows[0].title == "Log in, see what mail there is, log out"


def test_imaps_table_is_the_papers(runs: Path) -> None:
    (group,) = read_groups([runs / "imapb-1"])
    table = transactions_table(group)
    assert "Table 1" in table.columns
    assert len(table.rows) == 11
    assert "IMAP commands that move a message in the transaction MOVE: MOVE." in table.note


@pytest.fixture
def of_scripts(runs: Path, tmp_path: Path) -> Group:
    """Two runs of imapb, told as of scripts."""
    folders = []
    for seed in (1, 2):
        folder = tmp_path / f"scripts-{seed}"
        shutil.copytree(runs / f"imapb-{seed}", folder)
        manifest = json.loads((folder / "manifest.json").read_text())
        changed = manifest | {"workload": "clientscaler"}
        (folder / "manifest.json").write_text(json.dumps(changed))
        load = json.loads((folder / "transactions.json").read_text())
        names = {"IMAP": "VIEW", "POP3": "SELT", "SMTP": "SEND"}
        latency = {"mean": seed * 1_000_000}
        load |= {
            "transactions": {name: load["transactions"][of] for name, of in names.items()},
            "driver": "scripts",
            "think_ms": 0,
            "arrivals": {name: {"count": 10, "queued": seed, "waiting": 1, "wait_ns_mean": 5.0} for name in names},
            "commands": [
                {
                    "protocol": "pop3",
                    "command": "retr",
                    "bytes": size,
                    "count": 2,
                    "latency_ns": latency,
                    "histogram": histogram,
                }
                for size, histogram in ((2050, [[1_000_000, 1], [4_000_000, 1]]), (139602, [[9_000_000, 2]]))
            ],
        }
        del load["move"]
        (folder / "transactions.json").write_text(json.dumps(load))
        folders.append(folder)
    (group,) = read_groups(folders)
    return group


def test_script_commands_have_a_table(of_scripts: Group) -> None:
    (table,) = commands_tables([of_scripts])
    assert [row.label for row in table.rows] == ["pop3 retr 2050", "pop3 retr 139602"]
    assert [cell.text for cell in table.rows[0].cells] == ["4", "1.50", "1.00", "4.00", "4.00", "4.00"]


def test_scripts_are_a_groups_transactions(of_scripts: Group) -> None:
    table = transactions_table(of_scripts)
    assert [row.label for row in table.rows] == ["IMAP", "POP3", "SMTP", "all"]
    assert table.rows[1].title == "Fetch mail and delete it from the server"
    assert (
        "IMAP: 20 passes arrived; 3 of these passes had to wait for a free client, and 2 still waited at the"
        in table.note
    )
    assert "Table 1" not in table.note and "mix" not in table.note


def test_loads_without_scripts_have_no_command_table(of_pop3: Group) -> None:
    assert commands_tables([of_pop3]) == []


def test_runs_with_other_transaction_types_are_refused(runs: Path) -> None:
    path = runs / "imapb-2" / "transactions.json"
    load = json.loads(path.read_text())
    load["transactions"]["LOOK"] = load["transactions"].pop("VIEW")
    path.write_text(json.dumps(load))
    (group,) = read_groups([runs / "imapb-1", runs / "imapb-2"])
    with pytest.raises(UserError, match=r"transactions\.json: has other transaction types than imapb-1 \(LOOK, VIEW\)"):
        transactions_table(group)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of scripts' commands: there with them, and nothing of them without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from s80lab.results.metrics.derive import stats
from s80lab.results.snapshots import Snapshots

LATENCY = {"mean": 2_000_000, "p50": 1_500_000, "p90": 4_000_000, "p95": 5_000_000, "p99": 9_000_000, "max": 9_500_000}
COMMANDS = [
    {"protocol": "imap", "command": "flags all", "count": 7, "latency_ns": LATENCY, "histogram": []},
    {"protocol": "imap", "command": "fetch", "bytes": 1062, "count": 3, "latency_ns": LATENCY, "histogram": []},
    {"protocol": "imap", "command": "fetch", "bytes": 139602, "count": 1, "latency_ns": LATENCY, "histogram": []},
]


def metrics(run_dir: Path, load: dict[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = stats(Snapshots.read(run_dir / "snapshots.jsonl"), load, {}, None)["metrics"]
    return found


def test_commands_are_told_by_protocol_name_and_size(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    found = metrics(run_dir, load | {"commands": COMMANDS})
    assert found["command_ms.p90.imap.fetch.1062"] == 4
    assert found["command_ms.mean.imap.flags_all"] == 2
    rates = {name: value for name, value in found.items() if name.startswith("command_rate.")}
    assert list(rates) == [f"command_rate.imap.{name}" for name in ("flags_all", "fetch.1062", "fetch.139602")]
    seconds = Snapshots.read(run_dir / "snapshots.jsonl").region().clock_ns / 1e9
    assert [round(value * seconds, 6) for value in rates.values()] == [7, 3, 1]
    assert len([name for name in found if name.startswith("command_ms.")]) == 3 * 5


def test_requests_are_the_commands_of_a_protocol_without_its_connections(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    slow = {"protocol": "imap", "command": "noop", "count": 9, "latency_ns": LATENCY | {"mean": 4_000_000}}
    connect = {"protocol": "smtp", "command": "connect", "count": 5, "latency_ns": LATENCY}
    found = metrics(run_dir, load | {"commands": [*COMMANDS, slow, connect]})
    seconds = Snapshots.read(run_dir / "snapshots.jsonl").region().clock_ns / 1e9
    assert found["request_rate.imap"] * seconds == pytest.approx(20)
    assert found["request_rate_per_client.imap"] * load["clients"] == pytest.approx(found["request_rate.imap"])
    assert found["request_ms.imap"] == pytest.approx((11 * 2 + 9 * 4) / 20)
    assert "request_rate.smtp" not in found
    busy_ms = {name.rsplit(".", 1)[-1]: value for name, value in found.items() if "request_cpu_ms.imap." in name}
    for label, milliseconds in busy_ms.items():
        assert milliseconds * 20 == pytest.approx(found[f"class_processors.{label}"] * seconds * 1e3)
    assert busy_ms["session"] > 0


def test_what_found_no_client_free(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    arrivals = {"POP3": {"count": 8, "queued": 6, "waiting": 1}, "SMTP": {"count": 0, "queued": 0, "waiting": 0}}
    found = metrics(run_dir, load | {"arrivals": arrivals})
    assert (found["queued_share.POP3"], found["queued_share.SMTP"]) == (0.75, None)


def test_other_loads_and_replays_have_no_row_of_them(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    for result in (load, None):
        assert not any(name.startswith(("command_", "request_", "queued_")) for name in metrics(run_dir, result))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of scripts' commands, of the mail transport's queue and of streams, and their absence for other loads."""

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


def test_command_metrics_are_named_by_protocol_command_and_size(run_dir: Path) -> None:
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


def test_queued_share_is_the_share_of_arrivals_without_free_client(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    arrivals = {"POP3": {"count": 8, "queued": 6, "waiting": 1}, "SMTP": {"count": 0, "queued": 0, "waiting": 0}}
    found = metrics(run_dir, load | {"arrivals": arrivals})
    assert (found["queued_share.POP3"], found["queued_share.SMTP"]) == (0.75, None)


def test_command_metrics_are_absent_for_other_loads_and_replays(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    for result in (load, None):
        assert not any(name.startswith(("command_", "request_", "queued_")) for name in metrics(run_dir, result))


QUEUE = {"looks": 21, "mean": 4.5, "begin": 2, "end": 9, "accepted": 60, "delivered": 50, "put_off": 3, "refused": 1}


def content(run_dir: Path, load: dict[str, Any] | None, *, mail_may_wait: bool = False) -> dict[str, Any]:
    return stats(Snapshots.read(run_dir / "snapshots.jsonl"), load, {}, None, mail_may_wait=mail_may_wait)


def mail_metrics(run_dir: Path, load: dict[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = content(run_dir, load)["metrics"]
    return {name: value for name, value in found.items() if name.startswith("mail_")}


def test_mail_queue_metrics_give_mean_begin_and_end_lengths(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    found = mail_metrics(run_dir, load | {"mail_queue": QUEUE})
    told = {"mail_queue.mean": 4.5, "mail_queue.begin": 2, "mail_queue.end": 9, "mail_put_off": 4}
    assert found == told
    found = mail_metrics(run_dir, load | {"mail_queue": QUEUE | {"accepted_in_region": 12}})
    assert found == told | {"mail_queue.accepted": 12}


def test_postponed_deliveries_make_the_run_invalid(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    before = content(run_dir, load)["standing"]["reasons"]
    good = QUEUE | {"put_off": 0, "refused": 0}
    assert content(run_dir, load | {"mail_queue": good})["standing"]["reasons"] == before
    reason = "the mail transport postponed or refused 4 deliveries"
    assert content(run_dir, load | {"mail_queue": QUEUE})["standing"]["reasons"] == (*before, reason)


def test_growing_mail_queue_makes_the_run_invalid_unless_allowed(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    queue = QUEUE | {"put_off": 0, "refused": 0, "accepted_in_region": 16}
    before = content(run_dir, load | {"mail_queue": queue})["standing"]["reasons"]
    grown = load | {"mail_queue": queue | {"end": 14}}
    reason = "the mail queue grew by 12 envelopes in the region, while 16 were accepted"
    assert content(run_dir, grown)["standing"]["reasons"] == (*before, reason)
    assert content(run_dir, grown, mail_may_wait=True)["standing"]["reasons"] == before


def test_mail_queue_metrics_are_absent_for_other_loads_and_replays(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    assert mail_metrics(run_dir, load) == {}
    assert all(value is None for value in mail_metrics(run_dir, None).values())


TIMES = {"mean": 2_000_000, "p50": 1_500_000, "p90": 4_000_000, "p95": 5_000_000, "p99": 9_000_000, "max": 9_500_000}
STREAMS = {
    "packets": 400,
    "bytes": 300_000,
    "lost": 2,
    "late": 1,
    "transit_ns": TIMES,
    "transit_histogram": [],
    "jitter_ns": TIMES | {"p95": 3_000_000},
    "jitter_histogram": [],
}


def stream_metrics(run_dir: Path, load: dict[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = stats(Snapshots.read(run_dir / "snapshots.jsonl"), load, {}, None)["metrics"]
    return {name: value for name, value in found.items() if name.startswith("stream_")}


def test_stream_metrics_count_received_lost_and_late_packets(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    found = stream_metrics(run_dir, load | {"streams": STREAMS})
    seconds = (load["region"]["end_ns"] - load["region"]["begin_ns"]) / 1e9
    assert found["stream_mbit"] * seconds == pytest.approx(2.4)
    packets = {name: found[f"stream_packets.{name}"] for name in ("received", "lost", "late")}
    assert packets == {"received": 400, "lost": 2, "late": 1}
    assert (found["stream_jitter_ms.mean"], found["stream_jitter_ms.p95"], found["stream_transit_ms.p95"]) == (2, 3, 5)


def test_stream_metrics_are_absent_for_other_loads_and_replays(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    assert stream_metrics(run_dir, load) == {}
    assert all(value is None for value in stream_metrics(run_dir, None).values())

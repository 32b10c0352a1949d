# SPDX-License-Identifier: GPL-2.0-or-later
"""The server under the load generator, and deliveries into its mailboxes."""

from __future__ import annotations

import smtplib
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.lab import LIMIT_S
from tests.loadgen.conftest import Outcome, collect, launch
from tests.servers.uw.uw_server import DELIVER, USERS, UwServer, count, literal, messages, ok

from s80lab.config.mix import Workload
from s80lab.config.workload import Imap, expected_mix, job_text, load_workload

NO_ERRORS = {"protocol": 0, "connection": 0, "missing": 0, "smtp": 0}


def run(system: UwServer, folder: Path, workload: Workload, **settings: Any) -> Outcome:
    values = {"clients": USERS, "users": USERS, "seed": 1, "think_ms": 40, "warmup_s": 1, "measure_s": 4, **settings}
    job = folder / "job"
    job.write_text(job_text(workload, **values))
    return collect(launch(job, "--imap", f"127.0.0.1:{system.imap}", "--smtp", f"127.0.0.1:{system.smtp}"))


def good_result(outcome: Outcome) -> dict[str, Any]:
    result = outcome.one("result")
    assert (result["errors"], result["first_error"], outcome.code) == (NO_ERRORS, "", 0)
    assert result["lost_flags"] == 0
    assert result["move"] == "COPY+STORE+EXPUNGE"
    assert all(counts["failed"] == 0 for counts in result["transactions"].values())
    return result


@pytest.mark.parametrize("mix", ["imapb", "imape"])
def test_imap_mix_runs_without_error(mix: str, mail_system: UwServer, tmp_path: Path) -> None:
    workload = load_workload(mix).model_copy(update={"incoming_per_s": 2.0})
    result = good_result(run(mail_system, tmp_path, workload))
    for name, share in expected_mix(load_workload(mix)).items():
        assert result["transactions"][name]["count"] > 0 or share * result["totals"]["count"] < 5, name
    assert result["incoming"]["messages"] > 0


def test_transaction_types_all_succeed(mail_system: UwServer, tmp_path: Path) -> None:
    """All ten equally often, so that none is missing by chance."""
    equally = dict.fromkeys(Imap.WHAT, 10.0)
    workload = load_workload("imape").model_copy(update={"driver": "independent", "mix_percent": equally})
    result = good_result(run(mail_system, tmp_path, workload))
    assert {name: counts["count"] > 0 for name, counts in result["transactions"].items()} == dict.fromkeys(
        Imap.WHAT, True
    )


def test_delivery_arrives_in_a_selected_inbox(server: UwServer) -> None:
    client = server.connect()
    before = count(client, "INBOX")
    done = server.deliver(b"From mta@s80.example Mon Jan  1 00:00:00 2001\nSubject: new one\n\nHello\n.\n")
    assert (done.returncode, done.stderr) == (0, "")
    ok(client.noop())
    assert client.untagged_responses["EXISTS"][-1] == str(before + 1).encode()
    assert literal(client.fetch("*", "BODY[]")) == b"Subject: new one\r\n\r\nHello\r\n.\r\n"
    assert len(messages(server.home() / "inbox")) == before + 1


def test_deliveries_and_sessions_share_an_inbox(server: UwServer) -> None:
    """A SELECT that comes upon a delivery is read-write all the same, and no message is lost."""
    client = server.connect()
    before = count(client, "INBOX")
    ten = 'for i in 0 1 2 3 4 5 6 7 8 9; do printf "Subject: $i\\n\\n$i\\n" | "$0" --mail "$1" user001 || exit 1; done'
    with subprocess.Popen(["sh", "-c", ten, DELIVER, server.mail]) as deliveries:
        while deliveries.poll() is None:
            ok(client.select())  # imaplib raises where it is read-only
    assert deliveries.returncode == 0
    assert count(client, "INBOX") == before + 10


def test_delivery_to_unknown_user_is_refused_in_one_sentence(server: UwServer) -> None:
    done = server.deliver(b"Subject: x\n\nx\n", "user999")
    assert done.returncode == 67  # EX_NOUSER
    assert done.stderr.count("\n") == 1
    assert server.deliver(b"", "../user002").returncode == 64  # EX_USAGE


def test_mail_that_is_sent_arrives(mail_system: UwServer) -> None:
    client = mail_system.connect("user002")
    before = count(client, "INBOX")
    with smtplib.SMTP("127.0.0.1", mail_system.smtp) as smtp:
        smtp.sendmail("user001@s80.example", ["user002@s80.example"], b"Subject: sent\r\n\r\n..\r\nFrom me\r\n")
    end = time.monotonic() + LIMIT_S
    while client.untagged_responses.get("EXISTS", [b"0"])[-1] != str(before + 1).encode():
        assert time.monotonic() < end, (mail_system.base / "smtpd.log").read_text()
        ok(client.noop())
    assert literal(client.fetch("*", "BODY[TEXT]")) == b"..\r\n>From me\r\n"
    inbox = mail_system.home("user002") / "inbox"
    assert inbox.stat().st_uid == 65534, "the file stays its owner's"

# SPDX-License-Identifier: GPL-2.0-or-later
"""s80-uw-deliver: alone, beside sessions, and behind an OpenSMTPD."""

from __future__ import annotations

import smtplib
import subprocess
import time

from tests.lab import LIMIT_S
from tests.servers.uw.uw_server import DELIVER, UwServer, count, literal, messages, ok


def test_a_delivery_arrives_in_a_selected_inbox(server: UwServer) -> None:
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


def test_a_delivery_to_nobody_is_one_sentence(server: UwServer) -> None:
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

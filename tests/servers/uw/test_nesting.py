# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages with deeply nested comments, at which c-client's recursion would exhaust the stack of a session."""

from __future__ import annotations

import imaplib
import os
import signal
from pathlib import Path

import pytest
from tests.servers.uw.uw_server import UwServer, count, ok

DEEP = "(" * 20_000
PART = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain {0}\n\nx\n--b--\n"
WARNING = "Message {0} is not searched: comments in its header are nested more than 4096 levels deep"
MARK = "From: finder@s80.example\nTo: finder@s80.example\nSubject: finder\n\nfinder\n"


def session_of(server: UwServer) -> int:
    """The process of the only session."""
    (listener,) = server.servers
    (child,) = Path(f"/proc/{listener.pid}/task/{listener.pid}/children").read_text().split()
    return int(child)


@pytest.mark.parametrize(
    ("message", "keys"),
    [
        (f"From: {DEEP}\n\nx\n", ["FROM", "TO", "SUBJECT", "BODY", "TEXT"]),
        (f"To: {DEEP}\n\nx\n", ["FROM", "TO", "SUBJECT", "BODY", "TEXT"]),
        (f"From: {'(' * 10_000}\n {'(' * 10_000}\n\nx\n", ["FROM"]),
        ("From: " + "(\\)" * 20_000 + "\n\nx\n", ["FROM"]),
        (f"MIME-Version: 1.0\nContent-Type: text/plain {DEEP}\n\nx\n", ["BODY", "TEXT"]),
        (PART.format(DEEP), ["BODY", "TEXT"]),
    ],
    ids=["From", "To", "two lines", "escaped", "Content-Type", "part"],
)
def test_search_leaves_a_deeply_nested_message_out(server: UwServer, message: str, keys: list[str]) -> None:
    assert server.deliver(message.encode()).returncode == 0
    assert server.deliver(MARK.encode()).returncode == 0
    client = server.connect()
    last = count(client, "INBOX")
    for key in keys:
        assert ok(client.search(None, key, "finder")) == [str(last).encode()]
        assert client.untagged_responses.pop("NO") == [WARNING.format(last - 1).encode()]
    assert ok(client.uid("SEARCH", f"OR {keys[0]} finder {last}"))[0].split() == [
        ok(client.fetch("*", "UID"))[0].split()[2].rstrip(b")")
    ]
    ok(client.fetch(str(last - 1), "BODY[]"))
    server.stop()
    assert (server.base / "imapd.log").read_text() == ""


def test_search_without_texts_finds_a_deeply_nested_message(server: UwServer) -> None:
    server.deliver(f"From: {DEEP}\n\nx\n".encode())
    client = server.connect()
    last = str(count(client, "INBOX")).encode()
    for key in ("ALL", "UNKEYWORD x", "SMALLER 100000", "SINCE 1-Jan-2000"):
        assert ok(client.search(None, key))[0].split()[-1] == last, key
    assert "NO" not in client.untagged_responses


def test_search_of_deeply_nested_messages_alone_finds_nothing(server: UwServer) -> None:
    client = server.connect()
    ok(client.create("deep"))
    ok(client.append("deep", "", "", f"From: {DEEP}\r\n\r\nx\r\n".encode()))
    count(client, "deep")
    assert ok(client.search(None, "NOT FROM x")) == [b""]
    assert client.untagged_responses["NO"] == [WARNING.format(1).encode()]


@pytest.mark.parametrize("message", ["From: {0}\nSubject: limit\n\nlimit\n", "Subject: limit\n" + PART + "limit\n"])
def test_search_finds_a_message_at_the_limit(server: UwServer, message: str) -> None:
    server.deliver(message.format("(" * 4096 + ")" * 4096 + " a@b").encode())
    client = server.connect()
    last = str(count(client, "INBOX")).encode()
    for key in ("SUBJECT", "TEXT"):
        assert ok(client.search(None, key, "limit")) == [last]
    assert "NO" not in client.untagged_responses


@pytest.mark.parametrize(("mailbox", "whom"), [(None, "user001"), ("INBOX", "user001, mailbox INBOX")])
def test_session_that_a_signal_ended_is_reported(server: UwServer, mailbox: str | None, whom: str) -> None:
    client = server.connect()
    port = client.sock.getsockname()[1]
    if mailbox:
        client.select(mailbox)
    os.kill(session_of(server), signal.SIGSEGV)
    with pytest.raises(imaplib.IMAP4.abort):
        client.noop()
    ok(server.connect().select())
    server.stop()
    line = f"s80-uw-imapd: signal 11 (Segmentation fault) ended the session of {whom}, from 127.0.0.1:{port}\n"
    assert (server.base / "imapd.log").read_text() == line

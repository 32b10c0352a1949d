# SPDX-License-Identifier: GPL-2.0-or-later
"""s80-uw-imapd by Python's imaplib: what it says is what lies in the mbox files."""

from __future__ import annotations

import imaplib
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from tests.servers.uw.uw_server import IMAPD, UwServer, count, literal, messages, ok


def raw(client: imaplib.IMAP4, line: bytes) -> bytes:
    """The tagged reply to a line that imaplib would not send."""
    client.send(b"x1 " + line + b"\r\n")
    while not (reply := client.readline()).startswith(b"x1 "):
        assert reply
    return reply


def test_select_counts_and_list_names(server: UwServer) -> None:
    client = server.connect()
    folders = sorted(path.name for path in (server.home() / "mail").iterdir())
    names = [re.sub(rb'.* "?([^"]+)"?$', rb"\1", line).decode() for line in ok(client.list())]
    assert sorted(names) == sorted(["INBOX", *folders])
    for name, path in [("INBOX", server.home() / "inbox"), *((f, server.home() / "mail" / f) for f in folders)]:
        assert count(client, name) == len(messages(path))


def test_header_and_body_are_those_of_the_file(server: UwServer) -> None:
    expected = messages(server.home() / "inbox")
    client = server.connect()
    assert count(client, "INBOX") == len(expected)
    fetched = [part for part in ok(client.fetch("1:*", "(UID FLAGS BODY.PEEK[HEADER])")) if isinstance(part, tuple)]
    assert [part[1] for part in fetched] == [header for header, _ in expected]
    for number, (header, body) in enumerate(expected, 1):
        assert literal(client.fetch(str(number), "BODY.PEEK[]")) == header + body
        assert literal(client.fetch(str(number), "BODY.PEEK[TEXT]<3.20>")) == body[3:23]
        size = ok(client.fetch(str(number), "RFC822.SIZE"))[0]
        assert int(size.split()[-1].rstrip(b")")) == len(header) + len(body)


def test_fetched_body_sets_seen_flag_unless_peeked(server: UwServer) -> None:
    client = server.connect()
    client.select()
    ok(client.store("1", "-FLAGS", "(\\Seen)"))
    client.fetch("1", "BODY.PEEK[]")
    assert b"\\Seen" not in ok(client.fetch("1", "FLAGS"))[0]
    client.fetch("1", "BODY[]")
    assert b"\\Seen" in ok(client.fetch("1", "FLAGS"))[0]
    client.select()  # by the file
    assert b"\\Seen" in ok(client.fetch("1", "FLAGS"))[0]


def test_store_and_expunge_remove_messages(server: UwServer) -> None:
    path = server.home() / "inbox"
    before = messages(path)
    client = server.connect()
    client.select()
    (changed,) = ok(client.store("2", "+FLAGS", "(\\Deleted)"))
    assert b"\\Deleted" in changed
    assert ok(client.store("3", "+FLAGS.SILENT", "(\\Deleted)")) == [None]
    assert ok(client.store("3", "-FLAGS.SILENT", "(\\Deleted)")) == [None]
    assert ok(client.expunge()) == [b"2"]
    assert messages(path) == [before[0], *before[2:]]
    assert count(client, "INBOX") == len(before) - 1


def test_close_expunges_and_another_select_does_not(server: UwServer) -> None:
    path = server.home() / "inbox"
    before = messages(path)
    client = server.connect()
    client.select()
    client.store("1:2", "+FLAGS", "(\\Deleted)")
    client.select()
    assert len(messages(path)) == len(before)
    ok(client.close())
    assert messages(path) == before[2:]


def test_copy_appends_messages_to_the_target(server: UwServer) -> None:
    folder = next((server.home() / "mail").iterdir())
    source, target = messages(server.home() / "inbox"), messages(folder)
    client = server.connect()
    client.select()
    ok(client.copy("2:3", folder.name))
    assert messages(folder) == [*target, *source[1:3]]
    assert count(client, folder.name) == len(target) + 2
    assert client.copy("1", "absent")[0] == "NO"


def test_search_by_subject(server: UwServer) -> None:
    subjects = [
        re.search(rb"^Subject: (.*)\r$", header, re.MULTILINE) for header, _ in messages(server.home() / "inbox")
    ]
    texts = [found[1].decode() for found in subjects if found]
    client = server.connect()
    client.select()
    for word in texts[0].split()[-1], texts[-1].split()[-1].upper(), "nowhere":
        found = [int(number) for number in ok(client.search(None, "SUBJECT", f'"{word}"'))[0].split()]
        assert found == [i for i, text in enumerate(texts, 1) if word.lower() in text.lower()]
    last = len(texts)
    combined = ok(client.search(None, f"OR 1 (2:{last} NOT 3:{last})"))[0].split()
    assert combined == [b"1", b"2"]


def test_uids_stay_with_their_messages(server: UwServer) -> None:
    client = server.connect()
    client.select()
    third = ok(client.fetch("3", "UID"))[0].split()[-1].rstrip(b")").decode()
    body = literal(client.fetch("3", "BODY.PEEK[]"))
    client.store("1", "+FLAGS", "(\\Deleted)")
    client.expunge()
    assert literal(client.uid("FETCH", third, "BODY.PEEK[]")) == body
    assert ok(client.uid("SEARCH", "2"))[0].decode() == third


def test_mailboxes_are_made_renamed_and_deleted_as_mbox(server: UwServer) -> None:
    client = server.connect()
    ok(client.create('"made here"'))
    ok(client.rename('"made here"', '"made \\"there\\""'))
    path = server.home() / "mail" / 'made "there"'
    assert path.read_bytes().startswith(b"From ")
    assert count(client, '"made \\"there\\""') == 0
    ok(client.append('"made \\"there\\""', "(\\Flagged)", "", b"Subject: x\r\n\r\nFrom here\r\n"))
    assert [line.split() for line in ok(client.noop())] == [[b"NOOP", b"completed"]]
    assert literal(client.fetch("1", "BODY[TEXT]")) == b">From here\r\n", "c-client quotes what looks like a message"
    client.select()
    ok(client.delete('"made \\"there\\""'))
    assert not path.exists()
    assert client.delete("INBOX")[0] == "NO"


def test_names_stay_in_the_users_folder(server: UwServer) -> None:
    client = server.connect()
    for name in ("/etc/passwd", "../../user002/inbox", "~user002/inbox", "a/../../inbox", "#driver.mbx/x", "{host}x"):
        assert client.select(f'"{name}"')[0] == "NO", name
        assert client.create(f'"{name}"')[0] == "NO", name
        assert client.rename("INBOX", f'"{name}"')[0] == "NO", name


def test_bad_syntax_gets_bad_and_the_session_goes_on(server: UwServer) -> None:
    client = server.connect()
    for line in (b"FROB", b"FETCH 1 FLAGS", b"SELECT", b'SELECT "inbox', b"NOOP x", b"LOGIN a b", b"SELECT {70000}"):
        assert raw(client, line).startswith(b"x1 BAD "), line
    client.select()
    for line in (b"FETCH x FLAGS", b"FETCH 1 (FLAGS", b"STORE 1 FLAGS", b"SEARCH FROB", b"SEARCH (1", b"UID NOOP"):
        assert raw(client, line).startswith(b"x1 BAD "), line
    assert raw(client, b"NOOP " + b"x" * 100_000).startswith(b"x1 BAD ")
    assert raw(client, b"SEARCH " + b"NOT " * 1000 + b"ALL").startswith(b"x1 BAD ")
    assert raw(client, b"FETCH 9999 FLAGS").startswith(b"x1 NO ")
    assert raw(client, b"NOOP").startswith(b"x1 OK ")


def test_wrong_password_is_refused(server: UwServer) -> None:
    client = server.connect()
    client.logout()
    with pytest.raises(imaplib.IMAP4.error, match="Wrong user or password"):
        imaplib.IMAP4_SSL("127.0.0.1", server.imap, ssl_context=client.ssl_context).login("user001", "other")


def test_examined_mailbox_is_not_changed(server: UwServer) -> None:
    path = server.home() / "inbox"
    before = path.read_bytes()
    client = server.connect()
    ok(client.select("INBOX", readonly=True))
    assert client.store("1", "+FLAGS", "(\\Deleted)")[0] == "NO"
    assert client.expunge()[0] == "NO"
    client.fetch("1", "BODY[]")
    client.logout()
    assert path.read_bytes() == before


def test_newer_session_takes_the_mailbox_from_the_older_session(server: UwServer) -> None:
    """As UW's imapd: the newer session gets the mailbox, the older one ends."""
    older, newer = server.connect(), server.connect()
    older.select()
    ok(newer.select())  # imaplib raises where it is read-only
    with pytest.raises(imaplib.IMAP4.abort):
        older.noop()


def test_sigterm_ends_the_server_and_its_sessions(server: UwServer) -> None:
    (process,) = server.servers
    client = server.connect()
    client.select()
    client.fetch("1:*", "BODY[]")
    process.send_signal(signal.SIGTERM)
    assert client.readline().startswith(b"* BYE ")
    assert process.wait() == 0
    assert b"\nStatus: O\n" not in (server.home() / "inbox").read_bytes(), "what had changed is written"


def test_sessions_do_not_outlive_a_server_that_is_killed(server: UwServer) -> None:
    client = server.connect()
    server.servers[0].kill()
    assert client.readline().startswith(b"* BYE ")


def test_disconnected_client_ends_its_process_without_message(server: UwServer) -> None:
    client = server.connect()
    client.select()
    client.sock.shutdown(socket.SHUT_RDWR)
    client.sock.close()
    socket.create_connection(("127.0.0.1", server.imap)).close()  # no handshake
    newer = server.connect()
    ok(newer.select())
    newer.logout()
    server.stop()
    assert (server.base / "imapd.log").read_text() == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--passwd is needed"),
        (["--frob", "x"], "unknown option --frob"),
        (["--passwd", "/dev/null/absent"], "/dev/null/absent: Not a directory"),
        (["--passwd", "/dev/null", "--cert", "/dev/null", "--key", "/dev/null"], "/dev/null is not a certificate"),
    ],
)
def test_malformed_imapd_options_are_refused_in_one_sentence(options: list[str], message: str) -> None:
    done = subprocess.run([IMAPD, *options], capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith(f"s80-uw-imapd: {message}")


def test_port_in_use_is_refused_in_one_sentence(server: UwServer, tmp_path: Path) -> None:
    listen = f"127.0.0.1:{server.imap}"
    command = [str(IMAPD), "--listen", listen, "--mail", "/x/%u", "--passwd", str(tmp_path / "passwd")]
    command += ["--cert", str(tmp_path / "cert.pem"), "--key", str(tmp_path / "key.pem")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"s80-uw-imapd: cannot listen on {listen}: Address already in use\n"

# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that follow scripts, against a real Dovecot and a real OpenSMTPD, on the host."""

from __future__ import annotations

import contextlib
import imaplib
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.lab import LIMIT_S
from tests.loadgen.conftest import USERS, Outcome, collect, launch, mail_servers
from tests.loadgen.mail_system import MailSystem, has_pop3, make_certificate
from tests.loadgen.service import free_port

from s80lab.config.script import COMMANDS
from s80lab.config.workload import Scripts, job_text, load_workload

NO_ERRORS = {"protocol": 0, "connection": 0, "missing": 0, "smtp": 0}
METRIC = {"throughput": "", "latency": "", "phases": ""}
SIZES = {1062: 45, 2050: 38, 5321: 10, 34762: 5, 139602: 2}


def following(*scripts: dict[str, Any]) -> Scripts:
    """A profile of these scripts, which think for a millisecond where they say nothing else."""
    pace = {"what": "", "percent": 100 / len(scripts)}
    return Scripts.model_validate(
        {
            "protocol": "scripts",
            "mix": "mine",
            "description": "",
            "metric": METRIC,
            "sizes": SIZES,
            "script": [
                pace | ({} if "rate_per_s" in one else {"think": "exponential 1"}) | {"name": f"S{place}"} | one
                for place, one in enumerate(scripts)
            ],
        }
    )


def run(system: MailSystem, folder: Path, workload: Scripts, clients: int = USERS, measure_s: float = 2) -> Outcome:
    if "pop3" in workload.speaks and not has_pop3():
        pytest.skip("needs the package dovecot-pop3d")
    job = folder / "job"
    job.write_text(job_text(workload, clients=clients, users=USERS, seed=1, warmup_s=0, measure_s=measure_s))
    return collect(launch(job, *system.addresses))


def good(outcome: Outcome) -> dict[str, Any]:
    result = outcome.one("result")
    assert (result["errors"], result["first_error"], outcome.code) == (NO_ERRORS, "", 0), outcome.all("error")
    return result


def counts(result: dict[str, Any]) -> dict[str, int]:
    """Of the commands, by protocol, name and size."""
    named = (
        (" ".join((one["protocol"], one["command"], *([str(one["bytes"])] if "bytes" in one else []))), one["count"])
        for one in result["commands"]
    )
    return dict(named)


def test_three_protocols_side_by_side(mail_system: MailSystem, tmp_path: Path) -> None:
    """The study's profile, at rates that this machine can do."""
    workload = load_workload("clientscaler").model_copy(update={"speed_up": 0.3, "tls": True})
    assert isinstance(workload, Scripts)
    result = good(run(mail_system, tmp_path, workload, measure_s=5))
    assert list(result["transactions"]) == ["IMAP", "POP3", "SMTP"]
    assert all(entry["count"] > 0 for entry in result["transactions"].values())
    assert result["driver"] == "scripts"
    assert list(result["arrivals"]) == ["IMAP", "POP3", "SMTP"]
    seen = counts(result)
    assert abs(seen["smtp rcpt"] - 3 * seen["smtp helo"]) <= 3 * USERS
    assert abs(seen["pop3 stat"] - seen["pop3 uidl"]) <= USERS
    assert {"imap noop", "imap flags last", "pop3 retr 1062", "pop3 dele", "smtp data 2050"} <= set(seen)
    assert not {"move"} & set(result)
    for command in result["commands"]:
        latency = command["latency_ns"]
        assert latency["p50"] <= latency["p90"] <= latency["p95"] <= latency["p99"] <= latency["max"]
        assert sum(count for _, count in command["histogram"]) == command["count"]


PLAIN = """\
ssl = yes
disable_plaintext_auth = no
service {protocol}-login {{
  inet_listener {protocol} {{
    port = {port}
  }}
}}
"""


@pytest.mark.parametrize(
    ("protocol", "steps"),
    [("imap", ["connect", "login", "select INBOX", "logout"]), ("pop3", ["connect", "login", "stat", "quit"])],
)
def test_script_without_tls_runs_and_tls_to_plain_port_is_refused(
    protocol: str, steps: list[str], tmp_path: Path
) -> None:
    """Who begins it all the same is told."""
    if protocol == "pop3" and not has_pop3():
        pytest.skip("needs the package dovecot-pop3d")
    port = free_port()
    with mail_servers(PLAIN.format(protocol=protocol, port=port)):
        outcomes = []
        for tls in (False, True):
            workload = following({"protocol": protocol, "steps": steps}).model_copy(update={"tls": tls})
            (tmp_path / "job").write_text(job_text(workload, clients=2, users=USERS, seed=1, warmup_s=0, measure_s=1))
            outcomes.append(collect(launch(tmp_path / "job", f"--{protocol}", f"127.0.0.1:{port}")))
    plain, encrypted = outcomes
    assert good(plain)["transactions"]["S0"]["count"] > 0
    assert "wrong version number" in encrypted.one("error")["message"]


ARGUMENT = {"list": "list %", "select": "select INBOX", "copy": "copy INBOX", "store": "store Seen", "send": "send 2"}
ARGUMENT |= {"status": "status INBOX", "search": "search subject budget", "move": "move INBOX"}
ARGUMENT |= {"flags": "flags all", "headers": "headers last", "append": "append INBOX 5321"}


def test_script_commands_are_all_known_to_the_load_generator(mail_system: MailSystem, tmp_path: Path) -> None:
    """In an order that the server takes; the load generator refuses a step that it does not know."""
    orders = {
        "imap": "connect capability login namespace list status select flags headers body store copy append search "
        "noop expunge append copy move idle done send logout",
        "pop3": "connect login stat list uidl retr dele send quit",
        "smtp": "send",
    }
    for protocol, order in orders.items():
        assert set(order.split()) == set(COMMANDS[protocol])
    scripts = [
        {
            "protocol": protocol,
            "steps": [
                ARGUMENT.get(word, word) if protocol != "pop3" or word == "send" else word for word in order.split()
            ],
        }
        for protocol, order in orders.items()
    ]
    result = good(run(mail_system, tmp_path, following(*scripts), clients=6))
    assert all(entry["count"] > 0 for entry in result["transactions"].values())
    assert {"imap append 5321", "imap copy", "imap logout", "imap namespace", "pop3 user", "smtp quit"} <= set(
        counts(result)
    )


def test_loops_fractions_and_waits(mail_system: MailSystem, tmp_path: Path) -> None:
    script = {
        "protocol": "imap",
        "start": ["connect", "login", "select INBOX"],
        "steps": [
            "noop",
            {"repeat": 3, "steps": ["wait uniform 10 30", "headers 5", {"repeat": 2, "steps": ["body"]}]},
            {"percent": 0, "steps": ["expunge"]},
            {"percent": 100, "steps": ["flags last"]},
        ],
    }
    result = good(run(mail_system, tmp_path, following(script), clients=4))
    seen = counts(result)
    bodies = sum(count for name, count in seen.items() if name.startswith("imap fetch"))
    assert abs(seen["imap headers 5"] - 3 * seen["imap noop"]) <= 4 * 3
    assert abs(bodies - 2 * seen["imap headers 5"]) <= 4 * 2
    assert abs(seen["imap flags last"] - seen["imap noop"]) <= 4
    assert "imap expunge" not in seen
    # A transaction is what lies between two waits: in a pass what is before the first, and the three rounds.
    assert abs(result["transactions"]["S0"]["count"] - 4 * seen["imap noop"]) <= 4 * 4
    assert result["totals"]["think_ns_mean"] > 7.5e6


def test_messages_have_their_size_exactly(mail_system: MailSystem, tmp_path: Path) -> None:
    script = {"protocol": "imap", "start": ["connect", "login"], "steps": ["append INBOX 2050"]}
    good(run(mail_system, tmp_path, following(script), clients=1, measure_s=0.3))
    with inbox(mail_system, "user001") as (server, _):
        (last,) = server.fetch("*", "(RFC822.SIZE)")[1]
    assert isinstance(last, bytes)
    assert b"RFC822.SIZE 2050)" in last


@contextlib.contextmanager
def inbox(system: MailSystem, user: str) -> Iterator[tuple[imaplib.IMAP4, int]]:
    """A connection that has it selected, and how many messages it holds."""
    unverified = ssl.create_default_context()
    unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
    with imaplib.IMAP4_SSL("127.0.0.1", system.imap, ssl_context=unverified) as server:
        server.login(user, system.password)
        (messages,) = server.select("INBOX", readonly=True)[1]
        yield server, int(messages or 0)


def test_mail_goes_to_those_who_read(mail_system: MailSystem, tmp_path: Path) -> None:
    """Of 12 accounts two have a client. All is delivered once a message that went out last is there."""

    def held() -> dict[str, int]:
        found = {}
        for user in (f"user{number:03}" for number in range(1, USERS + 1)):
            with inbox(mail_system, user) as (_, found[user]):
                pass
        return found

    before = held()
    script = {"protocol": "smtp", "steps": ["send 1 2050"]}
    workload = following(script).model_copy(update={"recipients": "clients"})
    sent = counts(good(run(mail_system, tmp_path, workload, clients=2, measure_s=1)))["smtp data 2050"]
    limit = time.monotonic() + LIMIT_S
    while sum((after := held()).values()) < sum(before.values()) + sent:
        assert time.monotonic() < limit, f"{sent} messages were sent: {before} became {after}"
    grown = {user for user in after if after[user] > before[user]}
    assert sent > 10 and grown == {"user001", "user002"}


def test_script_connects_anew_if_offline(mail_system: MailSystem, tmp_path: Path) -> None:
    script = {
        "protocol": "imap",
        "steps": [
            {"when": "offline", "steps": ["connect", "login", "connection 2", "connect", "login", "connection 1"]},
            "noop",
            "logout",
        ],
    }
    result = good(run(mail_system, tmp_path, following(script), clients=2, measure_s=1))
    seen = counts(result)
    assert abs(seen["imap login"] - 2 * seen["imap noop"]) <= 4
    assert abs(seen["imap logout"] - seen["imap noop"]) <= 2


def test_passes_that_find_no_client_free_wait(mail_system: MailSystem, tmp_path: Path) -> None:
    script = {
        "protocol": "imap",
        "rate_per_s": 400.0,
        "start": ["connect", "login"],
        "steps": ["noop", "wait constant 50", "noop"],
    }
    result = good(run(mail_system, tmp_path, following(script), clients=2))
    arrivals = result["arrivals"]["S0"]
    assert arrivals["count"] == pytest.approx(800, abs=150)
    assert 0 < arrivals["waiting"] < arrivals["queued"] <= arrivals["count"]
    assert arrivals["wait_ns_mean"] > 50e6
    assert result["transactions"]["S0"]["count"] <= 2 * 2 * 2 / 0.05


TRUTH = {
    b"LOGIN": b"a OK in",
    b"SELECT": b"* 2 EXISTS\r\na OK selected",
    b"FETCH": b"* # FETCH (UID 1 RFC822.SIZE 5 BODY[] {5}\r\nabcde)\r\na OK fetched",
    b"UID": b"* 1 FETCH (UID 1 FLAGS ())\r\n* 2 FETCH (UID 7 FLAGS ())\r\na OK fetched",
    b"STORE": b"* # FETCH (FLAGS (\\Deleted))\r\na OK stored",
}

LOGIN = ["connect", "login", "select INBOX"]


def follow(steps: list[Any], lie: dict[bytes, bytes], folder: Path, **script: Any) -> Outcome:
    """What one client says of a server that says these things to a command, or to it and its first argument. `#` is
    this argument."""
    certificate = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.load_cert_chain(*make_certificate(folder))
    said = TRUTH | lie

    def serve(listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                with certificate.wrap_socket(listening.accept()[0], True) as client:
                    client.sendall(b"* OK ready\r\n")
                    for line in client.makefile("rb"):
                        tag, command, *arguments = line.split()
                        words = [command.upper(), *arguments[:1]]
                        answer = said.get(b" ".join(words), said[words[0]]).replace(b"#", words[-1])
                        answer = answer.replace(b"\r\na ", b"\r\n" + tag + b" ")
                        client.sendall((tag + answer[1:] if answer.startswith(b"a ") else answer) + b"\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        workload = following({"protocol": "imap", "think": "constant 20", "steps": steps, **script})
        (folder / "job").write_text(job_text(workload, clients=1, users=1, seed=1, warmup_s=0, measure_s=2))
        return collect(launch(folder / "job", "--imap", f"127.0.0.1:{listening.getsockname()[1]}"))


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        ({}, None),
        ({b"FETCH": b"* # FETCH (UID 1 RFC822.SIZE 6 BODY[] {5}\r\nabcde)\r\na OK"}, "in bytes brought 5 of 6"),
        ({b"FETCH": b"* # FETCH (UID 1 BODY[] {5}\r\nabcde RFC822.SIZE 4)\r\na OK"}, "in bytes brought 5 of 4"),
        ({b"FETCH": b"a OK nothing"}, "(UID RFC822.SIZE BODY[]) brought 0 of 1"),
        ({b"UID": b"* 1 FETCH (UID 1 FLAGS ())\r\na OK"}, "UID FETCH 1:* brought 1 of 2"),
        ({b"STORE": b"a OK stored", b"FETCH": TRUTH[b"FETCH"]}, "(\\\\Deleted) brought 0 of 1"),
        ({b"LOGIN": b"* NO slow\r\na NO never"}, "refused LOGIN: NO never; it warned: NO slow"),
        ({b"LOGIN": b"* NO slow\r\na OK now"}, None),
        ({b"LOGIN": b"* OK " + b"x" * 1_000_000 + b"\r\na OK"}, None),
        ({b"LOGIN": b"* OK " + b"x" * 1_200_000 + b"\r\na OK"}, "sent a line of more than 1 MiB"),
        ({b"LOGIN": b"a MAYBE"}, "neither OK, NO nor BAD: MAYBE"),
        ({b"LOGIN": b"+ more"}, "the server asks for the rest of a complete command: + more"),
        ({b"LOGIN": b"* BAD slow\r\n* BYE \x1b[31m"}, "the server ended the session: ?[31m"),
        ({b"LOGIN": b"a NO never"}, "the server refused LOGIN: NO never"),
        ({b"SELECT": b"a BAD never"}, "the server refused SELECT"),
    ],
)
def test_inconsistent_imap_reply_is_an_error_and_warning_is_not(
    lie: dict[bytes, bytes], message: str | None, tmp_path: Path
) -> None:
    outcome = follow(["flags all", "body", "store Deleted"], lie, tmp_path, start=LOGIN)
    if message is None:
        assert good(outcome)["transactions"]["S0"]["count"] > 0
    else:
        assert outcome.code == 1
        assert message in json.dumps(outcome.events)


def test_script_on_empty_mailbox_ends_without_error(tmp_path: Path) -> None:
    empty = {b"SELECT": b"* 0 EXISTS\r\na OK selected"}
    result = good(follow(["body"], empty, tmp_path, think="constant 0", start=LOGIN))
    assert result["transactions"]["S0"]["count"] > 0
    assert "fetch" not in json.dumps(result["commands"])


def test_message_numbers_follow_the_selected_mailbox(tmp_path: Path) -> None:
    short = {b'SELECT "Sent"': b"* 1 EXISTS\r\na OK selected", b"STORE 2": b"a BAD no such message"}
    steps = ["select INBOX", "body", "select Sent", "store Seen"]
    result = good(follow(steps, short, tmp_path, think="constant 0", start=LOGIN))
    assert counts(result)["imap store"] > 0


def test_step_without_connection_is_an_error(tmp_path: Path) -> None:
    outcome = follow(["flags all"], {}, tmp_path)
    assert outcome.code == 1
    assert "the script has no `connect` before this step" in outcome.one("result")["first_error"]

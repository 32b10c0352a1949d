# SPDX-License-Identifier: GPL-2.0-or-later
"""The POP3 load against a real Dovecot and a real OpenSMTPD, on the host."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import ssl
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.loadgen.conftest import USERS, Outcome, collect, launch
from tests.loadgen.mail_system import MailSystem, has_pop3, make_certificate

from s80lab.config.workload import Pop3, job_text, load_workload

NO_ERRORS = {"protocol": 0, "connection": 0, "missing": 0, "smtp": 0}


def profile(**changes: Any) -> Pop3:
    workload = load_workload("pop3").model_copy(update={"incoming_per_s": 20.0, **changes})
    assert isinstance(workload, Pop3)
    return workload


def run(system: MailSystem, folder: Path, workload: Pop3, clients: int = USERS) -> Outcome:
    if not has_pop3():
        pytest.skip("needs the package dovecot-pop3d")
    job = folder / "job"
    text = job_text(workload, clients=clients, users=clients, seed=1, think_ms=20, warmup_s=0.5, measure_s=4)
    assert f"\nusers={clients}\n" in text
    job.write_text(text.replace(f"\nusers={clients}\n", f"\nusers={USERS}\n"))  # more clients: not as a plan has it
    return collect(launch(job, *system.addresses))


def test_mail_is_retrieved_as_it_was_sent(mail_system: MailSystem, tmp_path: Path) -> None:
    outcome = run(mail_system, tmp_path, profile())
    result = outcome.one("result")
    assert (result["errors"], result["first_error"], outcome.code) == (NO_ERRORS, "", 0)
    types = result["transactions"]
    assert list(types) == ["CHCK", "RETR", "SEND"]
    assert all(entry["count"] > 0 for entry in types.values())
    assert result["incoming"]["messages"] > 0
    assert types["RETR"]["bytes_in"] / types["RETR"]["count"] > types["CHCK"]["bytes_in"] / types["CHCK"]["count"]
    assert not {"move", "lost_flags"} & set(result)


def test_pop3_message_not_deleted_is_not_retrieved_again(mail_system: MailSystem, tmp_path: Path) -> None:
    outcome = run(mail_system, tmp_path, profile(delete_percent=50.0, retrieve_max=1))
    result = outcome.one("result")
    assert (result["errors"], result["first_error"], outcome.code) == (NO_ERRORS, "", 0)
    assert result["transactions"]["RETR"]["count"] > 0


def test_pop3_mailbox_shared_by_clients_is_refused(mail_system: MailSystem, tmp_path: Path) -> None:
    outcome = run(mail_system, tmp_path, profile(), clients=USERS + 1)
    assert outcome.code == 1
    assert "for one session at a time" in outcome.one("error")["message"]


TRUTH = {b"USER": b"+OK", b"PASS": b"+OK", b"STAT": b"+OK 2 200", b"UIDL": b"+OK\r\n1 a\r\n2 b\r\n.", b"QUIT": b"+OK"}


@pytest.mark.parametrize(
    ("lie", "session", "message"),
    [
        ({b"USER": b"hello"}, 1, "not a POP3 reply: hello"),
        ({b"PASS": b"-ERR no"}, 1, "the server refused PASS: -ERR no"),
        ({b"STAT": b"+OK many"}, 1, "STAT was answered with +OK many"),
        ({b"UIDL": b"+OK\r\n1 a\r\n."}, 1, "UIDL names 1 of 2 messages"),
        ({b"UIDL": b"+OK\r\n1 a\r\n3 b\r\n."}, 1, "not a line for message 2 of 2: 3 b"),
        ({b"STAT": b"+OK 1 100"}, 2, "STAT shows 1 messages where 2 to 2 must be"),
        ({b"STAT": b"+OK 3 300"}, 2, "STAT shows 3 messages where 2 to 2 must be"),
    ],
)
def test_inconsistent_pop3_reply_is_an_error(
    lie: dict[bytes, bytes], session: int, message: str, tmp_path: Path
) -> None:
    """From its first session on, or from its second."""
    certificate = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.load_cert_chain(*make_certificate(tmp_path))
    looking = profile(mix_percent={"CHCK": 1.0, "RETR": 0.0, "SEND": 0.0}, incoming_per_s=0.0)

    def serve(listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            for number in itertools.count(1):
                said = TRUTH | (lie if number >= session else {})
                with certificate.wrap_socket(listening.accept()[0], True) as client:
                    client.sendall(b"+OK ready\r\n")
                    for line in client.makefile("rb"):
                        client.sendall(said[line[:4].upper()] + b"\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = threading.Thread(target=serve, args=(listening,), daemon=True)
        server.start()
        (tmp_path / "job").write_text(job_text(looking, clients=1, users=1, seed=1, think_ms=1, measure_s=0.5))
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        outcome = collect(launch(tmp_path / "job", "--pop3", address))
    assert outcome.code == 1
    assert message in json.dumps(outcome.events)

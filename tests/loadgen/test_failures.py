# SPDX-License-Identifier: GPL-2.0-or-later
"""What the load generator says when servers fail, refuse or stay silent, and when it is asked wrongly."""

from __future__ import annotations

import contextlib
import resource
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lab import LIMIT_S
from tests.loadgen.conftest import LOADGEN, USERS, Outcome, Runner, collect, launch
from tests.loadgen.mail_system import MailSystem, make_certificate
from tests.loadgen.service import free_port

from s80lab.config.workload import job_text


def job(path: Path, **replaced: str) -> Path:
    """A job file; `replaced` lines take the place of those that the profile gives."""
    text = job_text("imapb", clients=USERS, users=USERS, seed=1, think_ms=10, warmup_s=0.2, measure_s=30)
    lines = [line for line in text.splitlines() if line.partition("=")[0] not in replaced]
    path.write_text("\n".join([*lines, *(f"{key}={value}" for key, value in replaced.items())]) + "\n")
    return path


def without_server(tmp_path: Path, *options: str, **replaced: str) -> Outcome:
    return collect(launch(job(tmp_path / "job", **replaced), *options))


def test_killed_server_is_a_connection_error(mail_system: MailSystem, tmp_path: Path) -> None:
    process = launch(job(tmp_path / "job"), *mail_system.addresses)
    outcome = collect(process, begun=mail_system.kill_imap)
    result = outcome.one("result")
    assert outcome.code == 1
    assert result["errors"]["connection"] >= 1
    assert "connection" in outcome.one("error")["message"]


def test_silent_server_ends_the_run_at_the_reply_timeout(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        begin = time.monotonic()
        outcome = without_server(tmp_path, "--imap", address, "--smtp", address, reply_timeout_s="1.5")
        assert time.monotonic() - begin >= 1.5
    assert outcome.code == 1
    assert outcome.one("error")["message"].startswith("client 0 (user001): no reply from " + address + " for 1500 ms")
    assert outcome.stderr.count("\n") == 1


def test_absent_server_gives_one_sentence(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    outcome = without_server(tmp_path, "--imap", address, "--smtp", address)
    assert outcome.code == 1
    assert "Connection refused" in outcome.one("error")["message"]


def test_mail_server_that_refuses_ehlo_is_an_smtp_error(mail_system: MailSystem, tmp_path: Path) -> None:
    """The LMTP port speaks nearly SMTP: it refuses EHLO."""
    addresses = ["--imap", f"127.0.0.1:{mail_system.imap}", "--smtp", f"127.0.0.1:{mail_system.lmtp}"]
    outcome = collect(launch(job(tmp_path / "job", measure_s="2"), *addresses))
    result = outcome.one("result")
    assert outcome.code == 1
    assert result["errors"]["smtp"] > 0
    assert result["errors"]["connection"] == 0
    assert "EHLO" in result["first_error"]
    assert result["transactions"]["SEND"]["count"] == 0
    assert result["transactions"]["VIEW"]["count"] > 0, "the run goes on"


@pytest.fixture
def certificate(tmp_path: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*make_certificate(tmp_path))
    return context


def against_a_script(tmp_path: Path, certificate: ssl.SSLContext, answers: Callable[[bytes, int], bytes]) -> Outcome:
    """The load generator's one client against a server that gives `answers(tag, command's number)`."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"

        def serve() -> None:
            with contextlib.suppress(OSError), certificate.wrap_socket(listening.accept()[0], True) as client:
                client.sendall(b"* OK ready\r\n")
                for number, line in enumerate(client.makefile("rb"), 1):
                    client.sendall(answers(line.split()[0], number))

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        few = {"clients": "1", "users": "1", "reply_timeout_s": "60"}
        outcome = without_server(tmp_path, "--imap", address, "--smtp", address, **few)
    server.join(LIMIT_S)
    return outcome


def test_literal_that_outlives_its_command_ends_with_an_error(tmp_path: Path, certificate: ssl.SSLContext) -> None:
    """The server says OK, begins a mailbox's name behind it and ends that within the next command's reply."""

    def answers(tag: bytes, number: int) -> bytes:
        late = b"x" * 5000 + b"\r\n" if number == 3 else b""
        return late + tag + b" OK done\r\n" + (b'* LIST () "/" {5000}\r\n' if number == 2 else b"")

    outcome = against_a_script(tmp_path, certificate, answers)
    assert outcome.code == 1
    assert outcome.one("error")["message"].startswith("client 0 (user001): ")


def test_endless_mailbox_list_is_refused(tmp_path: Path, certificate: ssl.SSLContext) -> None:
    name = b"y" * 5000
    for said, message in (
        (b'* LIST () "/" a\r\n' * 20_000, "the server lists more than 10000 mailboxes"),
        (b'* LIST () "/" {99999999999}\r\n' + name, "a mailbox has a name of more than 4 KB"),
        (b'* LIST () "/" ' + name + b"\r\n", "a mailbox has a name of more than 4 KB"),
        ((b'* LIST () "/" ' + name[:4000] + b"\r\n") * 400, "the server lists more than 1 MB of names"),
    ):

        def answers(tag: bytes, number: int, said: bytes = said) -> bytes:
            return said + tag + b" OK\r\n"

        outcome = against_a_script(tmp_path, certificate, answers)
        assert outcome.code == 1
        assert message in outcome.one("error")["message"]


FLOODS = {
    "words": b"* OK still working\r\n" * 1000,
    "a message": b"* 1 FETCH (BODY[] {99999999999}\r\n" + b"x" * 20_000,
    "the rest of a message": b"x" * 20_000,
}


@pytest.mark.parametrize("first", ["words", "a message"])
def test_endless_login_reply_ends_at_the_reply_timeout(first: str, tmp_path: Path, certificate: ssl.SSLContext) -> None:
    """The answer to LOGIN never ends; it takes no memory either."""
    rest = FLOODS["words" if first == "words" else "the rest of a message"]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"

        def flood() -> None:
            with contextlib.suppress(OSError), certificate.wrap_socket(listening.accept()[0], True) as client:
                client.sendall(b"* OK ready\r\n")
                client.recv(100)
                client.sendall(FLOODS[first])
                while True:
                    client.sendall(rest)

        server = threading.Thread(target=flood, daemon=True)
        server.start()
        few = {"clients": "1", "users": "1", "reply_timeout_s": "1"}
        process = launch(job(tmp_path / "job", **few), "--imap", address, "--smtp", address)
        resource.prlimit(process.pid, resource.RLIMIT_AS, (64 << 20, 64 << 20))
        outcome = collect(process)
    assert outcome.code == 1
    assert f"no reply from {address} for 1000 ms to LOGIN" in outcome.one("error")["message"]
    server.join()


def test_connections_take_turns_over_the_mail_servers_addresses(mail_system: MailSystem, tmp_path: Path) -> None:
    """One of two addresses refuses."""
    smtp = [f"127.0.0.1:{port}" for port in (mail_system.smtp, mail_system.lmtp)]
    addresses = ["--imap", f"127.0.0.1:{mail_system.imap}", "--smtp", smtp[0], "--smtp", smtp[1]]
    result = collect(launch(job(tmp_path / "job", measure_s="3"), *addresses)).one("result")
    sent, refused = result["transactions"]["SEND"]["count"], result["transactions"]["SEND"]["failed"]
    assert refused > 3
    assert sent == pytest.approx(refused, abs=2 + refused / 4)


def test_wrong_password_gives_one_sentence(run_load: Runner, mail_system: MailSystem) -> None:
    mail_system.stop()
    mail_system.password = "other"
    mail_system.start()
    outcome = run_load(job_text("imapb", clients=2, users=2, seed=1, warmup_s=0, measure_s=1))
    assert outcome.code == 1
    assert "refused LOGIN" in outcome.one("error")["message"]


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        ({"clinets": "3"}, "unknown key 'clinets'"),
        ({"clients": "many"}, "clients=many is not allowed"),
        ({"measure_s": "0"}, "measure_s is missing"),
        ({"mix_percent": "1 2"}, "mix_percent=1 2 is not allowed"),
    ],
)
def test_malformed_job_gives_one_sentence(replaced: dict[str, str], message: str, tmp_path: Path) -> None:
    outcome = without_server(tmp_path, **replaced)
    assert outcome.code == 1
    assert message in outcome.one("error")["message"]
    assert outcome.stderr.count("\n") == 1


def test_missing_mail_log_gives_one_sentence(tmp_path: Path) -> None:
    outcome = without_server(tmp_path, "--mail-log", str(tmp_path / "none"))
    assert outcome.code == 1
    assert f"the mail log {tmp_path / 'none'} cannot be opened" in outcome.one("error")["message"]
    assert outcome.stderr.count("\n") == 1


def test_wrong_options_print_the_usage() -> None:
    for options in ([], ["--guest", "--job", "x"], ["--job"], ["--job", "x", "--verbose"]):
        done = subprocess.run([LOADGEN, *options], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("usage:")


def test_host_name_for_address_is_refused(tmp_path: Path) -> None:
    outcome = without_server(tmp_path, "--imap", "localhost:993")
    assert "IPV4:PORT" in outcome.one("error")["message"]


def test_certificate_is_verified_without_insecure_option(mail_system: MailSystem, tmp_path: Path) -> None:
    command = [str(LOADGEN), "--job", str(job(tmp_path / "job")), *mail_system.addresses]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 1
    assert "certificate verify failed" in done.stderr

# SPDX-License-Identifier: GPL-2.0-or-later
"""The warehouse application, and the load against it on the host: every number of every reply is what it must be."""

from __future__ import annotations

import shutil
import socket
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from tests.loadgen.conftest import Outcome, collect, launch
from tests.loadgen.service import serving

from s80lab.base import paths
from s80lab.config.workload import job_text, load_workload

JAVA = shutil.which("java")
JAR = paths.BUILD / "bin" / "s80-jbb.jar"


def command(*words: object) -> list[str]:
    """With words: port, warehouses, KiB of each, rehearsal."""
    if JAVA is None or not JAR.is_file():
        pytest.fail("needs the package default-jdk-headless, and s80-jbb.jar built with it: run `make test`")
    return [JAVA, "-Xmx256m", "-XX:+UseParallelGC", "-jar", str(JAR), *map(str, words)]


def warehouses(count: int, kib: int = 256, rehearsal: int = 0) -> AbstractContextManager[int]:
    """The port of a server of warehouses, and the server's end."""
    return serving(command(0, count, kib, rehearsal))


class Clerk:
    """A client that says what it likes. sizes: of its warehouse, once it has one."""

    def __init__(self, port: int) -> None:
        self.sizes: list[int] = []
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.lines = self.socket.makefile("rw", newline="\n")

    def ask(self, request: str) -> str:
        print(request, file=self.lines, flush=True)
        return self.lines.readline().removesuffix("\n")

    def numbers(self, request: str) -> list[int]:
        word, *numbers = self.ask(request).split()
        assert word == request.split()[0]
        return [int(number) for number in numbers]


class _Relay(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        clerk = Clerk(self.server.port)  # type: ignore[attr-defined]
        for line in self.rfile:
            reply = clerk.ask(line.decode().removesuffix("\n"))
            if reply.startswith("PAYM"):
                word, paid, *rest = reply.split()
                reply = " ".join([word, str(int(paid) + 1), *rest])
            self.wfile.write(f"{reply}\n".encode())


@contextmanager
def tampered(port: int) -> Iterator[int]:
    """Another port of the same server, on which a payment too many is reported."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Relay) as relay:
        relay.daemon_threads = True
        relay.port = port  # type: ignore[attr-defined]
        threading.Thread(target=relay.serve_forever, daemon=True).start()
        yield relay.server_address[1]
        relay.shutdown()


CLIENTS = 8


def run(port: int, folder: Path, clients: int = CLIENTS) -> Outcome:
    job = folder / "job"
    job.write_text(job_text("jbb", clients=clients, users=clients, seed=1, think_ms=5, warmup_s=0.5, measure_s=3))
    return collect(launch(job, "--jbb", f"127.0.0.1:{port}"))


@pytest.fixture
def clerk() -> Iterator[Clerk]:
    """Of the first of two warehouses."""
    with warehouses(2) as port:
        clerk = Clerk(port)
        clerk.sizes = clerk.numbers("OPEN 1")
        yield clerk


def test_jbb_replies_agree_with_the_books(tmp_path: Path) -> None:
    with warehouses(CLIENTS, rehearsal=200) as port:
        outcome = run(port, tmp_path)
    result = outcome.one("result")
    assert (result["first_error"], outcome.code) == ("", 0)
    types = result["transactions"]
    assert tuple(types) == load_workload("jbb").transactions
    assert all(of_type["count"] > 0 for of_type in types.values())
    count = result["totals"]["count"]
    assert types["NEWO"]["count"] / count == pytest.approx(0.41, abs=0.15)


def test_jbb_client_without_warehouse_is_refused(tmp_path: Path) -> None:
    with warehouses(2) as port:
        outcome = run(port, tmp_path, clients=3)
    assert outcome.code == 1
    assert "there are warehouses 1 to 2" in outcome.one("error")["message"]


def test_wrong_jbb_reply_is_an_error(tmp_path: Path) -> None:
    with warehouses(CLIENTS) as port, tampered(port) as between:
        outcome = run(between, tmp_path)
    result = outcome.one("result")
    assert outcome.code == 1
    assert result["errors"]["missing"] > 0
    assert result["errors"]["protocol"] == 0
    assert "the books say otherwise: PAYM" in result["first_error"]


def test_money_and_orders_are_kept(clerk: Clerk) -> None:
    districts, customers, items, filled, rounds = clerk.sizes
    assert (districts, filled % districts) == (10, 0)
    assert min(customers, items, rounds) > 0
    placed, lines, total, shown = clerk.numbers("NEWO 50 4711")
    assert placed == filled + 50
    assert 5 * 50 <= lines <= 15 * 50
    assert total > 0
    assert shown == 64 * (lines + 2 * 50)
    paid, received, _ = clerk.numbers("PAYM 10 99")
    assert paid == 10
    shipped, *books, _ = clerk.numbers("CUST 1 1")[1:]
    assert books == [paid, received]
    assert 0 < shipped <= rounds * districts
    assert clerk.numbers("PAYM 1 99")[1] > received
    delivered, value, _ = clerk.numbers(f"DLVR {filled} 0")
    assert delivered == placed
    assert value > total, "of those before the first client too"
    assert clerk.numbers("DLVR 1 0")[:2] == [placed, 0]


def test_order_status_finds_the_order_of_the_customer(clerk: Clerk) -> None:
    _, lines, total, _ = clerk.numbers("NEWO 1 123456789012345678")
    # the same reference draws the same customer
    assert clerk.numbers("ORDS 1 123456789012345678")[:5] == [1, 0, 123456789012345678, lines, total]


@pytest.mark.parametrize(
    ("request_line", "reason"),
    [
        ("OPEN 3", "there are warehouses 1 to 2"),
        ("OPEN 1", "warehouse 1 has been opened by another client"),
        ("NEWO 0 1", "a count is from 1 to 100000"),
        ("NEWO x 1", "not a number in: NEWO x 1"),
        ("NEWO 1", "no such request: NEWO 1"),
        ("", "no such request: "),
    ],
)
def test_wrong_requests_are_refused(request_line: str, reason: str, clerk: Clerk) -> None:
    assert clerk.ask(request_line) == f"ERR {reason}"
    assert clerk.numbers("PAYM 1 1")[0] == 1, "the connection is kept"


@pytest.mark.parametrize("words", [(), (0, 0, 1, 0), ("x", 1, 1, 0), (0, 1, 4294967295, 0)])
def test_wrong_options_print_the_usage(words: tuple[object, ...]) -> None:
    done = subprocess.run(command(*words), capture_output=True, text=True)
    assert (done.returncode, done.stderr.split()[0]) == (2, "usage:")

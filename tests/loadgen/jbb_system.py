# SPDX-License-Identifier: GPL-2.0-or-later
"""The warehouse application on a free port of 127.0.0.1."""

from __future__ import annotations

import shutil
import socket
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from s80lab.base import paths

JAVA = shutil.which("java")
JAR = paths.BUILD / "bin" / "s80-jbb.jar"


def command(*words: object) -> list[str]:
    """With words: port, warehouses, KiB of each, rehearsal."""
    if JAVA is None or not JAR.is_file():
        pytest.fail("needs the package default-jdk-headless, and s80-jbb.jar built with it: run `make test`")
    return [JAVA, "-Xmx256m", "-XX:+UseParallelGC", "-jar", str(JAR), *map(str, words)]


@contextmanager
def warehouses(count: int, kib: int = 256, rehearsal: int = 0) -> Iterator[int]:
    """The port on which they are served, and their server's end."""
    with subprocess.Popen(command(0, count, kib, rehearsal), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            word, port = server.stdout.readline().split()
            assert word == "port"
            yield int(port)
        finally:
            server.terminate()


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""A server in a PID namespace of its own: all that it started ends with it, so that nobody writes any more into a
folder that a test removes. A server of ours on a free port that prints `port N`, and a cable to it that changes what
passes."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.lab import LIMIT_S

SPACES = ("--mount-proc", "--mount", "--pid", "--fork", "--kill-child")


def free_port() -> int:
    """Below the ports that the kernel gives to connections: until a server listens there, nobody else takes it."""
    for port in random.sample(range(10_000, 32_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("none of 100 ports is free")


class Service:
    """A running server that answers on a port of 127.0.0.1. Needs root.

    environment: beside the tests' own."""

    def __init__(
        self, command: Sequence[str], port: int, log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                ["unshare", *SPACES, *command],
                env=os.environ | dict(environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # some end all processes of their group with themselves
            )
        try:
            self._await(port)
        except BaseException:
            self.end()
            raise

    def _await(self, port: int) -> None:
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 0.2).close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError(f"no server on port {port}")

    def end(self) -> None:
        """At once; when this returns, none of its processes is left."""
        parent = self.process.pid
        if self.process.poll() is None:
            # The first of the namespace, with which the kernel ends all others before it tells unshare.
            for first in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
                os.kill(int(first), signal.SIGKILL)
        self.process.wait(LIMIT_S)


Harm = Callable[[bytes], bytes]


@contextmanager
def serving(command: Sequence[str]) -> Iterator[int]:
    """The port that a server prints in its first line, and the server's end."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            word, port = server.stdout.readline().split()
            assert word == "port"
            yield int(port)
        finally:
            server.terminate()


def listening(program: Path) -> AbstractContextManager[int]:
    """The port that a program listens on, and the program's end."""
    return serving([str(program), "127.0.0.1:0"])


def unharmed(part: bytes) -> bytes:
    return part


@contextmanager
def cable(port: int, there: Harm = unharmed, back: Harm = unharmed) -> Iterator[int]:
    """Another port of the same server; what goes there and back passes through these."""

    def carry(source: socket.socket, to: socket.socket, harm: Harm) -> None:
        with contextlib.suppress(OSError):  # either end may be gone
            while part := source.recv(65536):
                to.sendall(harm(part))
            to.shutdown(socket.SHUT_WR)

    def join(client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=carry, args=(client, server, there), daemon=True).start()
        threading.Thread(target=carry, args=(server, client, back), daemon=True).start()

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                join(listener.accept()[0])
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]

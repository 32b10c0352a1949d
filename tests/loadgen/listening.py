# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of ours on a free port of 127.0.0.1 that prints `port N`, and a cable to it that changes what passes."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Harm = Callable[[bytes], bytes]


@contextmanager
def listening(program: Path) -> Iterator[int]:
    """The port that it listens on, and its end."""
    with subprocess.Popen([str(program), "127.0.0.1:0"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            word, port = server.stdout.readline().split()
            assert word == "port"
            yield int(port)
        finally:
            server.terminate()


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

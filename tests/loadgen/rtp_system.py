# SPDX-License-Identifier: GPL-2.0-or-later
"""s80-rtp-server on a free port of 127.0.0.1, and one between it and its clients that harms what it sends."""

from __future__ import annotations

import contextlib
import re
import socket
import socketserver
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.lab import LIMIT_S

from s80lab.base import paths

MEDIA, SERVER = paths.BUILD / "bin" / "s80-media", paths.BUILD / "bin" / "s80-rtp-server"
SECONDS = 3
HEADER = 12

Harm = Callable[[int, bytes], list[bytes]]
"""What is sent instead of a stream's packet, by its number from 0."""


def write_media(root: Path, users: int) -> None:
    if not MEDIA.is_file():
        pytest.fail(f"{MEDIA} is not built: run `make` first")
    sizes = ["--users", str(users), "--seconds", str(SECONDS), "--rates", "56,300"]
    subprocess.run([MEDIA, "--root", root, *sizes], check=True)


@contextmanager
def rtp_server(root: Path, buffers: int) -> Iterator[int]:
    """The port on which the media of a folder are streamed."""
    command = [str(SERVER), "--listen", "127.0.0.1:0", "--root", str(root), "--buffers", str(buffers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            said = server.stdout.readline()
            assert said.startswith("s80-rtp-server: listening on 127.0.0.1:"), said
            yield int(said.rsplit(":", 1)[1])
        finally:
            server.terminate()


class Player:
    """A client that says what it likes, and listens to one stream."""

    def __init__(self, port: int) -> None:
        self.control = socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S)
        self.lines = self.control.makefile("rwb")
        self.media = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.media.bind(("127.0.0.1", 0))
        self.media.settimeout(LIMIT_S)

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *_: object) -> None:
        for part in (self.lines, self.control, self.media):
            part.close()

    @property
    def transport(self) -> str:
        return f"Transport: RTP/AVP;unicast;client_port={self.media.getsockname()[1]}"

    def ask(self, method: str, path: str, *headers: str, cseq: int | None = 1) -> tuple[str, dict[str, str], str]:
        """Status, headers and body of the reply."""
        numbered = headers if cseq is None else (f"CSeq: {cseq}", *headers)
        words = "\r\n".join([f"{method} rtsp://127.0.0.1/{path} RTSP/1.0", *numbered, "", ""])
        self.lines.write(words.encode())
        self.lines.flush()
        status, *lines = iter(lambda: self.lines.readline().decode().rstrip("\r\n"), "")
        found = dict(line.split(": ", 1) for line in lines)
        return status, found, self.lines.read(int(found.get("Content-Length", 0))).decode()

    def packets(self, count: int) -> list[bytes]:
        return [self.media.recv(4096) for _ in range(count)]


class _Relay(socketserver.StreamRequestHandler):
    """One client's connection. Packets come to a port of the relay's own, which it names instead of the client's."""

    def handle(self) -> None:
        server = socket.create_connection(("127.0.0.1", self.server.port))  # type: ignore[attr-defined]
        media = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        media.bind(("127.0.0.1", 0))
        own, theirs = media.getsockname()[1], 0

        def forward_media() -> None:
            number = 0
            while packet := media.recv(4096):
                for harmed in self.server.harm(number, packet):  # type: ignore[attr-defined]
                    media.sendto(harmed, ("127.0.0.1", theirs))
                number += 1

        def forward_replies() -> None:
            with contextlib.suppress(OSError):  # the client may be gone
                while part := server.recv(4096):
                    self.wfile.write(part)

        for forward in (forward_media, forward_replies):
            threading.Thread(target=forward, daemon=True).start()
        for line in self.rfile:
            if found := re.search(rb"client_port=(\d+)", line):
                theirs = int(found[1])
                line = line.replace(found[0], f"client_port={own}".encode())
            server.sendall(line)
        server.shutdown(socket.SHUT_WR)
        media.sendto(b"", ("127.0.0.1", own))


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def harmed(port: int, harm: Harm) -> Iterator[int]:
    """Another port of the same server, whose streams are harmed."""
    with _Server(("127.0.0.1", 0), _Relay) as relay:
        relay.port, relay.harm = port, harm  # type: ignore[attr-defined]
        threading.Thread(target=relay.serve_forever, daemon=True).start()
        yield relay.server_address[1]
        relay.shutdown()

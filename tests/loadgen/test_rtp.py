# SPDX-License-Identifier: GPL-2.0-or-later
"""The load of streams against s80-rtp-server on the host: every packet is what it must be, in its place and in time.

A busy host delays packets and plays, so the tests do not limit how long these take. jitter_test.cpp checks the
calculation of jitter with times of its own.
"""

from __future__ import annotations

import contextlib
import re
import socket
import socketserver
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.lab import LIMIT_S
from tests.loadgen.conftest import Outcome, collect, launch

from s80lab.base import paths
from s80lab.config.workload import job_text, load_workload

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


USERS = 12
PLAY_MS, PACKET_MS = 200, 20
PACKETS = PLAY_MS // PACKET_MS
NEVER_LATE_MS = LIMIT_S * 1000


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("media")
    write_media(root, USERS)
    return root


@pytest.fixture(params=[1, 2], ids=["single", "double"])
def port(request: pytest.FixtureRequest, media: Path) -> Iterator[int]:
    with rtp_server(media, request.param) as port:
        yield port


@pytest.fixture
def one_port(media: Path) -> Iterator[int]:
    with rtp_server(media, 2) as port:
        yield port


def run(port: int, folder: Path, *, clients: int = USERS, measure_s: float = 1.5, **over: object) -> Outcome:
    workload = load_workload("stream", {"play_ms": PLAY_MS, "late_ms": NEVER_LATE_MS, **over})
    job = folder / "job"
    job.write_text(
        job_text(workload, clients=clients, users=USERS, seed=1, think_ms=50, warmup_s=0.3, measure_s=measure_s)
    )
    return collect(launch(job, "--rtp", f"127.0.0.1:{port}"))


@pytest.mark.parametrize("rate_kbps", [56, 300])
@pytest.mark.parametrize("media_of", ["unique", "multiple"])
def test_plays_end_without_an_error(port: int, tmp_path: Path, rate_kbps: int, media_of: str) -> None:
    outcome = run(port, tmp_path, rate_kbps=rate_kbps, media=media_of)
    result = outcome.one("result")
    assert (result["first_error"], outcome.code) == ("", 0)
    plays, streams = result["transactions"]["PLAY"], result["streams"]
    assert plays["count"] > 0
    assert plays["latency_ns"]["p50"] >= PLAY_MS * 1e6, "a play lasts as long as the part of the medium at least"
    assert (streams["lost"], streams["late"]) == (0, 0)
    assert streams["bytes"] == streams["packets"] * rate_kbps * PACKET_MS // 8
    # plays that were under way at one of the region's ends have a part of their packets in it
    assert streams["packets"] / PACKETS == pytest.approx(plays["count"], abs=USERS)
    assert plays["bytes_in"] > plays["count"] * PACKETS * (HEADER + rate_kbps * PACKET_MS // 8)


def test_jitter_compares_a_packet_with_the_packet_before(port: int, tmp_path: Path) -> None:
    clients = 4
    result = run(port, tmp_path, clients=clients).one("result")
    streams, plays = result["streams"], result["transactions"]["PLAY"]["count"]
    compared = sum(count for _, count in streams["transit_histogram"])
    # All packets except the first of each play. A client is in one play at most at each end of the region.
    assert streams["packets"] - compared == pytest.approx(plays, abs=clients)
    # Whatever the host's load is, some packets arrive as far apart as they were sent.
    assert min(upper_ns for upper_ns, _ in streams["transit_histogram"]) < PACKET_MS / 4 * 1e6
    assert streams["jitter_ns"]["p50"] > 0


def test_missing_medium_fails_only_the_clients_that_play_it(one_port: int, media: Path, tmp_path: Path) -> None:
    """All clients play the first user's medium, or each its own."""
    hidden = media / "user002" / "300"
    content = hidden.read_bytes()
    hidden.unlink()
    try:
        assert run(one_port, tmp_path, media="unique").code == 0
        outcome = run(one_port, tmp_path, media="multiple")
    finally:
        hidden.write_bytes(content)
    result = outcome.one("result")
    assert outcome.code == 1
    assert result["first_error"].startswith("client 1: PLAY: the reply to DESCRIBE rtsp://127.0.0.1:")
    assert "/user002/300 is 404 Not Found" in result["first_error"]
    assert result["transactions"]["PLAY"]["count"] > 0


def _lose(number: int, packet: bytes) -> list[bytes]:
    return [] if number == PACKETS // 2 else [packet]


def _lose_last(number: int, packet: bytes) -> list[bytes]:
    return [] if number == PACKETS - 1 else [packet]


def _repeat(number: int, packet: bytes) -> list[bytes]:
    return [packet] * (2 if number == 3 else 1)


def _changed(place: int, value: int) -> Harm:
    def harm(number: int, packet: bytes) -> list[bytes]:
        return [packet[:place] + bytes([packet[place] ^ value]) + packet[place + 1 :]] if number == 5 else [packet]

    return harm


def _shorten(number: int, packet: bytes) -> list[bytes]:
    return [packet[:-1] if number == 5 else packet]


class _Swap:
    """The third packet of a stream and the fourth change places."""

    def __init__(self) -> None:
        self.held: dict[bytes, bytes] = {}

    def __call__(self, number: int, packet: bytes) -> list[bytes]:
        stream = packet[8:HEADER]
        if number == 2:
            self.held[stream] = packet
            return []
        return [packet, self.held.pop(stream)] if number == 3 else [packet]


HARMS: dict[str, tuple[Harm, str, str, int]] = {
    "lost": (_lose, "protocol", "came in the place of packet", 1),
    "lost at the end": (_lose_last, "protocol", "1 packets did not come", 1),
    "swapped": (_Swap(), "protocol", "came in the place of packet", 0),
    "repeated": (_repeat, "protocol", "came in the place of packet", 0),
    "corrupted": (_changed(HEADER + 100, 1), "missing", "does not hold what it must", 0),
    "of another time": (_changed(7, 1), "protocol", "has the timestamp of another", 0),
    "of another type": (_changed(1, 1), "protocol", "a packet that is not of the stream", 1),
    "of another stream": (_changed(11, 1), "protocol", "a packet that is not of the stream", 1),
    "cut off": (_shorten, "protocol", "a packet of 761 bytes and not 762", 1),
}


@pytest.mark.parametrize("name", HARMS)
def test_harmed_stream_is_an_error(name: str, one_port: int, tmp_path: Path) -> None:
    harm, kind, said, lost = HARMS[name]
    # A client waits for a lost packet until the packet is too late.
    patience = {"late_ms": 1000, "measure_s": 3.5} if lost else {}
    with harmed(one_port, harm) as port:
        outcome = run(port, tmp_path, clients=3, **patience)
    result = outcome.one("result")
    plays, streams = result["transactions"]["PLAY"], result["streams"]
    assert outcome.code == 1
    assert said in result["first_error"]
    assert result["errors"][kind] > 3, "the run goes on"
    assert sum(result["errors"].values()) == result["errors"][kind]
    assert (plays["count"], streams["late"]) == (0, 0)
    assert streams["lost"] == lost * plays["failed"]


def test_unharmed_stream_through_the_relay_has_no_error(one_port: int, tmp_path: Path) -> None:
    with harmed(one_port, lambda _, packet: [packet]) as port:
        outcome = run(port, tmp_path, clients=3)
    assert (outcome.one("result")["first_error"], outcome.code) == ("", 0)


def test_packet_that_comes_too_late_is_an_error(one_port: int, tmp_path: Path) -> None:
    """From the third on, packets of each stream come only with the last, after 2 s. A packet is too late after 1 s, so
    the first half of them is too late even if the host delays some by up to 1 s."""
    play_ms, late_ms = 2000, 1000
    packets = play_ms // PACKET_MS
    held: dict[bytes, list[bytes]] = {}

    def hold(number: int, packet: bytes) -> list[bytes]:
        waiting = held.setdefault(packet[8:HEADER], [])
        if number < 2:
            return [packet]
        waiting.append(packet)
        return held.pop(packet[8:HEADER]) if number == packets - 1 else []

    # Of this rate, the packets of 2 s fit into the buffer of a socket.
    over = {"rate_kbps": 56, "play_ms": play_ms, "late_ms": late_ms}
    with harmed(one_port, hold) as port:
        outcome = run(port, tmp_path, clients=2, measure_s=5, **over)
    result = outcome.one("result")
    assert "came too late" in result["first_error"]
    streams, plays = result["streams"], result["transactions"]["PLAY"]
    assert streams["late"] >= plays["failed"] > 0
    assert (plays["count"], streams["lost"]) == (0, 0)


def test_rtp_server_plays_the_requested_range_at_the_requested_speed(port: int, media: Path) -> None:
    with Player(port) as player:
        status, _, description = player.ask("DESCRIBE", "user003/56")
        assert status == "RTSP/1.0 200 OK"
        assert f"a=range:npt=0-{SECONDS}.000" in description.splitlines()
        _, found, _ = player.ask("SETUP", "user003/56", player.transport)
        session = f"Session: {found['Session']}"
        assert int(found["Transport"].rsplit("server_port=")[1].split(";")[0]) > 0
        asked = time.monotonic()
        status, found, _ = player.ask("PLAY", "user003/56", session, "Range: npt=1-1.2", "Speed: 4", cseq=7)
        assert (status, found["CSeq"], found["Range"]) == ("RTSP/1.0 200 OK", "7", "npt=1.000-1.200")
        packets = player.packets(10)
        assert time.monotonic() - asked >= 9 * PACKET_MS / 1000 / 4, "the server sends no packet before its time"
        content = (media / "user003" / "56").read_bytes()
        assert b"".join(packet[HEADER:] for packet in packets) == content[7000:8400]
        assert player.ask("TEARDOWN", "user003/56", session)[0] == "RTSP/1.0 200 OK"
        assert player.ask("PLAY", "user003/56", session)[0] == "RTSP/1.0 454 Session Not Found"


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("DESCRIBE", "user999/300", (), "404 Not Found"),
        ("DESCRIBE", "user001/64", (), "404 Not Found"),
        ("DESCRIBE", "../user001/300", (), "404 Not Found"),
        ("DESCRIBE", "user1/300", (), "404 Not Found"),
        ("SETUP", "user001/300", ("Transport: RTP/AVP/TCP;interleaved=0-1",), "461 Unsupported Transport"),
        ("PLAY", "user001/300", ("Session: 1",), "454 Session Not Found"),
        ("TEARDOWN", "user001/300", (), "454 Session Not Found"),
        ("PAUSE", "user001/300", (), "501 Not Implemented"),
    ],
)
def test_rtp_server_refuses_unsupported_requests(
    one_port: int, method: str, path: str, headers: tuple[str, ...], status: str
) -> None:
    with Player(one_port) as player:
        assert player.ask(method, path, *headers)[0] == f"RTSP/1.0 {status}"
        assert player.ask("OPTIONS", "*")[0] == "RTSP/1.0 200 OK", "the connection goes on"


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("Range: npt=2.9-3.1", "457 Invalid Range"),
        ("Range: npt=1-1", "457 Invalid Range"),
        ("Range: clock=1996", "457 Invalid Range"),
        ("Speed: 0", "451 Parameter Not Understood"),
    ],
)
def test_rtp_server_refuses_invalid_range_or_speed(one_port: int, header: str, status: str) -> None:
    with Player(one_port) as player:
        _, found, _ = player.ask("SETUP", "user001/300", player.transport)
        assert player.ask("PLAY", "user001/300", f"Session: {found['Session']}", header)[0] == f"RTSP/1.0 {status}"


def test_rtsp_request_without_sequence_number_is_refused(one_port: int) -> None:
    with Player(one_port) as player:
        assert player.ask("OPTIONS", "*", cseq=None)[0] == "RTSP/1.0 400 Bad Request"

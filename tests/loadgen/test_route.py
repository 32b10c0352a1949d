# SPDX-License-Identifier: GPL-2.0-or-later
"""The sink, and the load against it on the host, without a router between them: every byte of every message and of
every reply is what it must be. tests/servers/test_router.py has the router."""

from __future__ import annotations

import socket
import struct
import subprocess
from pathlib import Path

import pytest
from tests.loadgen.conftest import Outcome, collect, launch
from tests.loadgen.service import Harm, cable, listening, unharmed

from s80lab.base import paths
from s80lab.config.workload import job_text, load_workload

SINK = paths.BIN / "s80-sink"
CLIENTS = 8
HEADER = 16


def run(port: int, folder: Path, profile: str, size: int) -> Outcome:
    job = folder / "job"
    workload = load_workload(profile, {"message_bytes": size})
    job.write_text(job_text(workload, clients=CLIENTS, users=CLIENTS, seed=1, think_ms=2, warmup_s=0.2, measure_s=1))
    return collect(launch(job, "--route", f"127.0.0.1:{port}"))


@pytest.mark.parametrize("size", [HEADER, 64, 10240, 65536])
@pytest.mark.parametrize(("profile", "name"), [("route", "SEND"), ("route-duplex", "SWAP")])
def test_routed_messages_all_arrive(profile: str, name: str, size: int, tmp_path: Path) -> None:
    with listening(SINK) as port:
        outcome = run(port, tmp_path, profile, size)
    result = outcome.one("result")
    assert (result["first_error"], outcome.code) == ("", 0)
    (other,) = {"SEND", "SWAP"} - {name}
    types = result["transactions"]
    count = types[name]["count"]
    assert (count > 100, types[other]["count"]) == (True, 0)
    reply = size if name == "SWAP" else HEADER
    assert types[name]["bytes_out"] == count * size
    assert types[name]["bytes_in"] == count * reply


def changed(part: bytes) -> bytes:
    """The last byte of what is longer than a header."""
    return part[:-1] + bytes([part[-1] ^ 1]) if len(part) > HEADER else part


@pytest.mark.parametrize(
    ("there", "back", "said"),
    [
        (changed, unharmed, "a message did not arrive as it was sent: 1 of its bytes are wrong"),
        (unharmed, changed, "the message that came back is not what it must be"),
    ],
)
def test_changed_byte_is_an_error(there: Harm, back: Harm, said: str, tmp_path: Path) -> None:
    with listening(SINK) as port, cable(port, there, back) as between:
        outcome = run(between, tmp_path, "route-duplex", 1000)
    result = outcome.one("result")
    assert outcome.code == 1
    assert result["errors"]["missing"] > CLIENTS, "the run goes on"
    assert result["errors"]["protocol"] == result["errors"]["connection"] == 0
    assert said in result["first_error"]


def test_reply_with_extra_bytes_ends_the_run(tmp_path: Path) -> None:
    with listening(SINK) as port, cable(port, back=lambda part: part + b"x") as between:
        outcome = run(between, tmp_path, "route", 64)
    assert outcome.code == 1
    assert "more came than the reply to a message has" in outcome.one("error")["message"]


@pytest.mark.parametrize(("size", "reply"), [(15, 16), (16, 15), (65537, 16), (16, 65537)])
def test_malformed_message_ends_the_connection(size: int, reply: int) -> None:
    with listening(SINK) as port, socket.create_connection(("127.0.0.1", port)) as client:
        client.settimeout(10)
        client.sendall(struct.pack("<IIQ", size, reply, 0))
        assert client.recv(1) == b""


def test_message_with_header_only_is_acknowledged() -> None:
    with listening(SINK) as port, socket.create_connection(("127.0.0.1", port)) as client:
        client.settimeout(10)
        client.sendall(struct.pack("<IIQ", HEADER, HEADER, 4711))
        assert struct.unpack("<IIQ", client.recv(100)) == (HEADER, 0, 0)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "usage: s80-sink IPV4:PORT"),
        (("localhost:1",), 1, "s80-sink: 'localhost:1' is not an address: give IPV4:PORT, for example 127.0.0.1:5000"),
        (("192.0.2.1:0",), 1, "s80-sink: cannot listen on 192.0.2.1:0: Cannot assign requested address"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(words: tuple[str, ...], code: int, said: str) -> None:
    done = subprocess.run([str(SINK), *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (code, said)

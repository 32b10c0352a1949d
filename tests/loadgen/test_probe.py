# SPDX-License-Identifier: GPL-2.0-or-later
"""The probe, and the load against it on the host: every sum of every reply is what it must be."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest
from tests.loadgen.conftest import Outcome, collect, launch
from tests.loadgen.service import cable, listening

from s80lab.base import paths
from s80lab.config.workload import job_text, load_workload

PROBE = paths.BIN / "s80-probe"


def run(port: int, folder: Path, profile: str, settings: dict[str, object]) -> Outcome:
    job = folder / "job"
    workload = load_workload(profile, settings)
    job.write_text(job_text(workload, clients=2, users=2, seed=1, think_ms=2, warmup_s=0.2, measure_s=1))
    return collect(launch(job, "--probe", f"127.0.0.1:{port}"))


@pytest.fixture
def lines() -> Iterator[TextIO]:
    """A connection that lines are written to and read from."""
    with listening(PROBE) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        yield client.makefile("rw", newline="\n")


def say(lines: TextIO, line: str) -> str:
    print(line, file=lines, flush=True)
    return lines.readline().removesuffix("\n")


@pytest.mark.parametrize("settings", [{}, {"working_set": "4KiB", "stride": 2048}, {"working_set": "4MiB"}])
@pytest.mark.parametrize(
    ("profile", "name"), [("probe-copy", "COPY"), ("probe-switch", "PASS"), ("probe-keep", "KEEP")]
)
def test_probe_sums_are_right(profile: str, name: str, settings: dict[str, object], tmp_path: Path) -> None:
    with listening(PROBE) as port:
        outcome = run(port, tmp_path, profile, settings)
    result = outcome.one("result")
    assert (result["first_error"], outcome.code) == ("", 0)
    counts = {type: one["count"] for type, one in result["transactions"].items()}
    assert counts.pop(name) > 0
    assert not any(counts.values())
    assert result["batch"] == load_workload(profile).model_dump()["batch"]


def test_wrong_probe_sum_is_an_error(tmp_path: Path) -> None:
    def harm(part: bytes) -> bytes:
        return part if part.startswith(b"OPEN") else part.replace(b"0", b"1")

    with listening(PROBE) as port, cable(port, back=harm) as between:
        outcome = run(between, tmp_path, "probe-copy", {})
    result = outcome.one("result")
    assert outcome.code == 1
    assert result["errors"]["missing"] > 0
    assert " instead of " in result["first_error"]


def test_copied_probe_data_grow_with_each_pass(lines: TextIO) -> None:
    """Each pass reads what the one before has written, which is larger by one."""
    words = 512
    assert say(lines, "OPEN 4096 64") == f"OPEN {words}"
    first = words * (words - 1) // 2
    assert say(lines, "COPY 1") == f"COPY {first}"
    assert say(lines, "COPY 2") == f"COPY {2 * first + words * (1 + 2)}"
    assert say(lines, "PASS 4") == say(lines, "KEEP 4").replace("KEEP", "PASS"), "copies change no walk"
    assert say(lines, "OPEN 4096 4") == f"OPEN {words}"
    assert say(lines, "COPY 1") == f"COPY {first}", "opened anew"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("COPY 1", "OPEN must come first"),
        ("OPEN 5000 4", "a working set must be a power of two from 4096 to 67108864 bytes"),
        ("OPEN 4096 2", "a stride must be a power of two from 4 to 4096 bytes, and at most half of the working set"),
        ("OPEN 4096 4096", "a stride must be a power of two from 4 to 4096 bytes, and at most half of the working set"),
        ("OPEN 4096", "unknown request: OPEN 4096"),
        ("COPY x", "unknown request: COPY x"),
        ("COPY 0", "a count must be from 1 to 1000000000"),
        ("", "unknown request: "),
    ],
)
def test_wrong_requests_are_refused(line: str, reason: str, lines: TextIO) -> None:
    assert say(lines, line) == f"ERR {reason}"
    assert say(lines, "OPEN 4096 4") == "OPEN 512", "the connection is kept"
    assert say(lines, "LOOK 2") == "ERR unknown request: LOOK 2"
    assert say(lines, "PASS 3") == "ERR the number of turns must be even, because two processes alternate"

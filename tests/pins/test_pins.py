# SPDX-License-Identifier: GPL-2.0-or-later
"""Pinned results: the SHA-256 of outputs that a change which should not affect numbers leaves as they are.

pins.json has one SHA-256 per output. The content of stats.json is pinned without `inputs`, which has the hash of the
program. If a change affects numbers on purpose, its commit replaces the SHA-256 by the one in the message of the failed
test, and says why. Live runs cannot be pinned, because two boots of one image differ in the guest's memory:
`make same BASE=COMMIT` compares live runs of two commits from one checkpoint (__main__.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest
from tests.capture.conftest import write_capture
from tests.lab import Lab

from s80lab.base import paths
from s80lab.protocol.docs import on_a_bus
from s80lab.results.metrics.derive import render
from s80lab.trace import source, tool
from s80lab.trace.source import Wanted

PINS: Mapping[str, Mapping[str, str]] = json.loads((Path(__file__).parent / "pins.json").read_text())
TRACES = {str(file.relative_to(paths.LESSONS)): file for file in sorted(paths.LESSONS.rglob("*.trace"))}
LLC = [f"--set={setting}" for setting in ("llc.size=48KiB", "llc.ways=12", "llc.slices=4", "latency.llc=40")]
DIRECTORY = [f"--set={setting}" for setting in ("directory.entries=256", "directory.ways=8")]
REPLAYS = {file.stem: ["--protocol", file.stem] for file in sorted(on_a_bus())} | {
    "exclusive": ["--set", "l2.inclusion=exclusive"],
    "plru": ["--set", "replacement.policy=plru"],
    "random": ["--set", "replacement.policy=random"],
    "queues": ["--set", "bandwidth.bus=12", "--set", "bandwidth.memory=90", "--set", "bandwidth.banks=2"],
    "threads": ["--set", "processors.threads_per_core=2"],
    **{name: ["--protocol", name, *LLC] for name in ("mesi-llc", "chi-slc")},
    "mesif-snoop-filter": ["--protocol", "mesif-snoop-filter", *LLC, *DIRECTORY],
}
"""Options of `s80lab replay`, by the name of the pin: each shipped protocol, and each choice of the machine that
changes the path of a miss."""


def check(kind: str, name: str, content: str) -> None:
    found = sha256(content.encode()).hexdigest()
    assert PINS[kind].get(name) == found, f"pins.json: {kind}, {name} is now {found}"


@pytest.mark.parametrize("name", TRACES)
def test_steps_of_a_shipped_trace_are_as_pinned(name: str) -> None:
    trace = source.load(TRACES[name], Wanted())
    steps = "".join(f"{json.dumps(step)}\n" for step in tool.steps(trace.order, trace.setup))
    check("steps", name, steps + json.dumps(tool.counts(trace.order, trace.setup)))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_capture(tmp_path_factory.mktemp("pins") / "drawn.s80c")


@pytest.mark.parametrize("name", REPLAYS)
def test_replay_of_drawn_accesses_is_as_pinned(drawn: Path, tmp_path: Path, name: str) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    lab.call("replay", str(drawn), *REPLAYS[name])
    (run,) = lab.runs()
    record = json.loads((run / "stats.json").read_text())
    del record["inputs"]
    check("replay", name, render(record))


def test_pins_name_each_trace_and_replay_once() -> None:
    assert set(PINS["steps"]) == set(TRACES)
    assert set(PINS["replay"]) == set(REPLAYS)

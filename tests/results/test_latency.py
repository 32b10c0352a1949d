# SPDX-License-Identifier: GPL-2.0-or-later
"""The latency model gives the study's table to the Mbit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.results.latency import Application, load_study

STUDY = load_study()


@pytest.mark.parametrize("platform", STUDY.platforms, ids=lambda platform: platform.name)
def test_every_number_of_the_study(platform: object) -> None:
    (one,) = [known for known in STUDY.platforms if known is platform]
    assert [round(app.peak_mbit(one.bi, STUDY.be)) for app in STUDY.applications] == one.stated


def test_a_byte_that_is_moved_twice_takes_twice_as_long() -> None:
    once, twice = (Application(name="copy", to_memory=count, network=1e-9) for count in (1, 2))
    assert once.microseconds(1e6, 1000, 1e9) == pytest.approx(2000)
    assert twice.peak_mbit(1000, 1e9) == pytest.approx(once.peak_mbit(1000, 1e9) / 2)


def test_the_command(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    told = json.loads(lab.call("model", "latency", "--bi", "6400", "--be", "125", "--json"))
    assert [one["platform"] for one in told][-1] == "6400 MB/s"
    assert told[-1]["peak_mbit"]["IP forwarding"] == pytest.approx(500)
    table = lab.call("model", "latency")
    assert "Athlon XP 3000 (Bi 2700 MB/s)" in table and table.count("3291") == 4
    assert "write a positive bandwidth" in lab.call("model", "latency", "--bi", "0", code=2)

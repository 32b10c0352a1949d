# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines with more processors than a guest can have: traces are stepped, become captures and are replayed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.commands.line.app import app
from s80lab.config.machine import load_guest_machine
from s80lab.trace import tool
from s80lab.trace.order import Op, Order, make
from s80lab.trace.setup import Setup

TRACE = """255 store 0x1000
0 load 0x1000
128 load 0x1000
40 store 0x1000
"""


def test_step_256_processors_names_all_sharers(tmp_path: Path) -> None:
    trace = tmp_path / "wide.trace"
    trace.write_text(TRACE)
    words = [
        "trace",
        "step",
        str(trace),
        "--machine",
        "classroom",
        "--protocol",
        "moesi",
        "--set",
        "processors.count=256",
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    for core in (0, 128, 255):
        assert f"core {core} snoops the read for ownership" in done.output


def test_machine_257_processors_is_refused() -> None:
    with pytest.raises(UserError, match=r"processors.count`: `257` is not allowed; write a number of at most 256"):
        Setup.load("classroom", "moesi", ["processors.count=257"])


def test_guest_33_processors_is_refused() -> None:
    with pytest.raises(UserError, match=r"processors.count`: `33` is not allowed for a guest; .* at most 32"):
        load_guest_machine("s80", {"processors.count": 33})


def synthetic(processors: int) -> Order:
    """Two sweeps over shared lines by all processors; the second one stores."""
    numbers = np.arange(20 * processors)
    order = make(numbers % processors, np.where(numbers % 7 == 0, Op.STORE, Op.LOAD), numbers * 13 % 97)
    order["tick"] = numbers * 1_000_000
    return order


@pytest.mark.parametrize("processors", [32, 33, 256])
def test_replay_of_an_imported_trace_has_the_misses_of_its_steps(processors: int, tmp_path: Path) -> None:
    setup = Setup.load("classroom", "moesi", [f"processors.count={processors}"])
    order = synthetic(processors)
    capture, out = tmp_path / "x.s80c", tmp_path / "out"
    tool.to_capture(order, setup.machine, capture, lines=97, protocol="moesi", origin="{}")
    assert tool.from_capture(capture, setup)["processor"].tolist() == order["processor"].tolist()
    out.mkdir()
    machine = tmp_path / "machine.toml"
    machine.write_text(setup.machine.resolved())
    keys = {"capture": capture, "machine": machine, "protocol": paths.PROTOCOLS / "moesi.toml", "out": out}
    subprocess.run([paths.REPLAY, *(f"{key}={value}" for key, value in keys.items())], check=True, capture_output=True)
    last = json.loads((out / "snapshots.jsonl").read_text().splitlines()[-1])
    counted = tool.counts(order, setup)
    misses = sum(count for name, count in counted.items() if name.startswith("access.miss."))
    assert sum(last["values"]["l2_misses"]) == misses > processors

# SPDX-License-Identifier: GPL-2.0-or-later
"""Orders become full captures and come back the same; `s80-order` refuses what is wrong."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from s80lab.base.errors import UserError
from s80lab.commands.line.app import app
from s80lab.trace import order as trace_order
from s80lab.trace import source, tool
from s80lab.trace.order import Op, Order, make
from s80lab.trace.setup import Setup
from s80lab.trace.source import Wanted


@pytest.fixture
def setup() -> Setup:
    return Setup.load("classroom", "mesi", ["processors.count=5"])


def test_capture_made_from_an_order_replays_that_order(drawn: Order, setup: Setup, tmp_path: Path) -> None:
    drawn["line"] %= 1000
    capture = tmp_path / "drawn.s80c"
    tool.to_capture(drawn, setup.machine, capture, lines=1000, protocol="none", origin='{"imported": "test"}')
    back = tool.from_capture(capture, setup)
    for column in ("line", "processor", "op", "context"):
        assert (back[column] == drawn[column]).all(), column
    assert (np.diff(back["tick"].astype(np.int64)) >= 0).all()
    info = tool.capture_info(capture)
    assert (info["form"], info["processors"], info["lines"], info["accesses"]) == ("full", 5, 1000, 2000)
    assert info["origin"] == '{"imported": "test"}'


def test_capture_part_is_selected_by_access_number(drawn: Order, setup: Setup, tmp_path: Path) -> None:
    drawn["line"] %= 1000
    capture = tmp_path / "drawn.s80c"
    tool.to_capture(drawn, setup.machine, capture, lines=1000, protocol="none", origin="{}")
    part = tool.from_capture(capture, setup, first=1990, count=100)
    assert part["line"].tolist() == drawn["line"][1990:].tolist()
    with pytest.raises(UserError, match="has only 2000 accesses, so first=2000 is too large"):
        tool.from_capture(capture, setup, first=2000)


def test_lines_and_processors_beyond_are_refused(setup: Setup, tmp_path: Path) -> None:
    capture = tmp_path / "x.s80c"
    with pytest.raises(UserError, match="is of line 1000, beyond the memory of 1000 lines"):
        tool.to_capture(make(0, Op.LOAD, [1000]), setup.machine, capture, lines=1000, protocol="", origin="{}")
    with pytest.raises(UserError, match="names processor 5, but there are 5"):
        tool.counts(make(5, Op.LOAD, [0]), setup)
    assert not capture.exists()


def test_truncated_order_file_is_refused(drawn: Order, tmp_path: Path) -> None:
    path = tmp_path / "a.order"
    trace_order.write(path, drawn)
    assert (trace_order.read(path) == drawn).all()
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UserError, match="not a multiple of 16-byte records"):
        trace_order.read(path)


@pytest.mark.parametrize(
    ("column", "value", "complaint"),
    [
        ("op", 4, "the unknown operation 4"),
        ("zero", 1, "not a totally ordered trace"),
        ("line", 0xFFFF_FFFF, "beyond"),
    ],
)
def test_malformed_order_record_is_refused(
    drawn: Order, tmp_path: Path, column: str, value: int, complaint: str
) -> None:
    drawn[column][17] = value
    path = tmp_path / "a.order"
    trace_order.write(path, drawn)
    with pytest.raises(UserError, match=f"access 17 .*{complaint}"):
        trace_order.read(path)


def test_trace_commands_import_and_export_a_text_trace(tmp_path: Path) -> None:
    runner = CliRunner()
    trace = tmp_path / "two.trace"
    trace.write_text("# machine: classroom\n0 store 0x100\n1 load 0x100\n0 load 0x140\n")
    capture, folder = tmp_path / "two.s80c", tmp_path / "packets"
    for words in (
        ["import", str(trace), "--format", "text", "--out", str(capture), "--machine", "classroom"],
        ["export", str(capture), "--format", "gem5", "--out", str(folder), "--spacing", "spaced"],
        ["info", str(capture)],
    ):
        done = runner.invoke(app, ["trace", *words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == ["cpu00.trc", "cpu01.trc"]
    order = source.import_files(files, "gem5", 64)
    assert order[["processor", "op", "line"]].tolist() == [(0, Op.STORE, 4), (1, Op.LOAD, 4), (0, Op.LOAD, 5)]
    assert source.load(capture, Wanted()).setup.machine.name == "classroom"


@pytest.mark.parametrize("name", ["step", "count"])
def test_s80_order_refuses_moved_command_with_new_name(name: str) -> None:
    done = subprocess.run([tool.ORDER, name], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        1,
        f"s80-order: {name} is a command of another program: write s80-step {name}\n",
    )

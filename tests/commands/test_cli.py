# SPDX-License-Identifier: GPL-2.0-or-later
"""What the user gets wrong is told in one sentence on stderr, with exit code 2 and no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab import Lab


@pytest.fixture
def empty(tmp_path: Path) -> Lab:
    """A laboratory in which nothing has been built or measured."""
    return Lab(tmp_path / "checkpoints", tmp_path / "results")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["run", "imapc"],
            "there is no experiment `imapc` in configs/experiments: allowed are clientscaler, figure1, figure1-disk",
        ),
        (["run", "imapb", "--machine", "s70"], "there is no machine `s70` in configs/machines: allowed are"),
        (["run", "imapb", "--protocol", "mosey"], "there is no protocol `mosey` in configs/protocols: allowed are"),
        (
            ["run", "imapb", "--scale", "giant"],
            "no phases for scale `giant` (table [phases.giant]): allowed are paper, sixteenth, small, tiny",
        ),
        (["run", "imapb", "--set", "l2.size=3MiB"], "makes 6144 sets; the number of sets must be a power of two"),
        (["run", "imapb", "--set", "l2.waves=4"], "configs/machines/s80.toml: unknown key `l2.waves`: allowed are"),
        (["run", "imapb", "--seeds", "one"], "--seeds one: write whole numbers separated by commas"),
        (["run", "imapb", "--seeds", "1,1"], "--seeds 1,1: a seed is given twice"),
        (["run", "imapb", "--seeds", "0,1"], "--seeds 0,1: write whole numbers from 1 to 1000000000000000000"),
        (
            ["run", "imapb", "--seeds", "9223372036854775808"],
            "--seeds 9223372036854775808: write whole numbers from 1 to 1000000000000000000",
        ),
        (["capture", "imapb", "--seed", "0"], "--seed 0: write a whole number from 1 to 1000000000000000000"),
        (["report", "imapb"], "contains no run of imapb with the design in the experiment's file"),
        (["claims"], "contains no run of imapb, imape with the design in the experiment's file"),
    ],
)
def test_one_sentence(empty: Lab, arguments: list[str], sentence: str) -> None:
    said = empty.call(*arguments, code=2)
    assert said.startswith("s80lab: ")
    assert sentence in said
    assert said.count("\n") == 1


def test_list_names_what_there_is(empty: Lab) -> None:
    lines = empty.call("list").splitlines()
    sweeps = "figure1, figure1-disk, figure5, figure5-disk"
    mail = f"clientscaler, {sweeps}, groupware, imapb, imape, jbb, memory-probe, pop3"
    web = "uw, web, webstone, webstone-size, zvm, zvm-beyond"
    names = f"{mail}, router, rtp, ruby-sweep, servers, servers-filled, smt-share, streaming, switch-probe, {web}"
    assert f"experiments: {names}" in lines
    assert "scales: light, paper, sixteenth, small, tiny" in lines


def test_doctor_finds_nothing_missing_where_the_image_is_built(lab: Lab) -> None:
    assert "ok   tools: setpriv, cp, mmdebstrap, rumur" in lab.call("doctor", "--scale", "tiny")


def test_what_draws_is_loaded_when_something_is_drawn() -> None:
    """Most commands draw nothing."""
    code = (
        "import sys; from s80lab.commands.line.app import declarations; [one.worker() for one in declarations()]; "
        "print(sorted({'matplotlib', 'pandas', 'pyarrow'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"

# SPDX-License-Identifier: GPL-2.0-or-later
"""What the user gets wrong is told in one sentence on stderr, with exit code 2 and no traceback."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
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
            ["run", "another"],
            "there is no experiment `another` in configs/experiments: allowed are clientscaler, figure1, figure1-disk",
        ),
        (["run", "imapb", "--machine", "s70"], "there is no machine `s70` in configs/machines: did you mean s80?"),
        (
            ["run", "imapb", "--protocol", "mosey"],
            "there is no protocol `mosey` in configs/protocols: did you mean mosi?",
        ),
        (
            ["run", "imapb", "--scale", "giant"],
            "imapb cannot run at scale `giant`, because there is no table [phases.giant]: allowed are paper, six",
        ),
        (["run", "imapb", "--set", "l2.size=3MiB"], "makes 6144 sets; the number of sets must be a power of two"),
        (
            ["run", "imapb", "--set", "l2.waves=4"],
            "--set l2.waves=4: unknown key `l2.waves`: did you mean ways? (allowed are",
        ),
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
def test_wrong_arguments_give_one_sentence(empty: Lab, arguments: list[str], sentence: str) -> None:
    said = empty.call(*arguments, code=2)
    assert said.startswith("s80lab: ")
    assert sentence in said
    assert said.count("\n") == 1


def test_list_names_what_there_is(empty: Lab) -> None:
    lines = empty.call("list").splitlines()
    sweeps = "figure1, figure1-disk, figure5, figure5-disk"
    mail = f"clientscaler, {sweeps}, gem5-quick, groupware, imapb, imape, jbb, memory-probe, pop3"
    web = "uw, web, webstone, webstone-size, zvm, zvm-beyond"
    names = (
        f"{mail}, quick, router, rtp, ruby-sweep, servers, servers-filled, smt-share, streaming, switch-probe, {web}"
    )
    assert f"experiments: {names}" in lines
    assert "scales: gem5-quick, light, paper, sixteenth, small" in lines


def test_list_of_a_kind_has_a_line_of_description_for_each_name(empty: Lab) -> None:
    lines = empty.call("list", "experiments").splitlines()
    assert "imapb           The paper's IMAP browsing mix: users read mail; a quarter" in "\n".join(lines)
    assert [line for line in lines if not re.fullmatch(r"[\w-]+  +\S.{20,}", line)] == []
    for kind in ("machines", "protocols", "scales", "servers"):
        assert all(line.split()[1:] for line in empty.call("list", kind).splitlines()), kind


def test_list_names_the_servers_that_an_error_names(empty: Lab) -> None:
    (listed,) = (line for line in empty.call("list").splitlines() if line.startswith("servers: "))
    said = empty.call("run", "imapb", "--server", "something", code=2)
    assert listed.removeprefix("servers: ") in said


def test_list_without_runs_names_the_command_that_makes_one(empty: Lab) -> None:
    expected = "runs: none yet; `s80lab run imapb` makes the first"
    assert empty.call("list").splitlines()[-1] == expected == empty.call("list", "runs").strip()


def test_list_has_a_line_per_run_with_its_design_and_the_reasons_only_for_the_kind(measured: Lab) -> None:
    with closing(sqlite3.connect(measured.results / "s80lab.sqlite")) as connection, connection:
        connection.execute("UPDATE run SET differences = 'mosi · l2.size=1MiB' WHERE id = 'imapb-1'")
    lines = measured.call("list").splitlines()
    assert "runs: 6, 3 invalid; `s80lab list runs` prints why" in lines
    assert [line for line in lines if line == "  imapb-1 (invalid, imapb · mosi · l2.size=1MiB)"]
    assert [line for line in lines if line.startswith("  imape-1 (valid, imape")]
    assert "steady state" not in "\n".join(lines) and "steady state" in measured.call("list", "runs")


def test_doctor_finds_nothing_missing_where_the_image_is_built(lab: Lab) -> None:
    assert "ok   tools: setpriv (ends guests with s80lab), cp (copies checkpoints), mmdebstrap (" in lab.call(
        "doctor", "--scale", "tiny"
    )


def test_plotting_modules_are_loaded_only_for_plots() -> None:
    """Most commands draw nothing."""
    code = (
        "import sys; from s80lab.commands.line.app import declarations; [one.worker() for one in declarations()]; "
        "print(sorted({'matplotlib', 'pandas', 'pyarrow'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"

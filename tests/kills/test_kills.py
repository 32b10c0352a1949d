# SPDX-License-Identifier: GPL-2.0-or-later
"""The kill harness: what it draws, what it notices, and a few real kills."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.kills.__main__ import main, parse_kills
from tests.kills.campaign import Campaign, Totals, read_totals, write_totals
from tests.kills.material import Material
from tests.kills.process import MOST_IN_A_ROW, draw_kills, end_survivors, survivors, until_none
from tests.kills.scenarios import Scenario, scenarios
from tests.kills.state import State, strays, violations
from tests.lab import Lab

REFERENCE: State = {"run a: stats.json": "1", "run a: rows": "2"}

# As a command without partial folders does: it destroys what was complete, and takes its time.
CARELESS = """
import pathlib, sys, time
page = pathlib.Path(sys.argv[1])
page.write_text("half")
time.sleep(0.5)
page.write_text("the whole page")
"""


def test_equal_seeds_draw_equal_kills() -> None:
    assert draw_kills(1, "run", 7) == draw_kills(1, "run", 7)
    assert draw_kills(1, "run", 7) != draw_kills(2, "run", 7)


def test_draws_cover_moments_signals_and_targets() -> None:
    rounds = [draw_kills(1, "explore", number) for number in range(1, 201)]
    kills = [kill for one in rounds for kill in one]
    assert {len(one) for one in rounds} == set(range(1, MOST_IN_A_ROW + 1))
    assert {kill.kind for kill in kills} == {
        f"{name} to the {target}" for name in ("SIGKILL", "SIGTERM") for target in ("command", "group")
    }
    tenths = [int(10 * kill.share) for kill in kills]
    assert set(tenths) == set(range(10))
    assert max(map(tenths.count, range(10))) < 2 * min(map(tenths.count, range(10)))


@pytest.mark.parametrize("text", ["run", "run=", "run=x", "run=0", "walk=3", "run=3,", ""])
def test_kills_of_unknown_form_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write COMMAND=NUMBER"):
        parse_kills(text)


def test_kills_are_read_by_command() -> None:
    assert parse_kills("run=60,collect=160") == {"run": 60, "collect": 160}


def test_states_as_promised_are_not_violations() -> None:
    part = {"run a: stats.json": "1"}
    assert violations({}, REFERENCE, {}, part, ended=False) == []
    assert violations({}, REFERENCE, part, REFERENCE, ended=True) == []


@pytest.mark.parametrize(
    ("before", "after", "ended", "sentence"),
    [
        (REFERENCE, {"run a: rows": "2"}, False, "run a: stats.json: was complete before, and is lost"),
        (REFERENCE, REFERENCE | {"run a: rows": "3"}, False, "run a: rows: was complete before, and has changed"),
        ({}, {"run a: rows": "3"}, False, "run a: rows: differs from what an undisturbed command makes"),
        ({}, {"run b: rows": "2"}, False, "run b: rows: an undisturbed command does not make it"),
        ({}, {"run a: rows": "2"}, True, "run a: stats.json: is missing"),
    ],
)
def test_broken_promises_are_named(before: State, after: State, ended: bool, sentence: str) -> None:
    assert violations({}, REFERENCE, before, after, ended=ended) == [sentence]


def test_removed_entries_may_be_lost_but_not_kept() -> None:
    both, one = {"checkpoint a: ram.img": "1", "checkpoint b: ram.img": "1"}, {"checkpoint a: ram.img": "1"}
    assert violations(both, one, both, one, ended=False) == []
    assert violations(both, one, both, both, ended=False) == []
    assert violations(both, one, both, both, ended=True) == ["checkpoint b: ram.img: an undisturbed command removes it"]


def test_inexact_commands_are_compared_by_label() -> None:
    reference = {"run imapb-tiny-s1-0123abcd: stats.json": "1"}
    after = {"run imapb-tiny-s1-89abcdef: stats.json": "2"}
    assert violations({}, reference, {}, after, ended=True, exact=False) == []
    assert violations({}, reference, {}, {}, ended=True, exact=False) == ["run imapb-tiny-s1-*: stats.json: is missing"]
    assert violations({}, reference, after, {}, ended=False, exact=False) == [
        "run imapb-tiny-s1-89abcdef: stats.json: was complete before, and is lost"
    ]


def test_strays_are_found_once_each(tmp_path: Path) -> None:
    (tmp_path / "runs" / ".partial-a@host" / ".partial-b@host").mkdir(parents=True)
    (tmp_path / "a.tar.partial").touch()
    (tmp_path / ".lock").touch()
    assert strays(tmp_path) == [tmp_path / "a.tar.partial", tmp_path / "runs" / ".partial-a@host"]


def test_surviving_process_is_found_and_ended() -> None:
    mark = f"TMPDIR=/dev/null/{os.getpid()}"
    with subprocess.Popen(["sleep", "600"], env=dict(os.environ, TMPDIR=mark.partition("=")[2])) as process:
        try:
            # The kernel shows the environment a moment after the program has been started.
            while process.poll() is None and not Path(f"/proc/{process.pid}/environ").read_bytes():
                pass
            assert survivors(mark) == ["sleep"]
        finally:
            end_survivors(mark)
        assert process.wait() == -signal.SIGKILL
    assert survivors(mark) == [] and until_none(mark)


def test_totals_add_up_over_calls(tmp_path: Path) -> None:
    path = tmp_path / "totals.json"
    for _ in range(2):
        totals = read_totals(path)
        totals.add_kill("run", "SIGKILL to the group")
        totals.add_kill("run", "SIGTERM to the command")
        totals.add_round("run")
        write_totals(totals, path)
    assert json.loads(path.read_text())["kills"] == {"run": {"SIGKILL to the group": 2, "SIGTERM to the command": 2}}
    assert (totals.count("run"), totals.rounds, totals.count("collect")) == (4, {"run": 2}, 0)


def test_planted_violation_is_reported_with_its_lab(tmp_path: Path) -> None:
    """The page exists before the command, which replaces the page in place."""

    def page(lab: Lab) -> Path:
        return lab.results / "reports" / "a" / "report.html"

    def prepare(lab: Lab) -> None:
        page(lab).parent.mkdir(parents=True)
        page(lab).write_text("the whole page")

    said: list[str] = []
    campaign = Campaign(tmp_path / "kills", Totals(), tmp_path / "totals.json", 1, said.append)
    words = (sys.executable, "-c", CARELESS, str(page(campaign.lab)))
    campaign.kill("explore", [Scenario("explore", "careless", words, prepare)], 4)
    (first, *_) = read_totals(tmp_path / "totals.json").violations
    assert campaign.found == len(campaign.totals.violations)
    assert first.what == ["report a/report.html: was complete before, and has changed"]
    assert page(Lab(Path(), Path(first.folder) / "results")).read_text() == "half"
    assert first.repeat.startswith(f"python -m tests.kills --kills explore={len(first.kills)} --seed 1 --first-round ")
    assert any(line.startswith("VIOLATION in explore (careless), round ") for line in said)


def test_kills_without_a_guest_lose_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kills = ("--kills", "collect=2,explore=2,checkpoint=3", "--seed", "3")
    code = main([*kills, "--drawn", "--folder", str(tmp_path)])
    assert code == 0, capsys.readouterr().out
    totals = read_totals(tmp_path / "totals.json")
    assert [totals.count(command) for command in ("collect", "explore", "checkpoint")] == [2, 2, 3]


@pytest.mark.guest
def test_kills_of_a_run_lose_nothing(whole: Lab, tmp_path: Path) -> None:
    """In a folder beside the session's lab, whose checkpoints can be linked there."""
    said: list[str] = []
    folder = whole.results.parent / "kills"
    shutil.rmtree(folder, ignore_errors=True)
    material = Material(whole.beside(folder / "lab"))
    campaign = Campaign(folder, Totals(), tmp_path / "totals.json", 1, said.append)
    campaign.kill("run", scenarios("run", material, campaign.lab)[:1], 3)
    assert campaign.found == 0, "\n".join(said)
    shutil.rmtree(folder)

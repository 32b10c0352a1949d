# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab gem5 check` with the recorded answers of real builds: 24.0.0.1, a development state of 25.0, and a build of
that state in which one transition of MOESI_hammer was changed: a cache in MM that supplies a load stays the owner.
Tables of a verdict show its texts without markup. The user's own gem5 is certified, if one is found."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import typer
from rich.console import Console
from tests.gem5.agree.random_traces import TRANSIENT
from tests.gem5.check.recorded import recorded, stand_in

from s80lab.base.errors import UserError
from s80lab.commands.gem5 import check_command, print_differences, print_transitions
from s80lab.commands.line.compare import Gem5CheckArguments
from s80lab.gem5.agree.categories import CATEGORIES
from s80lab.gem5.binary import About
from s80lab.gem5.check import traces
from s80lab.gem5.check.run import check, expected, require_certified
from s80lab.gem5.check.traces import simulations
from s80lab.gem5.check.verdict import Difference, Verdict

CERTIFIED = "25.0-development"
OLDER = "24.0.0.1"
CHANGED = "25.0-changed"


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Verdicts of this test only."""
    monkeypatch.setenv("S80LAB_GEM5_CHECKS", str(tmp_path / "checks"))
    return tmp_path / "checks"


def starts(tmp_path: Path) -> list[str]:
    return (tmp_path / "starts").read_text().split()


def gem5_with(tmp_path: Path, name: str) -> Path:
    return stand_in(tmp_path, recorded(name), tmp_path / "starts")


def test_traces_reach_every_category_of_isolated_accesses() -> None:
    counts = [expected(one) for one in simulations()]
    reached = {category.name for category in CATEGORIES if any(count[category.name] for count in counts)}
    assert reached == {category.name for category in CATEGORIES} - TRANSIENT


def test_random_accesses_overflow_the_caches() -> None:
    count = expected(simulations()[1])
    assert all(count[f"evictions: {state}"] > 50 for state in ("S", "O", "M", "MM"))


@pytest.mark.parametrize(("build", "adapter"), [(OLDER, "24.0"), (CERTIFIED, "24.1")])
def test_check_certifies_the_recorded_builds(tmp_path: Path, build: str, adapter: str) -> None:
    verdict = check(gem5_with(tmp_path, build))
    assert verdict.about.release == adapter
    assert verdict.certified and verdict.differences == [] and verdict.accesses > 6000
    assert sorted(starts(tmp_path)) == ["about.py", "replay.py", "replay.py"]


def test_reached_transitions_exist(tmp_path: Path) -> None:
    reached, existing = check(gem5_with(tmp_path, CERTIFIED)).reached, traces.existing_transitions()
    assert {controller: set(names) - set(existing[controller]) for controller, names in reached.items()} == {
        "L1Cache_Controller": set(),
        "Directory_Controller": set(),
    }
    assert len(reached["L1Cache_Controller"]) > 80


def test_check_refuses_the_changed_build_with_its_categories(tmp_path: Path) -> None:
    gem5 = gem5_with(tmp_path, CHANGED)
    assert {"fills: E or D (Ruby's M)", "fills: S", "reads: from M"} < set(check(gem5).differing)
    with pytest.raises(UserError, match=r"is refused, because its MOESI_hammer differs .*gem5 [0-9]+, model [0-9]+"):
        require_certified(gem5, x86=False)


def test_stored_verdict_needs_no_start_of_gem5(tmp_path: Path) -> None:
    gem5, told = gem5_with(tmp_path, CERTIFIED), list[str]()
    require_certified(gem5, x86=False, tell=told.append)
    assert len(starts(tmp_path)) == 3
    assert ["checking the MOESI_hammer" in told[0], "is certified" in told[1]] == [True, True]
    require_certified(gem5, x86=False, tell=told.append)
    assert len(starts(tmp_path)) == 3 and len(told) == 2
    with pytest.raises(UserError, match="was built without X86, which the guest needs"):
        require_certified(gem5, x86=True)


def test_changed_binary_is_checked_again(tmp_path: Path) -> None:
    gem5 = gem5_with(tmp_path, CERTIFIED)
    assert check(gem5).certified
    assert not check(gem5_with(tmp_path, CHANGED)).certified


def test_failure_of_gem5_refuses_and_is_not_stored(tmp_path: Path) -> None:
    gem5 = gem5_with(tmp_path, CERTIFIED)
    text = gem5.read_text()
    gem5.write_text(
        text.replace("exec", "case $* in *replay.py*) echo 'panic: Invalid transition'; exit 1;; esac\nexec")
    )
    with pytest.raises(UserError, match="gem5 ended with code 1: panic: Invalid transition"):
        require_certified(gem5, x86=False)
    plays = len(starts(tmp_path))
    assert "Invalid transition" in check(gem5).failure
    assert len(starts(tmp_path)) > plays


def test_command_prints_the_verdict_and_its_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_command(Gem5CheckArguments(gem5_with(tmp_path, CERTIFIED)))
    said = capsys.readouterr().out
    assert "MOESI_hammer is certified: equal to the model in all 40 categories; 6,118 accesses in 7 traces" in said
    assert "transitions reached: " in said and " of 603 " in said
    with pytest.raises(typer.Exit) as ended:
        check_command(Gem5CheckArguments(gem5_with(tmp_path, CHANGED)))
    said = capsys.readouterr().out
    assert ended.value.exit_code == 1 and "Categories that differ" in said and "MOESI_hammer is refused" in said


def test_command_names_the_protocols_that_are_not_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = tmp_path / "answers"
    answers.mkdir()
    for file in recorded(CERTIFIED).iterdir():
        (answers / file.name).write_bytes(file.read_bytes())
    about = json.loads((answers / "about.json").read_text()) | {"protocols": ["CHI", "MOESI_hammer", "MSI"]}
    (answers / "about.json").write_text(json.dumps(about))
    check_command(Gem5CheckArguments(stand_in(tmp_path, answers), as_json=True))
    out = capsys.readouterr()
    record = json.loads(out.out)
    assert record["certified"] is True and record["not_checked"] == ["CHI", "MSI"] and record["differences"] == []
    assert "other protocols of this gem5, not checked: CHI, MSI" in out.err


def test_texts_of_a_verdict_are_neither_markup_nor_control_characters() -> None:
    verdict = Verdict(
        binary="0",
        about=About(version="24", release="24", protocols=(), isas=()),
        traces=1,
        accesses=1,
        categories=1,
        differences=[Difference(trace="[/]", category="[red]a\x1b[2J", ruby=1, model=2)],
        failure="",
        reached={"[/x]": ["[bold]I.\x1b]0;evil\x07"]},
        seconds=1.0,
    )
    text = io.StringIO()
    console = Console(file=text, width=120, force_terminal=False)
    print_differences(verdict, console)
    print_transitions(verdict, console)
    said = text.getvalue()
    assert "\x1b" not in said and "\x07" not in said
    assert all(word in said for word in ("[/]", "[red]a\\x1b[2J", "[/x]", "[bold]I", "\\x1b]0;evil\\x07"))


def test_check_certifies_the_users_gem5(gem5: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S80LAB_GEM5_CHECKS", str(tmp_path))
    verdict = check(gem5)
    assert verdict.certified, verdict.reason()

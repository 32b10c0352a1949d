# SPDX-License-Identifier: GPL-2.0-or-later
"""`from s80lab import Lab`: the examples of the docstrings, and what is wrong told in one sentence."""

from __future__ import annotations

import asyncio
import builtins
import doctest
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.lab import Lab as CommandLine

import s80lab.api.lab
import s80lab.api.runs
from s80lab import Lab
from s80lab.base.errors import UserError


@pytest.fixture
def lab(measured: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """The lab that the command would work in, with three runs of each mix."""
    monkeypatch.setenv("S80LAB_RESULTS", str(measured.results))
    monkeypatch.setenv("S80LAB_CAPTURES", str(measured.captures))
    return Lab()


@pytest.mark.parametrize("module", [s80lab.api.lab, s80lab.api.runs], ids=lambda module: module.__name__)
def test_examples(lab: Lab, module: ModuleType) -> None:
    done = doctest.testmod(module, extraglobs={"lab": lab}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert done.attempted > 5 and done.failed == 0


def test_another_lab_is_read_where_it_lies(lab: Lab) -> None:
    other = Lab(lab.results.parent)
    assert len(other.runs("imape").results()) == 3
    with pytest.raises(UserError, match="works only in the lab that the command `s80lab` uses"):
        other.explore("capture", "protocol=mesi")


def test_an_estimate_is_the_reports(lab: Lab) -> None:
    runs = lab.runs("imape")
    (group,) = runs.groups()
    expected = group.estimate("cpi.all")
    assert expected is not None
    (row,) = runs.estimates("cpi.all").to_dict("records")
    assert (row["mean"], row["half_width"], row["n"]) == (expected.mean, expected.half_width, 3)


def test_a_report_over_runs_of_ones_own_choice(lab: Lab, tmp_path: Path) -> None:
    page = lab.runs(seed=1)[:1].report(tmp_path / "mine", "Mine")
    assert "Mine" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda lab: lab.runs(scales="small"), "has no column `scales`"),
        (
            lambda lab: lab.runs().frame("e_shares"),
            r"no run has a metric `e_shares`: did you mean e_share\?",
        ),
        (lambda lab: lab.reference("huge"), "results/reference has no result `huge`"),
        (lambda lab: lab.capture("imapb"), "there is no capture in"),
        (lambda lab: lab.protocol("mosey"), "there is no protocol `mosey`"),
        (lambda lab: lab.query("SELECT seed, seed FROM run"), "two columns of the query are named seed"),
        (lambda lab: lab.query("DELETE FROM run"), "the SQL query failed"),
    ],
)
def test_one_sentence(lab: Lab, wrong: Any, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        wrong(lab)


def test_without_pandas_one_sentence(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UserError, match="need the package pandas, which is not installed"):
        lab.metrics()


def test_work_ends_where_a_loop_runs_already() -> None:
    async def work() -> int:
        return 42

    async def notebook() -> int:
        return s80lab.api.lab._finish(work())

    assert asyncio.run(notebook()) == s80lab.api.lab._finish(work()) == 42

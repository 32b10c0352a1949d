# SPDX-License-Identifier: GPL-2.0-or-later
"""Explorations of several captures: means over the captures with intervals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.capture.conftest import write_capture
from tests.capture.test_captures import keep
from tests.lab import Lab

from s80lab.analysis.interval import estimate
from s80lab.base.errors import UserError
from s80lab.commands.replay import open_captures

GRID = ("--vary", "protocol=moesi,msi")


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("captures")
    return [str(write_capture(folder / f"drawn{seed}.s80c", seed, 20_000)) for seed in (1, 2, 3)]


def test_designs_have_means_over_the_captures_with_intervals(place: Lab, captures: list[str]) -> None:
    alone = [json.loads(place.answer("explore", capture, *GRID, "--json"))["designs"] for capture in captures]
    told = json.loads(place.answer("explore", ",".join(captures), *GRID, "--json"))
    assert [design["design"] for design in told["designs"]] == ["moesi", "msi"]
    for number, design in enumerate(told["designs"]):
        runs = [one[number] for one in alone]
        assert [run["run"] for run in design["runs"]] == [run["run"] for run in runs]
        expected = estimate([run["metrics"]["l2_mpki.all"] for run in runs])
        found = design["estimates"]["l2_mpki.all"]
        assert expected is not None and expected.half_width is not None and expected.half_width > 0
        assert found == {"mean": expected.mean, "half_width": expected.half_width, "n": 3}


def test_page_of_several_captures_names_them_and_is_not_that_of_one(place: Lab, captures: list[str]) -> None:
    pages = [place.answer("explore", name, *GRID).splitlines()[-1] for name in (captures[0], ",".join(captures[:2]))]
    assert pages[0] != pages[1]
    text = Path(pages[1].removeprefix("report: ")).read_text()
    assert "captures drawn1, drawn2" in text and "±" in text and "compare --replay" in text


def test_list_has_every_capture_with_every_design(place: Lab, captures: list[str]) -> None:
    words = ("explore", ",".join(captures), *GRID, "--list", "--json")
    assert {job["job"] for job in json.loads(place.answer(*words))["jobs"]} == {
        f"drawn{seed}: {protocol}" for seed in (1, 2, 3) for protocol in ("moesi", "msi")
    }


def test_shards_of_several_captures_are_the_whole(place: Lab, captures: list[str]) -> None:
    for shard in ("1/2", "2/2"):
        place.call("explore", ",".join(captures), *GRID, "--shard", shard)
    assert len(place.runs()) == 6


def test_seeds_select_captures_by_the_beginning_of_their_names(inside: Lab, captures: list[str]) -> None:
    for number, capture in enumerate(captures, 1):
        keep(f"imapb-small-s{number}-full-0000000{number}", Path(capture))
    # The manifests of this store say that each capture is of seed 1.
    with pytest.raises(UserError, match=r"no capture of seed 2 in .* has a name that begins with `imapb`: record it"):
        open_captures("imapb", None, [2])
    with pytest.raises(UserError, match=r"several captures of seed 1 begin with `imapb`: .*; write more of the name"):
        open_captures("imapb", None, [1])
    (found,) = open_captures("imapb-small-s3", None, [1])
    assert found.path.parent.name == "imapb-small-s3-full-00000003"


def test_captures_that_are_no_seeds_of_one_experiment_are_refused(captures: list[str], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the capture drawn1 is named twice; name each capture once"):
        open_captures(f"{captures[0]},{captures[0]}", None, [])
    with pytest.raises(UserError, match="--seeds selects captures by the beginning of their names, but"):
        open_captures(captures[0], None, [1])

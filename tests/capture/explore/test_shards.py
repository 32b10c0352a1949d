# SPDX-License-Identifier: GPL-2.0-or-later
"""A grid in shards: together the folders of one exploration, no database, one list for all. Explorations of several
captures: means over the captures with intervals."""

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

GRID = ("--vary", "protocol=msi,moesi", "--vary", "l2.size=32KiB..64KiB", "--vary", "latency.memory=100")


def files(lab: Lab) -> dict[str, bytes]:
    return {folder.name: (folder / "stats.json").read_bytes() for folder in lab.runs()}


def test_shards_make_the_folders_of_the_whole_and_no_database(place: Lab, drawn_file: Path, tmp_path: Path) -> None:
    whole = Lab(tmp_path / "checkpoints", tmp_path / "whole" / "results")
    whole.call("explore", str(drawn_file), *GRID)
    for number, there in ((1, 2), (2, 3), (3, 4)):
        said = place.call("explore", str(drawn_file), *GRID, "--shard", f"{number}/3")
        assert len(place.runs()) == there and f"shard {number}/3: {2 if number == 1 else 1} of 4" in said
    assert files(place) == files(whole)
    assert sorted(path.name for path in place.results.iterdir()) == ["runs"]


def test_job_list_counts_complete_runs_and_estimates_core_seconds(place: Lab, drawn_file: Path) -> None:
    place.call("explore", str(drawn_file), *GRID, "--shard", "1/2")
    lines = place.answer("explore", str(drawn_file), *GRID, "--list").splitlines()
    assert lines[0].startswith("shard 1/1: 4 of 4 runs (list ") and lines[0].endswith("), sorted by hash")
    assert lines[-1] == "2 complete, 2 to do, about 10 core seconds (0.5 GiB of memory per run)"
    place.call("explore", str(drawn_file), *GRID, "--shard", "2/2")
    assert place.answer("explore", str(drawn_file), *GRID, "--list").splitlines()[-1] == "4 complete, 0 to do"


def test_job_list_is_sorted_by_hash_and_marks_complete_runs(place: Lab, drawn_file: Path) -> None:
    def listed(*arguments: str) -> dict[str, object]:
        answer: dict[str, object] = json.loads(
            place.answer("explore", str(drawn_file), *GRID, "--list", "--json", *arguments)
        )
        return answer

    before = listed()
    jobs = before["jobs"]
    assert isinstance(jobs, list) and before["of"] == len(jobs) == 4
    assert [job["hash"] for job in jobs] == sorted(job["hash"] for job in jobs)
    assert {job["job"] for job in jobs} >= {"moesi, latency.memory=100", "msi, l2.size=32KiB, latency.memory=100"}
    assert not any(job["whole"] for job in jobs) and not place.results.exists()
    # Another order of the words is the same list; a shard of it is every second one.
    swapped = (*GRID[2:], *GRID[:2])
    assert json.loads(place.answer("explore", str(drawn_file), *swapped, "--list", "--json")) == before
    place.call("explore", str(drawn_file), *GRID, "--shard", "2/2")
    after = listed()["jobs"]
    assert isinstance(after, list) and [job["whole"] for job in after] == [False, True, False, True]
    second = listed("--shard", "2/2")
    assert (second["jobs"], second["list"]) == (after[1::2], before["list"])


def test_shard_beyond_the_designs_has_no_runs(place: Lab, drawn_file: Path) -> None:
    assert "shard 9/9: 0 of 4" in place.call("explore", str(drawn_file), *GRID, "--shard", "9/9")
    assert place.runs() == []


@pytest.mark.parametrize("shard", ["0/3", "4/3", "half"])
def test_explore_with_malformed_shard_is_refused(place: Lab, drawn_file: Path, shard: str) -> None:
    said = place.call("explore", str(drawn_file), *GRID, "--shard", shard, code=2)
    assert said.startswith(f"s80lab: --shard {shard}: ") and len(said.splitlines()) == 1
    assert place.runs() == []


SEVERAL_GRID = ("--vary", "protocol=moesi,msi")


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("captures")
    return [str(write_capture(folder / f"drawn{seed}.s80c", seed, 20_000)) for seed in (1, 2, 3)]


def test_designs_have_means_over_the_captures_with_intervals(place: Lab, captures: list[str]) -> None:
    alone = [json.loads(place.answer("explore", capture, *SEVERAL_GRID, "--json"))["designs"] for capture in captures]
    told = json.loads(place.answer("explore", ",".join(captures), *SEVERAL_GRID, "--json"))
    assert [design["design"] for design in told["designs"]] == ["moesi", "msi"]
    for number, design in enumerate(told["designs"]):
        runs = [one[number] for one in alone]
        assert [run["run"] for run in design["runs"]] == [run["run"] for run in runs]
        expected = estimate([run["metrics"]["l2_mpki.all"] for run in runs])
        found = design["estimates"]["l2_mpki.all"]
        assert expected is not None and expected.half_width is not None and expected.half_width > 0
        assert found == {"mean": expected.mean, "half_width": expected.half_width, "n": 3}


def test_page_of_several_captures_names_them_and_is_not_that_of_one(place: Lab, captures: list[str]) -> None:
    pages = [
        place.answer("explore", name, *SEVERAL_GRID).splitlines()[-1] for name in (captures[0], ",".join(captures[:2]))
    ]
    assert pages[0] != pages[1]
    text = Path(pages[1].removeprefix("report: ")).read_text()
    assert "captures drawn1, drawn2" in text and "±" in text and "compare --replay" in text


def test_list_has_every_capture_with_every_design(place: Lab, captures: list[str]) -> None:
    words = ("explore", ",".join(captures), *SEVERAL_GRID, "--list", "--json")
    assert {job["job"] for job in json.loads(place.answer(*words))["jobs"]} == {
        f"drawn{seed}: {protocol}" for seed in (1, 2, 3) for protocol in ("moesi", "msi")
    }


def test_shards_of_several_captures_are_the_whole(place: Lab, captures: list[str]) -> None:
    for shard in ("1/2", "2/2"):
        place.call("explore", ",".join(captures), *SEVERAL_GRID, "--shard", shard)
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

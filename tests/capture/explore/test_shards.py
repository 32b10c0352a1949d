# SPDX-License-Identifier: GPL-2.0-or-later
"""A grid in shards: together the folders of one exploration, no database, one list for all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.lab import Lab

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


def test_the_list_counts_complete_runs_and_estimates_the_others_in_time_units(place: Lab, drawn_file: Path) -> None:
    place.call("explore", str(drawn_file), *GRID, "--shard", "1/2")
    lines = place.answer("explore", str(drawn_file), *GRID, "--list").splitlines()
    assert lines[0].startswith("shard 1/1: 4 of 4 runs (list ") and lines[0].endswith("), sorted by hash")
    assert lines[-1] == "2 complete, 2 to do, about 10 core seconds (0.5 GiB of memory per run)"
    place.call("explore", str(drawn_file), *GRID, "--shard", "2/2")
    assert place.answer("explore", str(drawn_file), *GRID, "--list").splitlines()[-1] == "4 complete, 0 to do"


def test_the_list_is_sorted_by_hash_and_says_what_is_whole(place: Lab, drawn_file: Path) -> None:
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


def test_a_shard_beyond_the_designs_has_nothing_to_do(place: Lab, drawn_file: Path) -> None:
    assert "shard 9/9: 0 of 4" in place.call("explore", str(drawn_file), *GRID, "--shard", "9/9")
    assert place.runs() == []


@pytest.mark.parametrize("shard", ["0/3", "4/3", "half"])
def test_a_shard_that_is_none_is_refused(place: Lab, drawn_file: Path, shard: str) -> None:
    said = place.call("explore", str(drawn_file), *GRID, "--shard", shard, code=2)
    assert said.startswith(f"s80lab: --shard {shard}: ") and len(said.splitlines()) == 1
    assert place.runs() == []

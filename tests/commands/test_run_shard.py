# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab run --shard` and `--list`: what does not go with them, and the jobs of two mixes. Runs in shards are in
tests/cluster."""

from __future__ import annotations

import json
from itertools import product

import pytest
from tests.lab import Lab


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--shard", "3/2"], "--shard 3/2: there is no shard 3 of 2: write 1/2 to 2/2"),
        (
            ["--shard", "1/2", "--until", "2%"],
            "--shard and --list cannot be combined with --until: omit one of the two options",
        ),
        (["--list", "--engine", "gem5"], "--shard and --list cannot be combined with --engine gem5"),
    ],
)
def test_what_is_no_shard_of_runs(words: list[str], sentence: str, measured: Lab) -> None:
    said = measured.call("run", "imapb", *words, code=2)
    assert sentence in said and len(said.splitlines()) == 1


def test_the_jobs_are_each_mix_and_seed_in_the_order_of_their_hashes(lab: Lab) -> None:
    words = ("run", "imapb", "imape", "--scale", "tiny", "--seeds", "8,9", "--list", "--json")
    told = json.loads(lab.answer(*words))
    assert {job["job"] for job in told["jobs"]} == {
        f"{mix} at tiny, seed {seed}" for mix, seed in product(("imapb", "imape"), (8, 9))
    }
    hashes = [job["hash"] for job in told["jobs"]]
    assert hashes == sorted(hashes) and told["of"] == 4 and not any(job["whole"] for job in told["jobs"])
    assert 4 * 60 < told["core_seconds"] < 4 * 300 and told["memory_bytes"] > 2 << 30
    halves = [json.loads(lab.answer(*words, "--shard", f"{number}/2")) for number in (1, 2)]
    assert [half["jobs"] for half in halves] == [told["jobs"][0::2], told["jobs"][1::2]]
    assert {half["list"] for half in halves} == {told["list"]}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of `s80lab run`. --until: seeds are added until the shares are known well enough, or are as many as allowed.
--shard and --list: what does not go with them, and the jobs of two mixes. Runs in shards are in tests/cluster."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import typer
from rich.console import Console
from tests.lab import Lab

from s80lab.analysis.groups import Group, Run
from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.commands import pipeline, run_tables
from s80lab.commands import run as run_commands
from s80lab.experiment import stages
from s80lab.experiment.plan import Options, Plan
from s80lab.experiment.precision import SHARES, Wanted, missing_seeds, parse_wanted, reached, statement
from s80lab.results import run_folder
from s80lab.results.run_folder import RunFolder


def run(seed: int, memory: float, e: float = 0.5, reason: str = "") -> Run:
    metrics = {SHARES["memory"]: memory, SHARES["e"]: e}
    standing = {"verdict": "invalid" if reason else "valid", "reasons": [reason] if reason else []}
    manifest = {"run": f"s{seed}", "engine": "qemu", "inputs": {"ready": "b1"}, "seed": seed}
    return Run(manifest, {"metrics": metrics, "standing": standing}, None)


def group(*memory: float, reason: str = "", excluded: int = 0) -> Group:
    runs = tuple(run(seed, value, reason=reason) for seed, value in enumerate(memory, 1))
    return Group("mix", runs, tuple(run(90 + n, 0.1, reason="too short") for n in range(excluded)))


WANTED = Wanted(0.02, ("memory",), 10)


def test_until_and_of_options_are_parsed() -> None:
    assert parse_wanted("2%", "memory,e-to-m", 6) == Wanted(0.02, ("memory", "e-to-m"), 6)
    assert parse_wanted("0.5%", "memory,memory", 6).names == ("memory",)


@pytest.mark.parametrize("until", ["2", "0%", "-1%", "100%", "two%", "nan%", ""])
def test_until_rejects_malformed_width(until: str) -> None:
    with pytest.raises(UserError, match=f"--until {until}: write a half-width in percentage points, for example 2%"):
        parse_wanted(until, "memory", 6)


def test_until_rejects_unknown_share() -> None:
    with pytest.raises(
        UserError, match=r"--of memory,mem: there is no share `mem`: did you mean memory\? \(allowed are"
    ):
        parse_wanted("2%", "memory,mem", 6)


def test_narrow_enough_is_enough() -> None:
    assert reached(group(0.60, 0.61, 0.60), WANTED)
    assert missing_seeds(group(0.60, 0.61, 0.60), WANTED) == 0


def test_until_estimates_missing_seeds_from_the_interval() -> None:
    assert missing_seeds(group(0.60), WANTED) == 1
    wide = group(0.58, 0.60, 0.62)
    assert not reached(wide, WANTED)
    # A standard deviation of two points: t(6) x 2 / sqrt(7) is below two points, t(5) x 2 / sqrt(6) is not.
    assert missing_seeds(wide, WANTED) == 4
    assert missing_seeds(wide, Wanted(0.02, ("memory",), 5)) == 2
    assert missing_seeds(wide, Wanted(0.02, ("memory",), 3)) == 0


def test_until_with_two_shares_follows_the_wider_interval() -> None:
    both = Wanted(0.02, ("memory", "e"), 10)
    steady = Group("mix", tuple(run(seed, 0.6, e) for seed, e in enumerate((0.48, 0.50, 0.52), 1)))
    assert missing_seeds(steady, WANTED) == 0
    assert missing_seeds(steady, both) == 4


def test_invalid_runs_do_not_count_and_are_not_repeated() -> None:
    assert not reached(group(0.6, 0.6, 0.6, reason="not steady"), WANTED)
    assert missing_seeds(group(0.6, 0.6, 0.6, reason="not steady"), WANTED) == 0
    assert missing_seeds(group(0.58, 0.60, 0.62, excluded=5), WANTED) == 2  # eight of ten have run


def test_until_statement_tells_if_the_width_was_reached() -> None:
    assert statement(group(0.60, 0.61, 0.60), WANTED) == "mix: memory 60.3 ± 1.4% with 3 seeds: within 2 points"
    assert statement(group(0.6), WANTED) == "mix: memory 60.0% with 1 seed: not within 2 points"


Pipeline = Callable[[list[Plan]], None]


class Laboratory:
    """Stands for the guests: each seed's memory share is drawn with a standard deviation of two points."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rounds: list[list[int]] = []
        monkeypatch.setattr(run_commands, "make_plans", lambda names, options: self.plans(options.seeds))
        monkeypatch.setattr(run_commands, "run_pipeline", self.run)
        monkeypatch.setattr(run_commands, "group_runs", lambda runs: [self.group(runs)])

    def plans(self, seeds: Any) -> list[Plan]:
        return [cast(Plan, SimpleNamespace(name="mix", seed=seed)) for seed in seeds]

    def run(self, plans: list[Plan], *_: object) -> list[Run]:
        self.rounds.append([plan.seed for plan in plans])
        return [run(plan.seed, random.Random(plan.seed).gauss(0.6, 0.02)) for plan in plans]

    def group(self, runs: list[Run]) -> Group:
        return Group("mix", tuple(runs))

    def until(self, wanted: Wanted) -> list[Run]:
        return run_commands.run_until(self.plans([1, 2, 3]), Options(), wanted, 2, False, "nothing", print)


def test_seeds_are_added_in_rounds_that_keep_the_cores_busy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = Laboratory(monkeypatch)
    runs = lab.until(Wanted(0.02, ("memory",), 30))
    assert reached(lab.group(runs), Wanted(0.02, ("memory",), 30))
    assert lab.rounds[0] == [1, 2, 3]
    assert all(len(seeds) <= 2 for seeds in lab.rounds[1:])
    assert [run.seed for run in runs] == list(range(1, len(runs) + 1))
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(lab.rounds)
    assert "not within 2 points" in said[0] and said[-1].endswith(": within 2 points")


def test_until_stops_at_the_seed_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Laboratory(monkeypatch)
    assert len(lab.until(Wanted(0.001, ("memory",), 6))) == 6


def test_statistics_of_a_new_run_are_read_once(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the database over the progress line, the pages and the tables to the exit code."""
    monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path / "results"))
    opened: list[str] = []
    read = run_folder._read

    def noted(path: Path, keys: Sequence[str], *schemas: Any) -> dict[str, Any]:
        opened.append(path.name)
        return read(path, keys, *schemas)

    monkeypatch.setattr(run_folder, "_read", noted)

    def work(_: object) -> list[RunFolder]:
        pipeline = stages.Pipeline(Board(Console(quiet=True)))
        new = RunFolder(runs / "imapb-1")
        pipeline._to_database(new)
        assert stages._short_of_a_result(new).startswith(", invalid: ")
        return [new]

    monkeypatch.setattr(pipeline, "on_board", work)
    made = pipeline.run_pipeline([], 1, False, "run")
    run_tables.show_runs(made, as_json=False, everything=True)
    with pytest.raises(typer.Exit):
        run_tables.end_invalid(made)
    assert (runs / "imapb-1" / "report.html").is_file()
    assert opened.count("stats.json") == 1


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
def test_run_with_unsuitable_shard_options_is_refused(words: list[str], sentence: str, measured: Lab) -> None:
    said = measured.call("run", "imapb", *words, code=2)
    assert sentence in said and len(said.splitlines()) == 1


def test_listed_jobs_are_in_hash_order_and_split_into_shards(lab: Lab) -> None:
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

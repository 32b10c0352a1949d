# SPDX-License-Identifier: GPL-2.0-or-later
"""What becomes of a simulation that has ended: run folder, database, report. The simulation is a recorded one."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from contextlib import nullcontext
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console
from tests.gem5.recorded import recording
from tests.gem5.test_plan import plans
from tests.lab import Lab

from s80lab.analysis.groups import read_groups, read_run
from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.experiment import checkpoint, resources
from s80lab.experiment.checkpoint import GEM5_RAM, GEM5_STATE, Checkpoint
from s80lab.experiment.plan import Options
from s80lab.gem5.plan import Gem5Plan
from s80lab.gem5.stages import OUT, Gem5Pipeline, finish
from s80lab.report.terminal import print_groups
from s80lab.report.write import write_run_report
from s80lab.results.database import insert_run
from s80lab.results.run_folder import RunFolder, renewed

RECORDED = recording("runs") / "mail-restored"
LENGTHS = {"warmup": 1_000_000, "measure": 2_000_000, "sampling_interval": 1_000_000}


def ended(plan: Gem5Plan, folder: Path, items: dict[str, int] | None = None, **lengths: int) -> None:
    """The recorded simulation, as if it had been one of this plan with these lengths."""
    (folder / OUT).mkdir(parents=True)
    shutil.copyfile(RECORDED / "stats.txt", folder / OUT / "stats.txt")
    facts: dict[str, Any] = renewed(json.loads((RECORDED / "facts.json").read_text()))
    facts["sampling_intervals"][-1]["transactions"] = items or {}
    (folder / OUT / "facts.json").write_text(json.dumps(facts))
    plan = replace(plan, phases=plan.phases.model_copy(update={**LENGTHS, **lengths}))
    warm = cast(Checkpoint, SimpleNamespace(manifest=SimpleNamespace(name="gem5-warm-x", files={})))
    finish(plan, warm, folder.name, plan.keys.run_inputs("x"), {"seconds": 20.0, **facts}, folder, 25.0)


@pytest.fixture
def plan(lab: Lab, tmp_path: Path) -> Gem5Plan:
    return plans(tmp_path, Options(machine="s80-sixteenth"))[0]


def test_gem5_run_is_in_the_database_and_has_a_report(plan: Gem5Plan, tmp_path: Path) -> None:
    own = Lab(tmp_path / "checkpoints", tmp_path / "results")
    folder = own.results / "runs" / "gem5-imapb-s80-sixteenth-s1-x"
    ended(plan, folder, {"7": 3, "20": 1})
    insert_run(own.results / "s80lab.sqlite", RunFolder(folder))
    sources = "SELECT source, sum(misses) AS misses FROM v_miss_source_all WHERE kind = 'read' GROUP BY source"
    read = {row["source"]: row["misses"] for row in json.loads(own.call("query", "--format", "json", sources))}
    assert read["memory"] > read["O"] > read["E"] > read["M"] > read["S"] == 0
    (state,) = json.loads(own.call("query", "--format", "json", "SELECT e_share, e_to_m_share FROM v_e_state_all"))
    assert 0.2 < state["e_share"] < 0.5 and 0.1 < state["e_to_m_share"] < 0.3
    said = StringIO()
    print_groups(read_groups([folder]), Console(file=said, width=400))
    for words in ("load or instruction fetch", "not reached", "State E stands for Ruby's state M"):
        assert words in said.getvalue()
    # Its lengths are not those of the experiment's file: it is not to be mixed with runs that have them.
    refusal = own.call("report", "imapb", "--engine", "gem5", "--machine", "s80-sixteenth", code=2)
    assert "(1 run with other designs, scales or lengths left out)" in refusal
    page = write_run_report(read_run(RunFolder(folder))).read_text()
    assert "engine gem5, scale sixteenth" in page and "not reached" in page


@pytest.mark.parametrize(
    ("items", "lengths", "refusal"),
    [
        ({}, {"measure": 3_000_000}, r"gem5 ended after \d+ of the 3000000 instructions"),
        ({"7": 3}, {"transactions": 4}, r"only 3 of 4 transactions ended within \d+ instructions; lower"),
    ],
)
def test_gem5_region_that_is_too_short_is_refused(
    plan: Gem5Plan, tmp_path: Path, items: dict[str, int], lengths: dict[str, int], refusal: str
) -> None:
    with pytest.raises(UserError, match=refusal):
        ended(plan, tmp_path / "run", items, **lengths)
    assert not (tmp_path / "run" / "manifest.json").exists()


def test_gem5_region_measured_by_transactions_may_be_shorter(plan: Gem5Plan, tmp_path: Path) -> None:
    ended(plan, tmp_path / "run", {"7": 4}, transactions=4, measure=900_000_000)
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["status"] == "whole"


def recorded(plan: Gem5Plan, folder: Path, **lengths: int) -> Gem5Plan:
    """A plan whose gem5 is a stand-in that leaves the recorded files, and says in `begun` that it was started."""
    gem5 = folder / "recorded.fast"
    gem5.write_text(
        f"#!/bin/sh\necho >> {folder}/begun\ncp {RECORDED}/stats.txt $2/\n"
        f"cp {RECORDED}/facts.json $2/\ntouch $2/config.ini $2/config.json $2/more.txt\n"
    )
    gem5.chmod(0o755)
    return replace(plan, gem5=gem5, phases=plan.phases.model_copy(update=LENGTHS | lengths))


def warm(folder: Path) -> Checkpoint:
    manifest = SimpleNamespace(name="gem5-warm-x", content="x", files={})
    return cast(Checkpoint, SimpleNamespace(folder=folder, manifest=manifest))


def test_two_processes_at_one_run_simulate_it_once(
    plan: Gem5Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path / "results"))
    asked = recorded(plan, tmp_path)

    async def both() -> list[Path]:
        with Board(Console(quiet=True)) as board:
            pipelines = [Gem5Pipeline(board, again=again) for again in (False, True)]
            return await asyncio.gather(*(one._measure(asked, warm(tmp_path)) for one in pipelines))

    one, other = asyncio.run(both())
    assert one == other and (one / "manifest.json").is_file()
    kept = {path.name for path in (one / OUT).iterdir()}
    assert kept == {"config.ini", "config.json", "facts.json", "stats.txt"}
    assert (tmp_path / "begun").read_text() == "\n"


def keep_warm(plan: Gem5Plan) -> None:
    """The warm checkpoint of this plan in the store, the only one that a run needs. The stand-in reads none of it."""

    async def make(folder: Path) -> dict[str, object]:
        for name in (GEM5_STATE, GEM5_RAM):
            (folder / name).write_bytes(b"x")
        return {"engine": "gem5", "gem5_version": "24.0.0.1"}

    board = Board(Console(quiet=True))
    asyncio.run(checkpoint.build(plan.keys.wanted("warm"), board.job("warm"), make, nullcontext()))


def test_number_of_finished_gem5_runs_is_printed_with_the_time_left(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path / "checkpoints"))
    monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(resources, "require", lambda needed, folder: None)
    options = Options(machine="s80-sixteenth", seeds=[1, 2, 3])
    asked = [recorded(plan, tmp_path) for plan in plans(tmp_path, options)]
    for plan in asked:
        keep_warm(plan)

    def go(chosen: list[Gem5Plan]) -> tuple[list[Path], str]:
        said = StringIO()
        with Board(Console(file=said)) as board:
            return asyncio.run(Gem5Pipeline(board, jobs=1).go(chosen)), said.getvalue()

    (first,), _ = go(asked[:1])
    folders, said = go(asked)
    assert folders[0] == first and len(set(folders)) == 3
    assert f"{first.name}: this run exists already\n" in said
    printed = [line.split("] ")[1] for line in said.splitlines() if " of 2 runs" in line]
    assert printed[0] == "0 of 2 runs, about 40 s left"
    assert [re.sub("about .* left", "", line) for line in printed] == ["0 of 2 runs, ", "1 of 2 runs, "]
    assert (tmp_path / "begun").read_text() == "\n" * 3


def test_output_of_refused_gem5_run_is_kept(plan: Gem5Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is a stand-in that leaves the recorded files; hours of a real one are not thrown away."""
    monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path / "results"))
    asked = recorded(plan, tmp_path, measure=9_000_000)

    async def measure() -> Path:
        with Board(Console(quiet=True)) as board:
            return await Gem5Pipeline(board)._measure(asked, warm(tmp_path))

    with pytest.raises(UserError, match=r"repeat the run \(gem5's output is kept in (.*)\)") as refusal:
        asyncio.run(measure())
    (kept,) = (tmp_path / "results" / "refused").iterdir()
    assert str(kept) in str(refusal.value)
    assert (kept / OUT / "stats.txt").stat().st_size > 100_000
    assert [path for path in (tmp_path / "results" / "runs").glob("*gem5*") if path.is_dir()] == []

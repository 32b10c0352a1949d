# SPDX-License-Identifier: GPL-2.0-or-later
"""The log of misses and the profile on the real guest: they change no statistic and count what the statistics count."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from tests.lab import Lab

from s80lab.analysis.misses.log import Log, read_log
from s80lab.base.progress import Board
from s80lab.commands.pipeline import make_plans, on_board
from s80lab.experiment import checkpoint
from s80lab.experiment.plan import Options
from s80lab.experiment.run import live
from s80lab.results.run_folder import MISS_LOG, PROFILE
from s80lab.results.snapshots import Delta, Snapshots

pytestmark = pytest.mark.guest

MEASURE, INTERVAL = 60_000_000, 20_000_000


@dataclass(frozen=True)
class Logged:
    """A region, and the same region of a run that wrote no log."""

    folder: Path
    plain: Path
    profiled: Path

    @property
    def region(self) -> Delta:
        return Snapshots.read(self.folder / "snapshots.jsonl").region()

    @property
    def log(self) -> Log:
        return read_log(self.folder / MISS_LOG)


@pytest.fixture(scope="module")
def logged(whole: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Logged]:
    with whole.entered():
        (plan,) = make_plans(["imapb"], Options(scale="tiny", seeds=[1]))
        warm = checkpoint.find(plan.keys.warm.name, plan.keys.warm.key)
        assert warm is not None
        phases = plan.phases.model_copy(update={"measure": MEASURE, "sampling_interval": INTERVAL})
        plan = replace(plan, phases=phases)
        folders = [tmp_path_factory.mktemp(name) for name in ("logged", "plain", "profiled")]

        async def run(board: Board) -> None:
            extras = ({"misses": folders[0] / MISS_LOG}, None, {"profile": folders[2] / PROFILE})
            for folder, extra in zip(folders, extras, strict=True):
                await live(plan, warm, folder, board.job("a short region"), extra)

        on_board(run)
        yield Logged(*folders)


def test_miss_log_and_profile_change_no_statistic(logged: Logged) -> None:
    """But for the line that is written when the host ends QEMU, some time after the region."""
    logged_lines, plain_lines, profiled_lines = (
        [line for line in (folder / "snapshots.jsonl").read_text().splitlines() if '"mark":"exit"' not in line]
        for folder in (logged.folder, logged.plain, logged.profiled)
    )
    assert len(logged_lines) > 3 and logged_lines == plain_lines == profiled_lines
    for folder in (logged.folder, logged.profiled):
        assert (folder / "transactions.json").read_bytes() == (logged.plain / "transactions.json").read_bytes()


def test_profile_samples_all_instructions_evenly(logged: Logged) -> None:
    profile = json.loads((logged.profiled / PROFILE).read_text())
    region = Snapshots.read(logged.profiled / "snapshots.jsonl").region()
    sampled = sum(count for *_, count in profile["samples"])
    assert sampled * profile["period"] == pytest.approx(region.instructions, rel=0.01)
    classes, entries = (region.header.labels[name] for name in ("class", "entry"))
    assert profile["labels"] == {"class": list(classes), "entry": list(entries)}
    branches = region.total("instruction_class", instruction="branch_conditional")
    followed = sum(sum(ways.values()) for ways in profile["branches"].values())
    assert followed * 101 == pytest.approx(branches, rel=0.05)
    assert all(min(ways.values()) > 0.1 * sum(ways.values()) for ways in profile["branches"].values())
    by_context = [0] * (len(classes) * len(entries))
    for _, _, context, count in profile["samples"]:
        by_context[context] += count
    counted = region.by("entry_instructions", "class", "entry").reshape(-1) / region.instructions
    assert [count / sampled for count in by_context] == pytest.approx(counted.tolist(), abs=0.02)
    of_sessions = classes.index("session") * len(entries)
    names = {profile["whos"][who][1] for _, who, context, _ in profile["samples"] if context == of_sessions}
    assert "imap" in names and names <= {"imap", "imap-login"}


def test_misses_and_upgrades_are_all_logged(logged: Logged) -> None:
    region, log = logged.region, logged.log
    assert int(log.misses.sum()) == region.total("l2_misses")
    assert int((~log.misses).sum()) == region.total("upgrades")
    sources = region.header.labels["source"]
    counted = np.bincount(log.records["source"][log.misses], minlength=len(sources))
    assert counted.tolist() == region.by("miss_source", "source").tolist()
    assert log.records["core"][~log.misses].size and int(log.records["core"].max()) < region.header.cores
    by_core = np.bincount(log.records["core"][log.misses], minlength=region.header.cores)
    assert by_core.tolist() == region.by("l2_misses", "core").tolist()
    entries = len(region.header.labels["entry"])
    by_entry = np.bincount(log.records["context"][log.misses] % entries, minlength=entries)
    assert by_entry.tolist() == region.by("entry_miss_source", "entry").tolist()


def test_miss_log_records_name_task_and_code(logged: Logged) -> None:
    log = logged.log
    names = {log.whos[who].comm for who in np.unique(log.records["who"]).tolist()}
    assert {"imap", "s80-loadgen"} <= names
    kernel = np.isin(log.records["context"] % len(log.labels["entry"]), [0], invert=True)
    assert (log.records["pc"] != 0).all()
    assert ((log.records["pc"] >> np.uint64(63) == 1) == kernel).mean() > 0.999
    calls = np.array([who.system_call for who in log.whos])[log.records["who"]]
    in_call = log.records["context"] % len(log.labels["entry"]) == log.labels["entry"].index("system_call")
    assert (calls[in_call] >= 0).all() and (calls[~in_call] < 0).mean() > 0.999
    assert {0, 1} <= set(calls[in_call].tolist())  # read, write


def test_coherence_misses_come_from_others(logged: Logged) -> None:
    log = logged.log
    coherence = log.misses & (log.named("reason") == "coherence")
    assert coherence.any() and log.shared("true").any() and log.shared("false").any()
    assert (log.shared("true") | log.shared("false") == coherence).all()
    assert (log.records["supplier"][log.by_cache] != log.records["core"][log.by_cache]).all()
    assert (log.records["supplier"][log.by_memory] == 255).all()
    asked = log.records[log.shared("true")]
    assert ((asked["reads"] | asked["writes"]) & asked["foreign"] != 0).all()
    assert (np.diff(log.records["time_ns"].astype(np.int64)) > -1_000_000).all()

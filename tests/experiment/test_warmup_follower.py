# SPDX-License-Identifier: GPL-2.0-or-later
"""Sampling intervals are taken in while the plugin writes the next one."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.config.experiment import Phases
from s80lab.experiment.warm import WarmupFollower
from s80lab.results.metrics.derive import warm_up
from s80lab.results.snapshots import Snapshots


def test_incomplete_warm_up_line_is_read_when_complete(run_dir: Path, tmp_path: Path) -> None:
    lines = (run_dir.parent / f"warm-{run_dir.name}.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "snapshots.jsonl"
    follower = WarmupFollower(
        path, Phases(warmup_min=9000, warmup_max=30_000, sampling_interval=1000, measure=1), clients=40
    )
    assert not follower.read(), "no file yet"
    path.write_bytes(lines[0])
    assert not follower.read(), "the header alone"

    taken = []
    for whole in range(2, len(lines)):
        half = lines[whole][: len(lines[whole]) // 2]
        path.write_bytes(b"".join(lines[:whole]) + half)
        assert follower.read()
        assert not follower.read(), "the same intervals"
        taken.append(follower.instructions)
    assert taken == list(range(0, 30_000, 3000))
    path.write_bytes(b"".join(lines))
    assert follower.read()
    assert follower.instructions == 30_000


def test_bar_of_a_warm_up_never_moves_back(run_dir: Path, tmp_path: Path) -> None:
    lines = (run_dir.parent / f"warm-{run_dir.name}.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "snapshots.jsonl"
    follower = WarmupFollower(
        path, Phases(warmup_min=9000, warmup_max=40_000, sampling_interval=1000, measure=1), clients=40
    )
    board = Board(Console(file=io.StringIO(), width=80, height=24, force_terminal=True))
    job, shares = board.job("imapb seed 1"), []
    for count in range(2, len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]))
        follower.read()
        follower.show(job)
        shares.append(int(board.lines(80, 24)[0][12:].split("%")[0]))
    assert shares == sorted(shares) and shares[-1] < 100
    assert "shares moved" in board.lines(80, 24)[0]


def test_incomplete_last_line_of_finished_file_is_refused(run_dir: Path) -> None:
    path = run_dir / "snapshots.jsonl"
    whole = Snapshots.read(path)
    path.write_bytes(path.read_bytes()[:-9])
    assert len(Snapshots.read(path, growing=True).lines) == len(whole.lines) - 1
    with pytest.raises(UserError, match="the line is incomplete"):
        Snapshots.read(path)


def test_warm_up_near_its_limit_goes_on(run_dir: Path, tmp_path: Path) -> None:
    """A limit that the last intervals just keep is not enough, because the intervals behind them are judged, too."""
    path = tmp_path / "snapshots.jsonl"
    path.write_bytes((run_dir.parent / f"warm-{run_dir.name}.jsonl").read_bytes())
    found = warm_up(path, 40, 100.0)
    least = max(
        *(abs(one) for one in found.drift_points.values() if one),
        *(2 * one for one in found.error_points.values() if one),
    )

    def ended(limit: float) -> bool:
        phases = Phases(warmup_min=9000, warmup_max=40_000, sampling_interval=1000, measure=1, drift_points=limit)
        follower = WarmupFollower(path, phases, clients=40)
        follower.read()
        return follower.ended() is not None

    assert warm_up(path, 40, 1.01 * least).verdict == "steady"
    assert not ended(1.01 * least)
    assert ended(1.2 * least)

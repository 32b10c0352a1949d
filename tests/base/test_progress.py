# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress where there is no terminal: few lines, and none twice."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from s80lab.base.progress import Board, clock


def said(console: Console) -> list[str]:
    assert isinstance(console.file, io.StringIO)
    return [line.split("] ", 1)[1] for line in console.file.getvalue().splitlines()]


def test_a_line_for_a_new_stage_and_then_one_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    console = Console(file=io.StringIO())
    with Board(console) as board:
        job = board.job("warm-a")
        for second in range(21):
            now = float(second)
            job.update("warm-up", done=second, total=40, mips=100)
        job.update("hashing")
        now = 60.0
        job.update("hashing")
        job.done("warm")
    assert said(console) == [
        "warm-a: warm-up 0% (100 MIPS)",
        "warm-a: warm-up 25% (100 MIPS, 0:30 left)",
        "warm-a: warm-up 50% (100 MIPS, 0:20 left)",
        "warm-a: hashing",
        "warm-a: warm",
    ]


def test_clock() -> None:
    assert [clock(seconds) for seconds in (0, 59.6, 3600)] == ["0:00", "1:00", "60:00"]

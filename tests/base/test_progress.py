# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress lines on a terminal of 80 columns and in a log, at times that each test sets."""

from __future__ import annotations

import ast
import io

import pytest
from rich.console import Console

from s80lab.base import paths
from s80lab.base.progress import WAITING, Board, Tally, about, clock, shorten


class At:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def at() -> At:
    return At()


@pytest.fixture
def log(at: At) -> Board:
    """A board without a terminal."""
    return Board(Console(file=io.StringIO(), width=80), at)


@pytest.fixture
def terminal(at: At) -> Board:
    return Board(Console(file=io.StringIO(), width=80, height=24, force_terminal=True), at)


def printed(board: Board) -> list[str]:
    assert isinstance(board.console.file, io.StringIO)
    return board.console.file.getvalue().splitlines()


def test_log_of_a_stage_has_a_line_at_its_begin_and_one_every_30_s(log: Board, at: At) -> None:
    job = log.job("imapb seed 1")
    for second in range(0, 71, 10):
        at.seconds = second
        job.update("warm-up", done=second, total=100, mips=52, details=[f"{second / 10:.1f} G"])
    job.update("hashing")
    job.done("warm after 7.0 G instructions")
    assert printed(log) == [
        "[0:00] imapb seed 1, warm-up: 0%, 0.0 G, 52 MIPS",
        "[0:30] imapb seed 1, warm-up: 30%, 1:10 left, 3.0 G, 52 MIPS",
        "[1:00] imapb seed 1, warm-up: 60%, 0:40 left, 6.0 G, 52 MIPS",
        "[1:10] imapb seed 1, hashing",
        "[1:10] imapb seed 1: warm after 7.0 G instructions",
    ]


def test_log_of_a_stage_without_updates_has_a_line_every_30_s(log: Board, at: At) -> None:
    log.job("scale paper").update("hashing")
    for second in range(62):
        at.seconds = second
        log.log()
    assert printed(log) == [
        "[0:00] scale paper, hashing",
        "[0:30] scale paper, hashing: 0:30 so far",
        "[1:00] scale paper, hashing: 1:00 so far",
    ]


def test_log_of_a_job_that_waits_for_its_first_stage_is_empty(log: Board, at: At) -> None:
    log.job("imapb seed 1")
    at.seconds = 60
    log.log()
    assert printed(log) == []


def test_terminal_line_begins_with_bar_and_time_and_fits_into_80_columns(terminal: Board, at: At) -> None:
    job = terminal.job("imapb seed 1")
    job.update("warm-up", total=100)
    at.seconds = 40
    job.update("warm-up", 58, 100, 102, details=["4.0 G", "drift +7.9 points", "standard error 6.0"])
    (line,) = terminal.lines(80, 24)
    assert line == "[######....]  58%    0:29 left  imapb seed 1, warm-up, 4.0 G, drift +7.9 points"
    assert len(line) <= 80


def test_terminal_line_shortens_a_long_name_in_its_middle_and_keeps_the_stage(terminal: Board) -> None:
    job = terminal.job("imapb at l2.size 512KiB, l2.ways 16, protocol moesi, seed 3")
    job.update("measuring", 1, 4, left_s=75)
    (line,) = terminal.lines(80, 24)
    assert line == "[##........]  25%    1:15 left  imapb at l2.size ...col moesi, seed 3, measuring"
    assert len(line) == 80


def test_terminal_line_with_a_long_stage_keeps_bar_and_time(terminal: Board) -> None:
    terminal.job("imapb at l2.size 512KiB, seed 3").update("comparing the files of the checkpoint with their hashes")
    (line,) = terminal.lines(80, 24)
    assert line == "[..........]       0:00 so far  imapb ...eed 3, compari...oint with their hashes"
    assert len(line) <= 80


def test_terminal_line_of_a_stage_with_a_limit_says_up_to(terminal: Board, at: At) -> None:
    job = terminal.job("imapb seed 1")
    job.update("warm-up", 0, 400, at_most=True)
    at.seconds = 10
    job.update("warm-up", 100, 400, details=["shares moved 10.2 points", "100 M instructions"], at_most=True)
    (line,) = terminal.lines(80, 24)
    assert line == "[##........]  25%   up to 0:30  imapb seed 1, warm-up, shares moved 10.2 points"


def test_terminal_remark_is_broken_at_a_blank(terminal: Board) -> None:
    words = "warm-imapb-tiny-s1-05ac4d9e is complete (no steady state after 400 M instructions, 24 MIPS)"
    terminal.job("imapb seed 1").done(words)
    assert printed(terminal) == [
        "[0:00] imapb seed 1: warm-imapb-tiny-s1-05ac4d9e is complete (no steady state",
        "       after 400 M instructions, 24 MIPS)",
    ]


def test_stage_texts_fit_beside_a_name_at_80_columns() -> None:
    texts = [
        call.args[0].value
        for file in paths.PACKAGE.rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "update"
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    ]
    assert "checking the checkpoint's files" in texts
    for text in [*texts, WAITING]:
        board = Board(Console(file=io.StringIO(), width=80, height=24, force_terminal=True))
        board.job("imapb seed 12").update(text)
        assert board.lines(80, 24)[0].endswith(f"imapb seed 12, {text}")


def test_terminal_line_without_known_length_shows_the_time_since_the_stage_began(terminal: Board, at: At) -> None:
    job = terminal.job("scale small")
    job.update("boot: kernel")
    at.seconds = 25
    job.update("boot: kernel")
    assert terminal.lines(80, 24) == ["[..........]       0:25 so far  scale small, boot: kernel"]


def test_terminal_line_of_a_boot_with_a_recorded_duration_shows_how_far_it_is(terminal: Board, at: At) -> None:
    job = terminal.job("scale small")
    job.update("boot: kernel", 25, 40, details=["0:25 of about 0:40"], left_s=15)
    assert terminal.lines(80, 24) == ["[######....]  62%    0:15 left  scale small, boot: kernel, 0:25 of about 0:40"]


def test_terminal_ends_with_the_line_about_the_whole_command(terminal: Board, at: At) -> None:
    tally = Tally(terminal, "runs", [240.0] * 6, at_once=2)
    assert terminal.lines(80, 24) == ["0 of 6 runs, about 12 min left"]
    with tally.piece(240.0):
        terminal.job("imapb seed 1").update("hashing")
        at.seconds = 120
        assert terminal.lines(80, 24) == [
            "[..........]       2:00 so far  imapb seed 1, hashing",
            "0 of 6 runs, about 11 min left",
        ]
        at.seconds = 480
    assert terminal.lines(80, 24)[-1] == "1 of 6 runs, about 20 min left"


def test_time_left_includes_the_boot_before_a_run(terminal: Board, at: At) -> None:
    tally = Tally(terminal, "runs", [60.0], first={"ready-tiny": 80.0})
    assert tally.line() == "0 of 1 runs, about 2 min left"
    with tally.before("ready-tiny"):
        at.seconds = 60
        assert tally.line() == "0 of 1 runs, about 80 s left"
        at.seconds = 100
        assert tally.line() == "0 of 1 runs, about 60 s left"
    with tally.piece(60.0):
        at.seconds = 120
        assert tally.line() == "0 of 1 runs, about 40 s left"


def test_time_left_excludes_a_boot_that_was_made_before(terminal: Board) -> None:
    tally = Tally(terminal, "runs", [60.0], first={"ready-tiny": 80.0})
    tally.drop("ready-tiny")
    assert tally.line() == "0 of 1 runs, about 60 s left"


def test_terminal_with_more_jobs_than_lines_counts_the_hidden_ones(terminal: Board) -> None:
    Tally(terminal, "runs", [60.0] * 9, at_once=9)
    for seed in range(1, 10):
        terminal.job(f"imapb seed {seed}").update("hashing")
    lines = terminal.lines(80, 5)
    assert [line.rpartition("  ")[2] for line in lines] == [
        "imapb seed 1, hashing",
        "imapb seed 2, hashing",
        "imapb seed 3, hashing",
        "... 6 more",
        "0 of 9 runs, about 60 s left",
    ]


def test_terminal_shows_the_live_lines_and_removes_them_at_the_end(terminal: Board) -> None:
    with terminal:
        terminal.job("imapb seed 1").update("hashing")
        terminal._display.refresh()
        assert "[..........]       0:00 so far  imapb seed 1, hashing" in "\n".join(printed(terminal))
    assert printed(terminal)[-1].endswith("\x1b[2K")


def test_log_has_a_line_about_the_whole_command_at_its_begin_and_after_each_piece(log: Board, at: At) -> None:
    tally = Tally(log, "runs", [100.0, 100.0, 100.0])
    for end in (200, 400, 600):
        with tally.piece(100.0):
            at.seconds = end
    assert printed(log) == [
        "[0:00] 0 of 3 runs, about 5 min left",
        "[3:20] 1 of 3 runs, about 7 min left",
        "[6:40] 2 of 3 runs, about 3 min left",
    ]


def test_tally_without_expected_seconds_estimates_after_the_first_piece(log: Board, at: At) -> None:
    tally = Tally(log, "runs", [1.0, 1.0], expected=False)
    with tally.piece(1.0):
        at.seconds = 3600
    assert printed(log) == ["[0:00] 0 of 2 runs", "[60:00] 1 of 2 runs, about 60 min left"]


def test_tally_does_not_count_a_piece_that_failed(log: Board) -> None:
    tally = Tally(log, "runs", [100.0, 100.0])
    with pytest.raises(ValueError, match="broken"), tally.piece(100.0):
        raise ValueError("broken")
    assert tally.line() == "0 of 2 runs, about 2 min left"


def test_clock_shows_minutes_and_seconds() -> None:
    assert [clock(seconds) for seconds in (0, 59.6, 3600)] == ["0:00", "1:00", "60:00"]


def test_about_rounds_the_time_by_its_size() -> None:
    assert [about(seconds) for seconds in (3, 44, 90, 840, 9000)] == [
        "about 10 s",
        "about 40 s",
        "about 2 min",
        "about 14 min",
        "about 2.5 h",
    ]


def test_shorten_replaces_the_middle_of_a_long_name() -> None:
    assert [shorten("imapb seed 12", width) for width in (13, 12, 7, 3)] == [
        "imapb seed 12",
        "imapb...d 12",
        "im...12",
        "ima",
    ]

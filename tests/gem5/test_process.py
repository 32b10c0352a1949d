# SPDX-License-Identifier: GPL-2.0-or-later
"""A simulation that goes wrong becomes one sentence. The processes are stand-ins: how a gem5 fails is its own affair,
what is made of it is ours."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.gem5 import process
from s80lab.gem5.process import CONSOLE, Guest, Pace, simulate
from s80lab.gem5.table import TICKS_PER_S


def run(tmp_path: Path, script: str) -> dict[str, object]:
    """A process that gets gem5's arguments and does as the script says; OUT is its --outdir."""
    gem5 = tmp_path / "gem5.fast"
    gem5.write_text(f"#!/bin/sh\nOUT=$2\n{script}\n")
    gem5.chmod(0o755)

    async def whole() -> dict[str, object]:
        with Board(Console(quiet=True)) as board:
            return await simulate(gem5, "measure", {"interval": 5}, tmp_path / "out", board.job("x"), 100)

    return asyncio.run(whole())


def test_facts_of_a_whole_one(tmp_path: Path) -> None:
    assert run(tmp_path, """echo '{"gem5": "24"}' > $OUT/facts.json""") == {"gem5": "24"}


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'mail_server.py: the L2 is too small' >&2; exit 1", "ended with code 1: the L2 is too small"),
        ("echo 'src/x.cc:5: fatal: no such port' >&2; exit 1", "fatal: no such port"),
        ("echo 'AttributeError: no parameter foo' >&2; exit 1", "AttributeError: no parameter foo"),
        ("exit 0", "ended with code 0: it printed nothing"),
        ("kill -SEGV $$", "ended by signal SIGSEGV"),
        (f"echo 's80lab: FAILED no servers' > $OUT/{CONSOLE}; sleep 60", "the guest gave up: no servers"),
        (
            f"echo '[1.0] Kernel panic - not syncing: x' > $OUT/{CONSOLE}; sleep 600",
            "panicked: Kernel panic - not sync",
        ),
    ],
)
def test_failed_simulation_gives_one_sentence(tmp_path: Path, script: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        run(tmp_path, script)


@pytest.mark.parametrize(
    ("kills", "signal", "said"),
    [
        ([7, 8], "KILL", "out of memory: the system killed gem5, which had .* GB of resident memory; end other prog"),
        ([7, 7], "KILL", "gem5 was ended by signal SIGKILL$"),
        ([None, None], "KILL", "gem5 was ended by signal SIGKILL$"),
        ([7, 8], "SEGV", "gem5 was ended by signal SIGSEGV$"),
    ],
    ids=["memory was full", "somebody killed it", "no counter", "a crash meanwhile"],
)
def test_killed_process_is_out_of_memory_if_the_system_counts_such_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: list[int | None], signal: str, said: str
) -> None:
    counts = iter(kills)
    monkeypatch.setattr(process, "out_of_memory_kills", lambda: next(counts))
    with pytest.raises(UserError) as failure:
        run(tmp_path, f"kill -{signal} $$")
    assert re.search(said, str(failure.value).partition("; last lines of the console")[0])


def test_process_above_the_limit_of_memory_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter alone has more than a megabyte."""
    monkeypatch.setattr(process, "GEM5_LIMIT", 1_000_000)
    with pytest.raises(UserError, match=r"GB of resident memory, and the limit is 0.0 GB: choose a machine with small"):
        run(tmp_path, "exec python3 -c 'import time; time.sleep(600)'")


def test_progress_states_percent_speed_memory_and_time_left(tmp_path: Path) -> None:
    said = StringIO()
    with Board(Console(file=said, width=200)) as board:
        job = board.job("x")
        guest = Guest(instructions=1_000_000_000, printed="servers", pace=Pace(time.monotonic() - 10, 900_000_000))
        watch = process._Watch("boot", tmp_path, job, 2_000_000_000, guest)
        lines = [f'{{"instructions": {count}, "ticks": 5}}\n' for count in (400_000_000, 500_000_000)]
        (tmp_path / "progress.jsonl").write_text("".join(lines))
        watch._weigh(os.getpid())
        watch._read()
        line = job.line(200)
    # 600 M instructions in 10 s, and 500 M are left.
    assert re.search(r"\[########\.\.\]  75%    0:0[89] left  x, boot: servers, 1500 of 2000 M instructions, ", line)
    assert re.search(r"[0-9.]+ MIPS, 0\.[0-9] GB resident", line)


def test_simulation_without_progress_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "STALL_S", 1.0)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / CONSOLE).write_text("login:\n")
    with pytest.raises(UserError, match="made no progress for 1 s") as failure:
        run(tmp_path, "sleep 600")
    assert "login:" in str(failure.value)


class Words:
    """What a simulation writes, and a look at it after each word or line of progress that the test asks for."""

    def __init__(self, folder: Path, board: Board) -> None:
        self.console, self.progress = folder / CONSOLE, folder / "progress.jsonl"
        self._watch = process._Watch("measure", folder, board.job("x"), 100, Guest())

    def write(self, said: str = "", simulated_s: int | None = None) -> None:
        """One look comes upon all of it."""
        if said:
            with self.console.open("a") as file:
                file.write(f"{said}\n")
        if simulated_s is not None:
            with self.progress.open("a") as file:
                file.write(f'{{"instructions": 5, "ticks": {simulated_s * TICKS_PER_S}}}\n')
        self._watch._read()


@pytest.fixture
def guest(tmp_path: Path) -> Iterator[Words]:
    with Board(Console(quiet=True)) as board:
        yield Words(tmp_path, board)


def test_guest_that_prints_nothing_is_ended(guest: Words) -> None:
    """It runs on, but says nothing: modelled time, of which a restored simulation begins with some."""
    guest.write("waiting", simulated_s=300)
    guest.write(simulated_s=360)
    with pytest.raises(UserError, match="hangs: it has printed nothing for 60 s of simulated time") as failure:
        guest.write(simulated_s=361)
    assert "waiting" in str(failure.value)


@pytest.mark.parametrize("together", [True, False], ids=["with the progress", "between two lines of progress"])
def test_guest_output_resets_the_hang_timer(guest: Words, together: bool) -> None:
    guest.write(simulated_s=300)
    if together:
        guest.write("working", simulated_s=340)
    else:
        guest.write("working")
        guest.write(simulated_s=340)
    guest.write(simulated_s=400)
    with pytest.raises(UserError, match="the guest hangs"):
        guest.write(simulated_s=401)

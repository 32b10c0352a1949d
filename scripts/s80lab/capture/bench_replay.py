# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmark of reading and replaying captures: runs tests/bench on captures of a real load."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError

BENCH = paths.BIN / "bench_replay"


def bench_replay(full: Path, filtered: Path, say: Callable[[str], None]) -> None:
    """Report the rates of one host core for the captures `full` and `filtered`.

    Raises UserError if the benchmark program is missing.
    """
    if not BENCH.is_file():
        raise UserError(f"{BENCH} is missing: install libbenchmark-dev, then run `make bench`")
    environment = {**os.environ, "S80_BENCH_FULL": str(full), "S80_BENCH_FILTERED": str(filtered)}
    done = subprocess.run(
        [str(BENCH), "--benchmark_format=json"], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise UserError(f"{BENCH} failed: {done.stderr.strip().splitlines()[-1:] or done.returncode}")
    # A benchmark's name goes on with its settings.
    results = {one["name"].partition("/")[0]: one for one in json.loads(done.stdout)["benchmarks"]}

    def millions(name: str, counter: str) -> float:
        return float(results[name][counter]) / 1e6

    floor = millions("tag_walk", "events")
    for suffix, how in (("", "one host core"), ("_read_ahead", "a second core reads ahead")):
        filtered_rate, full_rate = (
            millions(f"replay_filtered{suffix}", "instructions"),
            millions(f"replay_full{suffix}", "events"),
        )
        say(f"replay of the filtered capture, {how}: {filtered_rate:.0f} M instructions/s")
        say(
            f"replay of the full capture, {how}: {full_rate:.1f} M recorded accesses/s, "
            f"{full_rate / floor:.0%} of the speed of a loop that only searches the same tags"
        )
    say(
        f"full capture, one host core, M events/s: reading {millions('read_full', 'events'):.0f}, writing "
        f"{millions('write_full', 'events'):.0f}, L1 filter {millions('filter', 'events'):.0f}"
    )

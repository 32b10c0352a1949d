# SPDX-License-Identifier: GPL-2.0-or-later
"""Random traces on small caches, through the user's gem5 and through the model.

python -m tests.gem5.agree.random_traces GEM5 [FIRST_SEED [TRACES]] prints a line per trace. The seed decides the
machine and the trace. The exit code is 1 if any category differs.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from s80lab.gem5.agree import agree
from s80lab.gem5.check.traces import random_order
from s80lab.trace.order import Order

ACCESSES = 5000
# Caches and threads per core. Every L2 has fewer lines than the trace.
MACHINES = (
    ("l1i.size=512", "l1d.size=512", "l2.size=2KiB"),
    ("l1i.size=1KiB", "l1d.size=512", "l2.size=4KiB", "l2.ways=8"),
    ("l1i.size=512", "l1d.size=1KiB", "l1d.ways=4", "l2.size=2KiB", "line_bytes=64"),
    ("processors.threads_per_core=2", "l1i.size=512", "l1d.size=512", "l2.size=2KiB"),
)


@dataclass(frozen=True)
class Drawn:
    """What a seed decides."""

    settings: tuple[str, ...]
    order: Order


def draw(seed: int) -> Drawn:
    """A machine of 18 processors, and accesses to 50 to 79 lines. 30 to 69% of the accesses go to lines of one
    processor alone."""
    order = random_order(
        seed,
        ACCESSES,
        processors=18,
        lines=50 + seed * 7 % 30,
        stores=10 + seed * 3 % 40,
        fetches=seed * 5 % 40,
        own=30 + seed * 11 % 40,
    )
    return Drawn(MACHINES[seed % len(MACHINES)], order)


def differences(seed: int, gem5: Path, folder: Path) -> tuple[int, int]:
    """The number of categories that differ, and the number of evictions."""
    drawn = draw(seed)
    rows, _ = agree.run(drawn.order, agree.setup("s80", list(drawn.settings)), "spaced", gem5, folder)
    evictions = sum(row.model for row in rows if row.category.startswith("evictions"))
    return sum(row.difference != 0 for row in rows), evictions


def main(gem5: Path, first: int = 1, traces: int = 20) -> int:
    total = 0
    for seed in range(first, first + traces):
        with tempfile.TemporaryDirectory(prefix="s80lab-") as folder:
            differ, evictions = differences(seed, gem5, Path(folder))
        total += differ
        print(f"seed {seed}: {ACCESSES} accesses, {evictions} evictions, {differ} categories differ", flush=True)
    print(f"{traces} traces, {total} differences")
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))

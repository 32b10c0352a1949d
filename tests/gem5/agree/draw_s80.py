# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the accesses that warm the s80 in docs/background/agreement.md: python -m tests.gem5.agree.draw_s80 OUT.order

12,000,000 accesses of 18 cores: 35% to 300,000 shared lines, the others to 72,000 lines of each core. Low lines are
accessed more often. 15% are stores, and 20% of the accesses to every third line are fetches.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from s80lab.trace import order
from s80lab.trace.order import Op, Order, make

ACCESSES, CORES, SHARED, OWN = 12_000_000, 18, 300_000, 72_000


def draw() -> Order:
    random = np.random.default_rng(1)
    core = random.integers(0, CORES, ACCESSES)
    shared = random.random(ACCESSES) < 0.35
    common = (random.random(ACCESSES) ** 3 * SHARED).astype(np.int64)
    own = SHARED + core * OWN + (random.random(ACCESSES) ** 1.5 * OWN).astype(np.int64)
    line = np.where(shared, common, own)
    kind = random.random(ACCESSES)
    op = np.where(kind < 0.15, Op.STORE, np.where((kind < 0.35) & (line % 3 == 0), Op.IFETCH, Op.LOAD))
    return make(core, op, line)


if __name__ == "__main__":
    order.write(Path(sys.argv[1]), draw())

# SPDX-License-Identifier: GPL-2.0-or-later
"""Random accesses that are the same with every version of numpy, because the generator is written out here."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from s80lab.trace.order import Op, Order, make


def random_order(seed: int, accesses: int, processors: int, lines: int, stores: int, fetches: int, own: int) -> Order:
    """Accesses of all processors to `lines` shared lines, and to as many lines of each processor alone.

    stores, fetches: percentages of the accesses. own: percentage that goes to lines of the processor alone.
    """
    draw = _SplitMix(seed, accesses)
    processor = draw.below(processors)
    kind = draw.below(100)
    op = np.where(kind < stores, Op.STORE, np.where(kind < stores + fetches, Op.IFETCH, Op.LOAD))
    line = draw.below(lines)
    private = draw.below(100) < own
    return make(processor, op, np.where(private, lines * (1 + processor) + line, line))


class _SplitMix:
    """SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Each call draws one column of numbers."""

    def __init__(self, seed: int, count: int) -> None:
        self._next = np.uint64(seed)
        self._count = count

    def below(self, limit: int) -> npt.NDArray[np.int64]:
        """Numbers from 0 up to but not including `limit`."""
        gamma = np.uint64(0x9E3779B97F4A7C15)
        with np.errstate(over="ignore"):
            z = self._next + gamma * np.arange(1, self._count + 1, dtype=np.uint64)
            self._next = z[-1]
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z ^= z >> np.uint64(31)
        return ((z >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32)).astype(np.int64)

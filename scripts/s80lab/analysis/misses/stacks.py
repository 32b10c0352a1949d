# SPDX-License-Identifier: GPL-2.0-or-later
"""Misses as collapsed stacks for speedscope and flame graphs: `process;entry;function;line count`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from s80lab.analysis.misses.log import Log, distinct
from s80lab.analysis.misses.names import Named


def collapsed(log: Log, named: Named, weights: NDArray[np.int64]) -> str:
    """One line per stack, sorted by name. weights: weight of each record (1, or its stall cycles)."""
    callers, caller = log.callers()
    found = distinct(caller, named.function, named.what)
    sums = np.bincount(found.index, weights=weights, minlength=len(found.rows)).astype(np.int64)
    stacks = []
    for (who, function, what), total in zip(found.rows, sums.tolist(), strict=True):
        frames = [*callers[who].split("; "), named.functions[function], str(named.whats[what])]
        stacks.append((";".join(frame.replace(";", ",") for frame in frames), total))
    return "".join(f"{stack} {total}\n" for stack, total in sorted(stacks) if total)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Misses as collapsed stacks for speedscope and flame graphs: `process;entry;function;line count`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from s80lab.analysis.misses.log import Log
from s80lab.analysis.misses.names import Named


def collapsed(log: Log, named: Named, weights: NDArray[np.int64]) -> str:
    """One line per stack, sorted by name. weights: weight of each record (1, or its stall cycles)."""
    callers, caller = np.unique(log.callers(), return_inverse=True)
    keys = np.stack([caller.reshape(-1), named.function, named.what], axis=1)
    found, numbers = np.unique(keys, axis=0, return_inverse=True)
    sums = np.bincount(numbers.reshape(-1), weights=weights, minlength=len(found)).astype(np.int64)
    stacks = []
    for (who, function, what), total in zip(found.tolist(), sums.tolist(), strict=True):
        frames = [*str(callers[who]).split("; "), named.functions[function], str(named.whats[what])]
        stacks.append((";".join(frame.replace(";", ",") for frame in frames), total))
    return "".join(f"{stack} {total}\n" for stack, total in sorted(stacks) if total)

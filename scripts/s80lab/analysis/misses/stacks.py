# SPDX-License-Identifier: GPL-2.0-or-later
"""Misses as collapsed stacks for speedscope and flame graphs: `process;entry;function;line count`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from s80lab.analysis.misses.log import Log, distinct
from s80lab.analysis.misses.names import Named
from s80lab.base.errors import UserError
from s80lab.base.files import read_regular
from s80lab.results.run_folder import LARGEST_FILE


def collapsed(log: Log, named: Named, weights: NDArray[np.int64]) -> str:
    """One line per stack, sorted by name. weights: weight of each record (1, or its stall cycles)."""
    callers, caller = log.callers()
    found = distinct(caller, named.function, named.what)
    sums = np.bincount(found.index, weights=weights, minlength=len(found.rows)).astype(np.int64)
    stacks = []
    for (who, function, what), total in zip(found.rows, sums.tolist(), strict=True):
        frames = [*callers[who].split("; "), named.functions[function], str(named.whats[what])]
        stacks.append((frames, total))
    return stack_text(stacks)


def stack_text(stacks: Iterable[tuple[Sequence[str], int]]) -> str:
    """Stacks with their weights as text, sorted by name; stacks without weight are left out."""
    named = sorted((";".join(frame.replace(";", ",") for frame in frames), weight) for frames, weight in stacks)
    return "".join(f"{stack} {weight}\n" for stack, weight in named if weight)


def read_stacks(path: Path) -> Iterator[tuple[list[str], int]]:
    """The frames of each stack in a file of stacks, and its weight. UserError if the file cannot be read or a line has
    another form."""
    remedy = f"`s80lab misses {path.parent.name}` writes"
    try:
        lines = read_regular(path, LARGEST_FILE, f"{remedy} it again").decode().splitlines()
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: cannot be read ({error}); {remedy} it again") from None
    for number, line in enumerate(lines, 1):
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        if len(frames) < 3 or not count.isdecimal():
            raise UserError(f"{path}, line {number}: is not a stack with a count; {remedy} the file again")
        yield frames, int(count)

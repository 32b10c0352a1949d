# SPDX-License-Identifier: GPL-2.0-or-later
"""LRU replacement, evictions and write-backs of one core's two levels against pycachesim, an independent simulator.

pycachesim has no inclusion: an L2 eviction leaves the L1 copy alone. So the shapes are those in which an inclusive L2
never evicts what an L1 holds: either a direct-mapped L1 above an L2 of as many sets and at least two ways (what the L1
holds is then the most recent line of its L2 set), or an L2 that holds every line.

A store hit of pycachesim does not count as a use of the line (its `Cache__store` leaves the order alone), one of ours
does: there a store is a load and a store.
"""

from __future__ import annotations

import json
import random
import subprocess
from dataclasses import dataclass

import cachesim  # type: ignore[import-untyped]
import pytest

from s80lab.base import paths

PROGRAM = paths.BUILD / "bin" / "reference-replacement-counts"
PROTOCOL = paths.PROTOCOLS / "moesi.toml"
LINE_BYTES = 64
ACCESSES = 20_000

Access = tuple[str, int]


@dataclass(frozen=True)
class Shape:
    """Sets and ways of both levels, and how many lines are accessed."""

    l1: tuple[int, int]
    l2: tuple[int, int]
    lines: int

    def __str__(self) -> str:
        return f"l1-{self.l1[0]}x{self.l1[1]}-l2-{self.l2[0]}x{self.l2[1]}-{self.lines}-lines"


SHAPES = [
    Shape((1, 1), (1, 2), 5),
    Shape((1, 1), (1, 8), 12),
    Shape((4, 1), (4, 2), 24),
    Shape((8, 1), (8, 4), 60),
    Shape((16, 1), (16, 16), 500),
    Shape((1, 4), (64, 4), 128),
    Shape((4, 2), (64, 4), 200),
    Shape((2, 16), (128, 2), 250),
]


def draw(lines: int, seed: int) -> list[Access]:
    """Loads and stores, the lower lines more often."""
    dice = random.Random(seed)
    return [
        ("store" if dice.random() < 0.3 else "load", min(dice.randrange(lines), dice.randrange(lines)))
        for _ in range(ACCESSES)
    ]


def ours(shape: Shape, accesses: list[Access]) -> dict[str, int]:
    command = [str(PROGRAM), str(PROTOCOL), *map(str, (*shape.l1, *shape.l2))]
    text = "".join(f"{word} {line}\n" for word, line in accesses)
    counts: dict[str, int] = json.loads(
        subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    )
    return counts


def theirs(shape: Shape, accesses: list[Access]) -> dict[str, int]:
    memory = cachesim.MainMemory()
    l2 = cachesim.Cache("L2", *shape.l2, LINE_BYTES, "LRU")
    l1 = cachesim.Cache("L1", *shape.l1, LINE_BYTES, "LRU", store_to=l2, load_from=l2)
    memory.load_to(l2)
    memory.store_from(l2)
    caches = cachesim.CacheSimulator(l1, memory)
    for word, line in accesses:
        caches.load(line * LINE_BYTES)
        if word == "store":
            caches.store(line * LINE_BYTES)
    # Dirty lines that L1 still holds are dirty in our L2 already; so are theirs, once written back.
    filled = shape.l2[0] * shape.l2[1] - l2.count_invalid_entries()
    return {
        "l1_misses": l1.MISS_count,
        "l2_hits": l2.HIT_count,
        "l2_misses": l2.MISS_count,
        "l2_evictions": l2.MISS_count - filled,
        "l2_writebacks": l2.EVICT_count,
    }


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_counts_are_those_of_pycachesim(shape: Shape, seed: int) -> None:
    accesses = draw(shape.lines, seed)
    counted = ours(shape, accesses)
    assert counted == theirs(shape, accesses)
    assert 0 < counted["l1_misses"] < ACCESSES
    assert counted["l2_hits"] > 0


def test_different_cache_shape_gives_different_counts() -> None:
    accesses = draw(60, 1)
    assert ours(Shape((8, 1), (8, 4), 60), accesses) != theirs(Shape((8, 1), (4, 8), 60), accesses)

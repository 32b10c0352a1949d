# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded replays through gem5's Ruby: what was played, on which machine, and what Ruby counted.

A folder under data/ holds case.json and stats.txt.gz (the rows that are used), and its accesses as a text trace, as a
compressed order, or as the seed of the generator below.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from s80lab.base import paths
from s80lab.gem5.agree import agree
from s80lab.trace import files, text
from s80lab.trace.order import DTYPE, Op, Order, make
from s80lab.trace.tool import Setup

DATA = paths.ROOT / "tests" / "gem5" / "agree" / "data"


@dataclass(frozen=True)
class Case:
    """One recorded replay."""

    folder: Path
    about: dict[str, Any]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def spacing(self) -> agree.Spacing:
        spacing: agree.Spacing = self.about["spacing"]
        return spacing

    def setup(self) -> Setup:
        return agree.setup(self.about["machine"], self.about["settings"])

    def order(self) -> Order:
        """The accesses that were replayed."""
        made = self.setup().machine
        if "trace" in self.about:
            return text.read(paths.ROOT / self.about["trace"]).order(made.line_bytes)
        if "random" in self.about:
            return random_order(**self.about["random"])
        order = unpack(lzma.decompress((DATA / self.about["order"]).read_bytes()))
        order["tick"] *= np.uint64(self.about["cycle_ps"])
        return order

    def stats(self) -> str:
        return files.read(self.folder / "stats.txt.gz").decode()


def cases() -> list[Case]:
    """All recorded ones."""
    return [
        Case(path.parent, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(DATA.glob("*/case.json"))
    ]


def random_order(seed: int, accesses: int, processors: int, lines: int, stores: int, fetches: int, own: int) -> Order:
    """Accesses drawn by a generator that is written out here, so that they stay the same with every numpy.

    `stores` and `fetches`: per cent of the accesses; `own`: per cent that go to lines of the processor alone.
    """
    draw = _SplitMix(seed, accesses)
    processor = draw.below(processors)
    kind = draw.below(100)
    op = np.where(kind < stores, Op.STORE, np.where(kind < stores + fetches, Op.IFETCH, Op.LOAD))
    line = draw.below(lines)
    private = draw.below(100) < own
    return make(processor, op, np.where(private, lines * (1 + processor) + line, line))


def pack(order: Order) -> bytes:
    """An order by columns, each processor's lines and ticks as differences: what compresses well. Ticks: cycles."""
    parts = [np.array([len(order)], "<u8").tobytes()]
    parts += [order[name].tobytes() for name in ("processor", "op", "context")]
    for name in ("line", "tick"):
        for processor in np.unique(order["processor"]):
            column = order[name][order["processor"] == processor].astype(np.int64)
            difference = np.diff(column, prepend=0)
            wide = np.frombuffer(((difference << 1) ^ (difference >> 63)).astype("<u8").tobytes(), np.uint8)
            parts.append(np.ascontiguousarray(wide.reshape(-1, 8).T).tobytes())
    return b"".join(parts)


def unpack(content: bytes) -> Order:
    """The inverse of pack."""
    n = int(np.frombuffer(content, "<u8", 1)[0])
    order = np.zeros(n, DTYPE)
    at = 8
    for name in ("processor", "op", "context"):
        order[name] = np.frombuffer(content, np.uint8, n, at)
        at += n
    for name in ("line", "tick"):
        for processor in np.unique(order["processor"]):
            mine = order["processor"] == processor
            count = int(mine.sum())
            planes = np.frombuffer(content, np.uint8, 8 * count, at).reshape(8, count)
            folded = np.ascontiguousarray(planes.T).view("<u8").ravel()
            at += 8 * count
            difference = (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(np.int64)
            order[name][mine] = np.cumsum(difference)
    return order


class _SplitMix:
    """Steele, Lea and Flood's SplitMix64, a column of draws at a time."""

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

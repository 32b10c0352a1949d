# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded replays through gem5's Ruby: what was played, on which machine, and what Ruby counted.

A folder holds case.json and stats.txt (the rows that are used), and its accesses as a text trace, as the compressed
order in data/, or as the seed of s80lab.gem5.check.traces.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.gem5.recorded import recording

from s80lab.base import paths
from s80lab.gem5.agree import agree
from s80lab.gem5.check.traces import random_order
from s80lab.trace import text
from s80lab.trace.order import DTYPE, Order
from s80lab.trace.setup import Setup

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
        return (self.folder / "stats.txt").read_text(encoding="utf-8")


def cases() -> list[Case]:
    """All recorded ones."""
    files = sorted(recording("agree").glob("*/case.json"))
    return [Case(path.parent, json.loads(path.read_text(encoding="utf-8"))) for path in files]


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Shards of a list of runs or replays. Hosts divide a list without communication, because all sort it by equal
hashes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from s80lab.base.errors import UserError

T = TypeVar("T")


@dataclass(frozen=True)
class Shard:
    """One shard: part `number` (counted from 1) of a list that is divided into `count` parts."""

    number: int = 1
    count: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def take(self, items: Sequence[T]) -> list[T]:
        """Every `count`-th item from item `number` on. Shards are disjoint. Their lengths differ by 1 at most."""
        return list(items[self.number - 1 :: self.count])


def parse_shard(text: str) -> Shard:
    """Parse the value of `--shard I/N`. UserError if it is malformed."""
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    if match is None:
        raise UserError(f"--shard {text}: is not a shard: write I/N, for example 1/10 for the first of ten shards")
    number, count = int(match[1]), int(match[2])
    if not 1 <= number <= count:
        raise UserError(f"--shard {text}: there is no shard {number} of {count}: write 1/{count} to {count}/{count}")
    return Shard(number, count)


def by_hash(items: Sequence[T], hash: Callable[[T], str]) -> dict[str, T]:
    """The items by their hashes, sorted by hash. Of items with equal hashes only the first is kept."""
    first = {hash(item): item for item in reversed(items)}
    return dict(sorted(first.items()))

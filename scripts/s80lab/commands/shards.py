# SPDX-License-Identifier: GPL-2.0-or-later
"""`--shard I/N` and `--list` of `s80lab explore` and `s80lab run`: what there is to do, and one host's part of it.

Every host that resolves the same words with the same files has the same list, because it is sorted by the hashes of all
that decides the numbers; nothing else is agreed between them. A shard leaves run folders and never writes the
database: `s80lab collect` enters them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import typer

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.shard import Shard, parse_shard
from s80lab.base.strict import shown
from s80lab.commands.output import print_json
from s80lab.experiment.resources import GIB, Cost

T = TypeVar("T")

ShardOption = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", help="The I-th of N parts: run folders alone (then `s80lab collect`)."),
]
ListOption = Annotated[bool, typer.Option("--list", help="What there is to do, sorted by hash; nothing is done.")]


@dataclass(frozen=True)
class Part(Generic[T]):
    """A shard of a list of things to do, by their hashes. key: of the whole list; all shards of one work say it."""

    shard: Shard
    items: Mapping[str, T]
    of: int
    key: str

    def __str__(self) -> str:
        return f"shard {self.shard}: {len(self.items)} of {self.of} (list {self.key})"


def part(text: str | None, items: Mapping[str, T]) -> Part[T]:
    """The part that --shard names; all of them without it."""
    shard = parse_shard(text) if text else Shard()
    taken = shard.take(list(items))
    return Part(shard, {hash: items[hash] for hash in taken}, len(items), value_hash(list(items))[:8])


def show_list(
    part: Part[T], describe: Callable[[T], str], whole: Callable[[T], bool], cost: Callable[[T], Cost], as_json: bool
) -> None:
    """A line an item: its hash, what it is, whether it is there already; and what all of them cost."""
    records = [(hash, describe(item), whole(item)) for hash, item in part.items.items()]
    costs = [cost(item) for item in part.items.values()]
    seconds, memory = sum(one.core_s for one in costs), max((one.memory for one in costs), default=0)
    if as_json:
        listed: list[dict[str, Any]] = [dict(zip(("hash", "job", "whole"), one, strict=True)) for one in records]
        of_list = {"list": part.key, "of": part.of, "shard": str(part.shard), "jobs": listed}
        print_json(of_list | {"core_seconds": round(seconds), "memory_bytes": memory})
        return
    print(f"{part}, sorted by hash; {seconds / 3600:.1f} core hours at most, {memory / GIB:.1f} GiB of memory each")
    for hash, what, there in records:
        print(f"{hash[:8]} {what}{' (whole)' if there else ''}")


def tell_shard(part: Part[T], folders: list[Path], as_json: bool) -> None:
    """What a shard has left."""
    if as_json:
        names = [folder.name for folder in folders]
        print_json({"list": part.key, "of": part.of, "shard": str(part.shard), "runs": names})
    else:
        print(f"{part}, all whole in {shown(paths.runs())}; `s80lab collect` enters them into a database")


def check_shard(text: str | None, options: Mapping[str, object]) -> None:
    """UserError where --shard is none, before anything is looked for; and for the first of these options that is given:
    it needs all that was measured, or another engine."""
    if text:
        parse_shard(text)
    for name, value in options.items():
        if value:
            raise UserError(f"--shard and --list do not go with {name}: leave one of them away")

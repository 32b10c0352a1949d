# SPDX-License-Identifier: GPL-2.0-or-later
"""`--shard I/N` and `--list` of `s80lab explore` and `s80lab run`: the list of runs or replays, and the shard of one
host.

Every host that resolves the same command with the same files gets the same list, because the list is sorted by the
hashes of all inputs. The hosts need no other agreement. A shard leaves run folders and never writes the database:
`s80lab collect` enters the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.progress import rough
from s80lab.base.shard import Shard, parse_shard
from s80lab.base.strict import shown
from s80lab.base.terminal import counted
from s80lab.commands.output import print_json
from s80lab.experiment.resources import GIB, Cost

T = TypeVar("T")


@dataclass(frozen=True)
class Part(Generic[T]):
    """A shard of a list of runs or replays.

    items: the runs or replays of the shard, by their hashes.
    of: the number of items in the complete list.
    key: hash of the complete list; it is equal in all shards of one list.
    """

    shard: Shard
    items: Mapping[str, T]
    of: int
    key: str

    def __str__(self) -> str:
        return f"shard {self.shard}: {len(self.items)} of {counted(self.of, 'run')} (list {self.key})"


def part(text: str | None, items: Mapping[str, T]) -> Part[T]:
    """The part that --shard names; all items without --shard."""
    shard = parse_shard(text) if text else Shard()
    taken = shard.take(list(items))
    return Part(shard, {hash: items[hash] for hash in taken}, len(items), value_hash(list(items))[:8])


def show_list(
    part: Part[T],
    describe: Callable[[T], str],
    whole: Callable[[T], bool],
    cost: Callable[[T], Cost],
    as_json: bool,
    boots_s: float = 0.0,
) -> None:
    """Print one line per run or replay (hash, description, whether its result is complete), how many are complete, and
    what the others cost. boots_s: expected seconds of the boots that the others need."""
    records = [(hash, describe(item), whole(item)) for hash, item in part.items.items()]
    costs = [cost(item) for item in part.items.values()]
    seconds, memory = sum(one.core_s for one in costs), max((one.memory for one in costs), default=0)
    lacking = [cost.core_s for cost, (_, _, there) in zip(costs, records, strict=True) if not there]
    if as_json:
        listed: list[dict[str, Any]] = [dict(zip(("hash", "job", "whole"), one, strict=True)) for one in records]
        of_list = {"list": part.key, "of": part.of, "shard": str(part.shard), "jobs": listed}
        print_json(of_list | {"core_seconds": round(seconds), "memory_bytes": memory})
        return
    print(f"{part}, sorted by hash")
    time = rough(sum(lacking) + boots_s)
    rest = f"; the rest takes at most {time} of one core, and {memory / GIB:.1f} GiB of memory per run"
    print(f"{len(records) - len(lacking)} of {len(records)} complete{rest if lacking else ''}")
    for hash, what, there in records:
        print(f"{hash[:8]} {what}{' (complete)' if there else ''}")


def tell_shard(part: Part[T], folders: list[Path], as_json: bool) -> None:
    """Print which runs a shard has completed."""
    if as_json:
        names = [folder.name for folder in folders]
        print_json({"list": part.key, "of": part.of, "shard": str(part.shard), "runs": names})
    else:
        print(
            f"{part}; all runs are complete in {shown(paths.runs())}; enter the runs into a database with "
            "`s80lab collect`"
        )


def check_shard(text: str | None, options: Mapping[str, object]) -> None:
    """UserError if the text of --shard is malformed, or if one of `options`, which cannot be combined with --shard, is
    set."""
    if text:
        parse_shard(text)
    for name, value in options.items():
        if value:
            raise UserError(f"--shard and --list cannot be combined with {name}: omit one of the two options")

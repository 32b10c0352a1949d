# SPDX-License-Identifier: GPL-2.0-or-later
"""`--shard I/N` and `--list` of `s80lab explore` and `s80lab run`: the list of runs or replays, and the shard of one
host.

Every host that resolves the same command with the same files gets the same list, because the list is sorted by the
hashes of all inputs. The hosts need no other agreement. A shard leaves run folders and never writes the database:
`s80lab collect` enters the runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.progress import rough
from s80lab.base.shard import Shard, parse_shard
from s80lab.base.strict import short_path
from s80lab.base.terminal import counted, plain
from s80lab.commands.output import print_json
from s80lab.experiment.resources import GIB, Cost

T = TypeVar("T")
_UNITS = {"s": "seconds", "min": "minutes", "h": "hours"}


@dataclass(frozen=True)
class Part(Generic[T]):
    """A shard of a list of runs or replays.

    items: the runs or replays of the shard, by their hashes.
    total: the number of items in the complete list.
    key: hash of the complete list; it is equal in all shards of one list.
    """

    shard: Shard
    items: Mapping[str, T]
    total: int
    key: str

    def __str__(self) -> str:
        return f"shard {self.shard}: {len(self.items)} of {counted(self.total, 'run')} (list {self.key})"


def part(text: str | None, items: Mapping[str, T]) -> Part[T]:
    """The part that --shard names; all items without --shard."""
    shard = parse_shard(text) if text else Shard()
    taken = shard.take(list(items))
    return Part(shard, {hash: items[hash] for hash in taken}, len(items), value_hash(list(items))[:8])


@dataclass(frozen=True)
class Listed:
    """One line of a list. complete: whether the result exists. cost: of the run, also if it is complete."""

    hash: str
    text: str
    complete: bool
    cost: Cost


def show_list(part: Part[T], lines: Sequence[Listed], as_json: bool, boots_s: float = 0.0) -> None:
    """Print one line per run or replay; at the end how many are complete, how many are to do, and what these cost.

    boots_s: expected seconds of the boots that the runs to do need."""
    to_do = [line for line in lines if not line.complete]
    memory = max((line.cost.memory for line in lines), default=0)
    if as_json:
        jobs = [{"hash": line.hash, "job": line.text, "whole": line.complete} for line in lines]
        seconds = sum(line.cost.core_s for line in lines)
        of_list = {"list": part.key, "of": part.total, "shard": str(part.shard), "jobs": jobs}
        counts = {"complete": len(lines) - len(to_do), "to_do": len(to_do)}
        print_json(of_list | counts | {"core_seconds": round(seconds), "memory_bytes": memory})
        return
    print(f"{part}, sorted by hash")
    for line in lines:
        print(plain(f"{line.hash[:8]} {line.text}{' (complete)' if line.complete else ''}").replace("\n", "\\n"))
    print(summary(len(lines), sum(line.cost.core_s for line in to_do) + boots_s, len(to_do), memory))


def summary(lines: int, seconds: float, to_do: int, memory: int) -> str:
    """For example `7,214 complete, 2,386 to do, about 3.8 core hours (0.5 GiB of memory per run)`."""
    cost = f", about {core_time(seconds)} ({memory / GIB:.1f} GiB of memory per run)" if to_do else ""
    return f"{lines - to_do:,} complete, {to_do:,} to do{cost}"


def core_time(seconds: float) -> str:
    """A rough time of one core: `40 core seconds`, `14 core minutes`, `3.8 core hours`."""
    number, unit = rough(seconds).split()
    return f"{number} core {_UNITS[unit]}"


def tell_shard(part: Part[T], folders: list[Path], as_json: bool) -> None:
    """Print which runs a shard has completed."""
    if as_json:
        names = [folder.name for folder in folders]
        print_json({"list": part.key, "of": part.total, "shard": str(part.shard), "runs": names})
    else:
        print(
            f"{part}; all runs are complete in {short_path(paths.runs())}; enter the runs into a database with "
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

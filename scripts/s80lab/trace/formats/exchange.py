# SPDX-License-Identifier: GPL-2.0-or-later
"""Exchange of accesses with other simulators: the definition of a format, and export and import of several files.

The modules gem5, champsim, din and cs4223 in this package are the formats; trace.text has text traces.
docs/reference/trace-formats.md lists what each format loses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s80lab.base.errors import UserError
from s80lab.trace import files as trace_files
from s80lab.trace import order as trace_order
from s80lab.trace.order import Op, Order

LARGEST_ACCESS = 4096
"""Largest size of one access in bytes: a page."""
MOST_ACCESSES = 1 << 25
"""Most accesses to cache lines in one file; while a file is read, each takes some 100 bytes of memory."""
_NUMBERED = re.compile(r"cpu([0-9]+)")
_DIGITS = re.compile("([0-9]{1,18})")


@dataclass(frozen=True)
class Format:
    """A format with one file per processor.

    encode: converts the accesses of a processor to a file's bytes. decode: converts a file to accesses (processor 0).
    timed: the files have ticks, and several files are merged by tick; without ticks they are merged in turn, one `unit`
    of each.
    export_loses, import_loses: the information that a conversion does not keep, or `nothing`.
    held: the accesses of a processor that an import of its exported file has.
    counts_instructions: the ticks are numbers of instructions before the access.
    """

    name: str
    suffix: str
    encode: Callable[[Order, int], bytes]
    decode: Callable[[bytes, int, str], Order]
    timed: bool
    export_loses: str
    import_loses: str
    held: Callable[[Order], Order]
    unit: str = "access"
    counts_instructions: bool = False


def walks_as_loads(order: Order) -> Order:
    """The accesses as a format without page walks holds them."""
    held = order.copy()
    held["op"][held["op"] == Op.WALK] = Op.LOAD
    return held


def lines_of(
    address: npt.NDArray[np.uint64], size: npt.NDArray[np.uint64], line_bytes: int, where: str
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.intp]]:
    """The lines that accesses touch, with the number of the access. An access may touch several lines."""
    _bound(len(address), where)
    odd = (size == 0) | (size > LARGEST_ACCESS)
    if odd.any():
        at = int(np.argmax(odd))
        raise UserError(
            f"{where}: access {at} has a size of {int(size[at])} bytes, but an access has from 1 to {LARGEST_ACCESS} "
            "bytes; correct or remove the access"
        )
    first = address // np.uint64(line_bytes)
    last = (address + size - np.uint64(1)) // np.uint64(line_bytes)
    beyond = (last > trace_order.LAST_LINE) | (last < first)
    if beyond.any():
        at = int(np.argmax(beyond))
        limit = (trace_order.LAST_LINE + 1) * line_bytes
        raise UserError(
            f"{where}: access {at} has the address {int(address[at]):#x}, beyond {limit:#x}, the limit of the "
            f"model with lines of {line_bytes} bytes"
        )
    count = (last - first + np.uint64(1)).astype(np.intp)
    _bound(int(count.sum()), where)
    owner = np.repeat(np.arange(len(address)), count)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    return first[owner] + step.astype(np.uint64), owner


def _bound(accesses: int, where: str) -> None:
    if accesses > MOST_ACCESSES:
        raise UserError(
            f"{where}: contains {accesses} accesses to cache lines, but the limit for one file is {MOST_ACCESSES}; "
            "cut the trace into smaller files"
        )


def export(order: Order, form: Format, folder: Path, line_bytes: int, *, compress: bool = False) -> list[Path]:
    """Writes FOLDER/cpuNN.SUFFIX for each processor with accesses."""
    files = []
    for processor in np.unique(order["processor"]):
        path = folder / f"cpu{int(processor):02}{form.suffix}{'.gz' if compress else ''}"
        trace_files.write(path, form.encode(order[order["processor"] == processor], line_bytes))
        files.append(path)
    return files


def load(files: Sequence[Path], form: Format, line_bytes: int) -> Order:
    """Reads several files, one per processor, and merges their accesses into one order."""
    parts = []
    for processor, path in sorted(zip(processors_of(files), files, strict=True)):
        part = form.decode(trace_files.read(path), line_bytes, str(path))
        part["processor"] = processor
        parts.append(part)
    return merge(parts, timed=form.timed)


def lost(order: Order, form: Format) -> str:
    """What the format does not hold, if an import of the exported files would have other accesses or another order;
    else empty."""
    parts = [order[order["processor"] == processor] for processor in np.unique(order["processor"])]
    held = [form.held(part) for part in parts]
    pairs = list(zip(parts, held, strict=True))
    if any(len(part) != len(kept) for part, kept in pairs):
        return "repeated fetches of a line"
    changed = [part["op"][part["op"] != kept["op"]] for part, kept in pairs]
    if any((kinds != Op.WALK).any() for kinds in changed):
        return "the kind of each access"
    if not all(same_accesses(part, kept) for part, kept in pairs):
        return "page walks"
    if same_accesses(order, merge(held, timed=form.timed)):
        return ""
    return "the order between processors"


def same_accesses(first: Order, second: Order) -> bool:
    """Whether both have the same accesses in the same order."""
    columns = ("processor", "op", "line")
    return len(first) == len(second) and all(bool((first[name] == second[name]).all()) for name in columns)


def processors_of(files: Sequence[Path]) -> list[int]:
    """The processor of each file. NN if all files are named cpuNN. If the names differ in one number only, the files
    belong to processors 0, 1, ... in the order of this number. Otherwise the position in the list decides."""
    numbers = [_NUMBERED.match(path.name) for path in files]
    found = [int(number[1]) for number in numbers if number]
    if len(found) != len(files):
        found = _ranks(files)
    twice = max(found, key=found.count)
    if found.count(twice) > 1:
        same = " and ".join(str(path) for path, number in zip(files, found, strict=True) if number == twice)
        raise UserError(
            f"{same}: the names of these files all mean processor {twice}; rename the files so that each "
            "begins with a cpuNN of its own"
        )
    if max(found) >= trace_order.MAX_PROCESSORS:
        raise UserError(
            f"{files[found.index(max(found))]}: belongs to processor {max(found)}, but s80lab supports only processors "
            f"0 to {trace_order.MAX_PROCESSORS - 1}"
        )
    return found


def _ranks(files: Sequence[Path]) -> list[int]:
    """The rank of each file by the only number in which the names differ; the position if they differ in more."""
    split = [_DIGITS.split(str(path)) for path in files]
    places = list(range(len(files)))
    if len({len(words) for words in split}) > 1:
        return places
    differing = [at for at in range(len(split[0])) if len({words[at] for words in split}) > 1]
    # The parts at odd positions are numbers.
    if len(differing) != 1 or differing[0] % 2 == 0:
        return places
    numbers = [int(words[differing[0]]) for words in split]
    if len(set(numbers)) < len(numbers):
        return places
    return [sorted(numbers).index(number) for number in numbers]


def merge(parts: Sequence[Order], *, timed: bool) -> Order:
    """Merges the accesses of several processors by tick or in turn. The order of `parts` decides among equals."""
    if not parts:
        return np.zeros(0, trace_order.DTYPE)
    together: Order = np.concatenate(parts)
    if timed:
        # A processor's own accesses stay in order even where its ticks go back.
        key = np.concatenate([np.maximum.accumulate(part["tick"]) for part in parts])
    else:
        key = np.concatenate([np.arange(len(part)) for part in parts])
    merged: Order = together[np.argsort(key, kind="stable")]
    return merged

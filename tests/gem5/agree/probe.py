# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the contents of Ruby's caches after a warm start, set by set, and compares them with the model's.

    python -m tests.gem5.agree.probe GEM5 TRACE --first N [--sets N] [--machine NAME] [--set KEY=VALUE ...]

For a sample of the sets of each core's L2, the core accesses fresh lines of the set until all old lines have left it.
On the way these lines push lines out of the core's L1s, too. gem5's protocol trace names each line that moves from an
L1 to the L2 or leaves the L2, in order and with its state. The directory's writeback tells a dirty block from a clean
one. So the sample reads places, states, dirty data and the order of replacement. It needs gem5.opt.
"""

from __future__ import annotations

import argparse
import gzip
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s80lab.config.machine import Machine
from s80lab.gem5.agree import agree, replay, warm
from s80lab.trace import source as trace_source
from s80lab.trace import tool
from s80lab.trace.order import Op, Order, make
from s80lab.trace.setup import Setup
from s80lab.trace.source import Wanted
from s80lab.trace.tool import Begin

RUBY = {"MM": "MM", "D": "M", "E": "M", "O": "O", "OC": "O", "S": "S"}
WRITEBACK = {
    "MM": "Writeback_Exclusive_Dirty",
    "D": "Writeback_Exclusive_Dirty",
    "E": "Writeback_Exclusive_Clean",
    "O": "Writeback_Dirty",
    "OC": "Writeback_Clean",
}
MOVE, EVICT = "L1_to_L2", "L2_Replacement"
SEED = 40
# Time, number and type of the controller, event, states before and after, address. Long names leave no space.
_ROW = re.compile(r"\s*(\d+)\s+(\d+)\s+(L1Cache|Directory)\s*(\w+)\s+(\w+)>\w+\s+\[(0x[0-9a-f]+)")


@dataclass(frozen=True)
class Seen:
    """What happened to a line during one access: it moved or left the L2 in a state of Ruby's, or it was written
    back."""

    access: int
    event: str
    line: int
    state: str = ""


def sample(machine: Machine, first_line: int, sets: int) -> Order:
    """Accesses that empty `sets` sets of the L2 of each core. No line is below `first_line`."""
    line_bytes, cores = machine.line_bytes, machine.processors.count // machine.processors.threads_per_core
    of_l2 = machine.l2.size // (machine.l2.ways * line_bytes)
    base = -(-first_line // of_l2) * of_l2
    fetches, loads = machine.l1i.ways, machine.l1d.ways + machine.l2.ways
    draw = np.random.default_rng(SEED)
    rows = []
    for core in range(cores):
        for number in draw.choice(of_l2, min(sets, of_l2), replace=False):
            for n in range(fetches + loads):
                line = base + (core * (fetches + loads) + n) * of_l2 + int(number)
                rows.append((core, Op.IFETCH if n < fetches else Op.LOAD, line))
    core, op, line = np.array(rows).T
    return make(core * machine.processors.threads_per_core, op, line)


def expected(order: Order, setup: Setup, begin: Begin) -> Iterator[Seen]:
    """The events that the model predicts."""
    for n, effect in enumerate(tool.steps(order, setup, begin)):
        for change in effect["moved"]:
            before, after, line = change["before"], change["after"], change["line"]
            state = before["state"]
            if before["where"] in ("L1I", "L1D"):
                yield Seen(n, MOVE, line, RUBY[state])
            if after["where"] == "":
                yield Seen(n, EVICT, line, RUBY[state])
                if state in WRITEBACK:
                    yield Seen(n, WRITEBACK[state], line)


def relevant(row: str) -> bool:
    """Whether the probe uses this row of gem5's protocol trace."""
    match = _ROW.match(row)
    return match is not None and match[4] in {MOVE, EVICT, *WRITEBACK.values()}


def observed(trace: Iterable[str], order: Order, setup: Setup) -> Iterator[Seen]:
    """The events in gem5's protocol trace."""
    cores = order["processor"] // setup.machine.processors.threads_per_core
    tick, line_bytes = order["tick"].astype(np.int64) + warm.CURRENT_TICK, setup.machine.line_bytes
    for row in trace:
        match = _ROW.match(row)
        if match is None or not relevant(row):
            continue
        when, version, controller, event, state, address = match.groups()
        access = int(np.searchsorted(tick, int(when), side="right")) - 1
        line = int(address, 16) // line_bytes
        if controller == "Directory":
            yield Seen(access, event, line)
        elif int(version) == cores[access]:
            yield Seen(access, event, line, state)


def compare(wanted: Iterable[Seen], found: Iterable[Seen]) -> list[Seen]:
    """The events that only one side has."""
    difference = Counter(wanted)
    difference.subtract(Counter(found))
    return sorted((seen for seen, count in difference.items() if count), key=lambda seen: seen.access)


def probe(begin: Begin, setup: Setup, gem5: Path, folder: Path, sets: int) -> tuple[dict[str, int], list[Seen]]:
    """Load the state into Ruby and read a sample of it. Returns the number of lines that were read, by place and state
    in the model, and the events that differ."""
    loaded = warm.prepare(begin, setup, folder)
    order = replay.spaced(sample(setup.machine, loaded.facts["lines"], sets), setup.machine)
    last = Begin(loaded.begin.state, int(order["line"].max()) + 1)
    wanted = list(expected(order, setup, last))
    replay.replay(order, setup.machine, gem5, folder, warm=loaded, transitions=True)
    with gzip.open(folder / "gem5" / replay.TRANSITIONS, "rt", encoding="utf-8", errors="replace") as trace:
        found = list(observed(trace, order, setup))
    return lines_read(wanted, order, begin.lines), compare(wanted, found)


def lines_read(wanted: Iterable[Seen], order: Order, lines: int) -> dict[str, int]:
    """The number of old lines that the probe reads, by the cache that held them and Ruby's state."""
    first: dict[tuple[int, int], str] = {}
    for seen in wanted:
        if seen.line < lines and seen.event in (MOVE, EVICT):
            place = "L1" if seen.event == MOVE else "L2"
            first.setdefault((int(order["processor"][seen.access]), seen.line), f"{place} {seen.state}")
    return dict(sorted(Counter(first.values()).items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gem5", type=Path)
    parser.add_argument("trace", type=Path, help="totally ordered trace or full capture")
    parser.add_argument("--first", type=int, required=True, help="accesses that warm the caches")
    parser.add_argument("--sets", type=int, default=150, help="sets of each L2 that are read")
    parser.add_argument("--machine", default="s80")
    parser.add_argument("--out", type=Path, help="folder that keeps the files")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="s80lab-") as name:
        folder = options.out or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        wanted = Wanted(options.machine, agree.PROTOCOL, tuple(options.settings), options.first, 1)
        source, begin = trace_source.load_warm(options.trace, wanted, folder / "begin.state")
        read, different = probe(begin, source.setup, options.gem5, folder, options.sets)
    for key, lines in read.items():
        print(f"{key}: {lines:,} lines read")
    print(f"{sum(read.values()):,} lines read in all; {len(different)} events differ")
    for seen in different[:20]:
        print(seen)


if __name__ == "__main__":
    main()

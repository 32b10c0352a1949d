# SPDX-License-Identifier: GPL-2.0-or-later
"""What it changes that gem5 asks for a block as a store when an instruction reads, modifies and writes it:

    python -m tests.gem5.read_modify_write CAPTURE/full.s80c MACHINE
    python -m tests.gem5.read_modify_write RUN/gem5/stats.txt

The first plays a full capture through the model as it is, and without the loads that their processor's next data
access, a store to the same line, follows at once (within the time of a miss): nearly all are of such an
instruction. That is what Ruby's sequencer makes of them on x86 (RMW_Read, Locked_RMW_Read). The second shows how
many of gem5's own misses they are, and who answered them. docs/background/engines.md has the answer.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from s80lab.config.machine import Machine
from s80lab.gem5.agree import agree
from s80lab.gem5.agree.categories import model_counts
from s80lab.gem5.stats import read_dumps
from s80lab.gem5.table import SYSTEM
from s80lab.trace import source as trace_source
from s80lab.trace import tool
from s80lab.trace.order import Op, Order
from s80lab.trace.source import Wanted

HISTOGRAM = "miss_type_mach_latency_hist_seqr::samples"


def merged(order: Order, machine: Machine) -> Order:
    """The accesses without the loads of instructions that store to what they have loaded."""
    latency = machine.latency
    cycles = latency.l2_hit + max(latency.memory, latency.cache) + latency.upgrade
    at_once = cycles * 10**12 // machine.processors.clock_hz
    keep = np.ones(len(order), dtype=bool)
    for processor in np.unique(order["processor"]):
        data: NDArray[np.intp] = np.flatnonzero((order["processor"] == processor) & (order["op"] != Op.IFETCH))
        first, second = order[data[:-1]], order[data[1:]]
        together = (first["op"] == Op.LOAD) & (second["op"] == Op.STORE) & (first["line"] == second["line"])
        keep[data[:-1][together & (second["tick"] - first["tick"] <= at_once)]] = False
    return order[keep]


def shares(counts: dict[str, int]) -> dict[str, float]:
    """Of Ruby's names: what the comparison of the engines shows."""
    stores, exclusive = counts["misses: stores"], counts["fills: E or D (Ruby's M)"]
    misses = stores + counts["misses: loads"] + counts["misses: fetches"]
    memory = sum(count for name, count in counts.items() if name.startswith("reads: from memory"))
    silent = sum(count for name, count in counts.items() if "silent E to M" in name)
    return {
        "misses serviced by memory": (memory + counts["stores: data from memory"]) / misses,
        "store misses serviced by memory": counts["stores: data from memory"] / stores,
        "misses that are stores": stores / misses,
        "store misses, of the load misses": stores / counts["misses: loads"],
        "E share of the fills": exclusive / (exclusive + counts["fills: S"] + counts["fills: MM"]),
        "E to M": silent / exclusive,
    }


def model_with_and_without(capture: Path, machine: str) -> None:
    source = trace_source.load(capture, Wanted(machine, agree.PROTOCOL))
    changed = merged(source.order, source.setup.machine)
    before, after = (
        shares(model_counts(tool.counts(order, source.setup), len(order))) for order in (source.order, changed)
    )
    print(f"{len(source.order) - len(changed)} of {len(source.order)} accesses left out")
    for name, value in before.items():
        print(f"{name}: {100 * value:.2f}% as recorded, {100 * after[name]:.2f}% with read-modify-write as stores")


def requests_of_gem5(stats: Path) -> None:
    misses: Counter[tuple[str, str]] = Counter()
    row = re.compile(rf"{re.escape(SYSTEM)}RequestTypeMachineType[.](\w+)[.](\w+)[.]{HISTOGRAM}")
    for dump in read_dumps(stats):
        for name, values in dump.rows.items():
            if match := row.fullmatch(name):
                misses[match[1], match[2]] += int(values[0])
    for request in sorted({request for request, _ in misses}):
        own = sum(count for (kind, _), count in misses.items() if kind == request)
        memory = misses[request, "Directory"]
        print(
            f"{request}: {100 * own / misses.total():.2f}% of the misses, {100 * memory / own:.1f}% of them by memory"
        )


if __name__ == "__main__":
    if len(sys.argv) == 2:
        requests_of_gem5(Path(sys.argv[1]))
    else:
        model_with_and_without(Path(sys.argv[1]), sys.argv[2])

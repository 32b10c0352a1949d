# SPDX-License-Identifier: GPL-2.0-or-later
"""Replays packet traces through a protocol of Ruby: gem5.fast -d OUT replay.py --machine FILE --traces FOLDER ...

FOLDER/cpuNN.trc is the trace of processor NN. A processor without a trace is idle. The script writes OUT/stats.txt.
When every access of every trace has been answered, it writes OUT/facts.json. With --warm, the first dump in stats.txt
counts the loading of the caches, and the second dump the traces.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import m5

sys.path.insert(0, str(Path(__file__).resolve().parent))

import library  # noqa: F401  (before gem5's standard library)
from facts import write_facts
from gem5.components.boards.test_board import TestBoard
from gem5.components.memory.simple import SingleChannelSimpleMemory
from gem5.components.processors.abstract_generator import AbstractGenerator
from gem5.components.processors.abstract_generator_core import AbstractGeneratorCore
from m5.objects import PyTrafficGen
from machine_file import MachineError, MachineFile
from release import instantiate, this_release

# Simulated time without a packet before a generator gives up; far above any spacing of accesses.
PATIENCE = "1000s"
# After the last packet was sent its answer, and the write-backs behind it, take less than this.
DRAIN_TICKS = 1_000_000_000


class TraceCore(AbstractGeneratorCore):
    """A processor that replays a packet trace, or is idle."""

    def __init__(self, trace: Path, outstanding: int) -> None:
        super().__init__()
        self.generator = PyTrafficGen(max_outstanding_reqs=outstanding, progress_check=PATIENCE)
        self._trace = trace if trace.is_file() else None

    def connect_dcache(self, port: Any) -> None:
        self.generator.port = port

    def requires_send_evicts(self) -> bool:
        return False

    def start_traffic(self) -> None:
        if self._trace is not None:
            self.generator.start(self._traffic())

    def _traffic(self) -> Iterator[Any]:
        yield self.generator.createTrace(0, str(self._trace))
        yield self.generator.createExit(0)


class TraceProcessor(AbstractGenerator):
    """One TraceCore for each processor of the machine."""

    def start_traffic(self) -> None:
        for core in self.get_cores():
            core.start_traffic()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", required=True, help="resolved machine file")
    parser.add_argument("--traces", required=True, type=Path, help="folder with the traces cpuNN.trc")
    parser.add_argument("--memory", required=True, type=int, help="size of guest-physical memory in bytes")
    parser.add_argument("--outstanding", type=int, default=1, help="outstanding accesses per processor")
    parser.add_argument("--warm", help="checkpoint with the contents of the caches")
    parser.add_argument("--first-controller", type=int, default=0, help="number of core 0 in the checkpoint's trace")
    parser.add_argument("--spares", type=int, default=0, help="spare cores that the checkpoint's trace uses")
    parser.add_argument("--spare-sets", type=int, default=2, help="sets of each cache of a spare core")
    parser.add_argument("--transitions", action="store_true", help="print each transition after the warm start")
    return parser.parse_args()


def watch_loading(*, transitions: bool) -> None:
    """gem5 loads the caches when the simulation begins, and then resets the statistics: dump them first. transitions:
    from then on, print each transition of the controllers."""
    if transitions and "ProtocolTrace" not in m5.debug.flags:
        raise MachineError("this gem5 prints no transitions, because it has no debug flags: use gem5.opt")
    reset, began = m5.stats.reset, time.monotonic()

    def dump_and_reset() -> None:
        print(f"note: the caches were loaded in {time.monotonic() - began:.0f} s")
        m5.stats.reset = reset
        m5.stats.dump()
        reset()
        if transitions:
            m5.debug.flags["ProtocolTrace"].enable()

    m5.stats.reset = dump_and_reset


def hierarchy(machine: MachineFile, options: argparse.Namespace) -> Any:
    """The caches of the machine. A gem5 need not have the other protocols."""
    if machine.protocol == "hammer":
        from hammer import HammerHierarchy, Spares

        return HammerHierarchy(machine, Spares(options.spares, options.spare_sets, options.first_controller))
    from three_level import ThreeLevelHierarchy

    return ThreeLevelHierarchy(machine)


def main() -> None:
    options = arguments()
    machine = MachineFile.load(options.machine)
    cores = [TraceCore(options.traces / f"cpu{p:02}.trc", options.outstanding) for p in range(machine.processors)]
    board = TestBoard(
        clk_freq=f"{machine.clock_hz}Hz",
        generator=TraceProcessor(cores),
        # The directory's own latency stands for memory's (machine file). It keeps the data: gem5.opt compares what
        # it sends with a cache's copy.
        memory=SingleChannelSimpleMemory("1ns", "0ns", "1000GiB/s", f"{options.memory}B"),
        cache_hierarchy=hierarchy(machine, options),
    )
    board.cache_line_size = machine.line_bytes
    for note in machine.notes():
        print(f"note: {note}")

    if options.warm:
        watch_loading(transitions=options.transitions)
    instantiate(board, full_system=False, checkpoint=options.warm)
    for _ in range(sum(core._trace is not None for core in cores)):
        cause = m5.simulate().getCause()
        if this_release().exits.generator not in cause:
            raise MachineError(f"the replay ended early: {cause}")
    m5.simulate(DRAIN_TICKS)
    m5.stats.dump()

    write_facts(machine, outstanding=options.outstanding)


try:
    main()
except MachineError as error:
    print(f"replay.py: {error}", file=sys.stderr)
    sys.exit(1)

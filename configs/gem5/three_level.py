# SPDX-License-Identifier: GPL-2.0-or-later
"""The caches of a machine file in gem5's MESI_Three_Level. gem5 counts levels from 0: its L0s are the model's L1I and
L1D, its private L1 is the L2, and its shared inclusive L2 is the last-level cache.

gem5 must be built with the protocol MESI_Three_Level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gem5.components.boards.abstract_board import AbstractBoard
from hierarchy import RubyHierarchy, connect, make_cache, make_sequencer
from m5.objects import MessageBuffer, RubyDirectoryMemory, RubyPrefetcher
from machine_file import MachineError
from release import controller, this_release

PROTOCOL = "MESI_Three_Level"


class ThreeLevelHierarchy(RubyHierarchy):
    """MESI_Three_Level with one slice of the last-level cache, without devices."""

    _protocol = PROTOCOL
    _virtual_networks = 3

    def _controllers(self, board: AbstractBoard, cores: Sequence[Sequence[Any]]) -> list[Any]:
        machine, ruby, clock = self._machine, self.ruby_system, board.get_clock_domain()
        if machine.llc is None:
            raise MachineError(f"machine {machine.name} has no [llc], which {PROTOCOL} needs")
        block = this_release().directory_memory(machine.line_bytes)
        l1s, l2s = [], []
        for version, threads in enumerate(cores):
            l1 = controller("L0Cache", PROTOCOL)(
                version=version,
                ruby_system=ruby,
                clk_domain=clock,
                Icache=make_cache(machine, machine.l1i, instructions=True),
                Dcache=make_cache(machine, machine.l1d),
                prefetcher=RubyPrefetcher(**block),
                send_evictions=any(thread.requires_send_evicts() for thread in threads),
            )
            l1.sequencer = make_sequencer(version, ruby, clock, l1.Dcache)
            self._connect_core(board, l1.sequencer, threads)
            for name in ("mandatoryQueue", "prefetchQueue"):
                setattr(l1, name, MessageBuffer())
            l1.bufferToL1, l1.bufferFromL1 = MessageBuffer(ordered=True), MessageBuffer(ordered=True)
            l2 = controller("L1Cache", PROTOCOL)(
                version=version,
                ruby_system=ruby,
                clk_domain=clock,
                cache=make_cache(machine, machine.l2),
                l2_select_num_bits=0,
                cluster_id=0,
            )
            l2.bufferFromL0, l2.bufferToL0 = l1.bufferToL1, l1.bufferFromL1
            connect(
                l2,
                ruby,
                to=("requestToL2", "responseToL2", "unblockToL2"),
                come=("requestFromL2", "responseFromL2"),
            )
            l1s.append(l1)
            l2s.append(l2)
        llc = controller("L2Cache", PROTOCOL)(
            version=0, ruby_system=ruby, clk_domain=clock, cluster_id=0, L2cache=make_cache(machine, machine.llc)
        )
        connect(
            llc,
            ruby,
            to=("DirRequestFromL2Cache", "L1RequestFromL2Cache", "responseFromL2Cache"),
            come=("unblockToL2Cache", "L1RequestToL2Cache", "responseToL2Cache"),
        )
        directories = []
        for version, (memory_range, port) in enumerate(board.get_mem_ports()):
            directory = controller("Directory", PROTOCOL)(
                version=version,
                ruby_system=ruby,
                addr_ranges=[memory_range],
                directory=RubyDirectoryMemory(**block),
            )
            directory.memory_out_port = port
            connect(directory, ruby, to=("responseFromDir",), come=("requestToDir", "responseToDir"))
            directory.requestToMemory, directory.responseFromMemory = MessageBuffer(), MessageBuffer()
            directories.append(directory)
        ruby.l0_controllers, ruby.l1_controllers, ruby.l2_controllers = l1s, l2s, [llc]
        ruby.directory_controllers = directories
        return [*l1s, *l2s, llc, *directories]

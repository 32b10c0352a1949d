# SPDX-License-Identifier: GPL-2.0-or-later
"""The caches of a machine file in gem5's Ruby: one private MOESI_hammer controller per core (L1I, L1D, exclusive L2),
and directories.

gem5 must be built with the protocol MOESI_hammer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gem5.components.boards.abstract_board import AbstractBoard
from hierarchy import RubyHierarchy, connect, make_cache, make_sequencer
from m5.objects import DMASequencer, MessageBuffer, RubyController, RubyDirectoryMemory, RubySystem
from machine_file import Geometry, MachineError, MachineFile
from release import controller, this_release

# Cycles of an uncontended transaction beside the part that the machine file's latency sets (measured: links and
# routers of SimplePt2Pt, fixed latencies of the controllers), so that a load stalls as long as the file says.
DIRECTORY_PATH = 13
FORWARD_PATH = 22


class CoreController(controller("L1Cache")):
    """The caches of one core, and the sequencer to which its processors' ports are connected."""

    def __init__(self, version: int, machine: MachineFile, ruby: RubySystem, clock: Any, send_evictions: bool) -> None:
        super().__init__(
            version=version,
            ruby_system=ruby,
            clk_domain=clock,
            L1Icache=make_cache(machine, machine.l1i, instructions=True),
            L1Dcache=make_cache(machine, machine.l1d),
            L2cache=make_cache(machine, machine.l2),
            l2_cache_hit_latency=max(1, machine.latency.l2_hit),
            cache_response_latency=max(1, machine.latency.cache - FORWARD_PATH),
            send_evictions=send_evictions,
        )
        self.sequencer = make_sequencer(version, ruby, clock, self.L1Dcache)
        connect(
            self,
            ruby,
            to=("requestFromCache", "responseFromCache", "unblockFromCache"),
            come=("forwardToCache", "responseToCache"),
        )
        self.triggerQueue = MessageBuffer()
        self.mandatoryQueue = MessageBuffer()


class MemoryController(controller("Directory")):
    """The directory in front of one range of memory. Without a probe filter it probes every cache."""

    def __init__(self, version: int, machine: MachineFile, ruby: RubySystem, memory_range: Any, port: Any) -> None:
        super().__init__(
            version=version,
            ruby_system=ruby,
            addr_ranges=[memory_range],
            directory=RubyDirectoryMemory(**this_release().directory_memory(machine.line_bytes)),
            # The protocol names a probe filter even where it is off.
            probeFilter=make_cache(machine, machine.filter_geometry),
            probe_filter_enabled=machine.filtered,
            full_bit_dir_enabled=False,
            to_memory_controller_latency=max(1, machine.latency.memory - DIRECTORY_PATH),
        )
        self.memory_out_port = port
        connect(
            self,
            ruby,
            to=("forwardFromDir", "responseFromDir"),
            come=("unblockToDir", "responseToDir", "requestToDir"),
        )
        connect(self, ruby, to=("dmaResponseFromDir",), come=("dmaRequestToDir",), ordered=True)
        self.triggerQueue = MessageBuffer(ordered=True)
        self.requestToMemory = MessageBuffer()
        self.responseFromMemory = MessageBuffer()


class DmaController(controller("DMA")):
    """The path of one device to memory."""

    def __init__(self, version: int, ruby: RubySystem, port: Any) -> None:
        super().__init__(
            version=version,
            ruby_system=ruby,
            dma_sequencer=DMASequencer(version=version, ruby_system=ruby, in_ports=port),
        )
        self.mandatoryQueue = MessageBuffer()
        self.requestToDir = MessageBuffer(out_port=ruby.network.in_port)
        self.responseFromDir = MessageBuffer(ordered=True, in_port=ruby.network.out_port)


@dataclass(frozen=True)
class Spares:
    """Additional cores without processors, with direct-mapped caches of a few sets. They help to load warm caches
    (src/warm/plan.h)."""

    cores: int = 0
    sets: int = 2
    first: int = 0
    """The number of core 0's controller in a checkpoint's cache trace. The other cores and the spare cores follow."""

    def machine(self, machine: MachineFile) -> MachineFile:
        """The machine with the caches of a spare core."""
        cache = Geometry(self.sets * machine.line_bytes, 1)
        return replace(machine, l1i=cache, l1d=cache, l2=cache)

    def require_numbers(self, ruby: RubySystem, controllers: Sequence[CoreController]) -> None:
        """MachineError if Ruby will not number these controllers from `first` on. Ruby numbers controllers in the order
        in which gem5 creates them, which is the order of their names."""
        numbered = [node for node in ruby.descendants() if isinstance(node, RubyController)]
        if numbered[self.first : self.first + len(controllers)] != list(controllers):
            raise MachineError("this gem5 numbers Ruby's controllers in another order, so warm caches cannot be loaded")


class HammerHierarchy(RubyHierarchy):
    """MOESI_hammer: one private controller per core, and a directory for each range of memory."""

    _protocol = "MOESI_hammer"
    _virtual_networks = 6

    def __init__(self, machine: MachineFile, spares: Spares = Spares()) -> None:
        super().__init__(machine)
        self._spares = spares

    def _controllers(self, board: AbstractBoard, cores: Sequence[Sequence[Any]]) -> list[Any]:
        machine, ruby = self._machine, self.ruby_system
        caches = [self._core(board, version, threads) for version, threads in enumerate(cores)]
        spares = [
            CoreController(len(caches) + n, self._spares.machine(machine), ruby, board.get_clock_domain(), False)
            for n in range(self._spares.cores)
        ]
        directories = [
            MemoryController(version, machine, ruby, memory_range, port)
            for version, (memory_range, port) in enumerate(board.get_mem_ports())
        ]
        ports = board.get_dma_ports() if board.has_dma_ports() else []
        devices = [DmaController(version, ruby, port) for version, port in enumerate(ports)]

        ruby.l1_controllers = caches
        ruby.directory_controllers = directories
        if spares:
            ruby.spare_controllers = spares
        if devices:
            ruby.dma_controllers = devices
        if spares:
            self._spares.require_numbers(ruby, [*caches, *spares])
        return [*caches, *spares, *directories, *devices]

    def _core(self, board: AbstractBoard, version: int, threads: Sequence[Any]) -> CoreController:
        core = CoreController(
            version,
            self._machine,
            self.ruby_system,
            board.get_clock_domain(),
            any(thread.requires_send_evicts() for thread in threads),
        )
        self._connect_core(board, core.sequencer, threads)
        return core

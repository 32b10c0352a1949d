# SPDX-License-Identifier: GPL-2.0-or-later
"""The caches of a machine file in gem5's Ruby: one private MOESI_hammer controller per core (L1I, L1D, exclusive L2),
directories, and an all-to-all network. It is a cache hierarchy of gem5's standard library, and any board takes it.

gem5 must be built with the protocol MOESI_hammer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gem5.coherence_protocol import CoherenceProtocol
from gem5.components.boards.abstract_board import AbstractBoard
from gem5.components.cachehierarchies.abstract_cache_hierarchy import AbstractCacheHierarchy
from gem5.components.cachehierarchies.ruby.abstract_ruby_cache_hierarchy import AbstractRubyCacheHierarchy
from gem5.components.cachehierarchies.ruby.topologies.simple_pt2pt import SimplePt2Pt
from gem5.isas import ISA
from gem5.utils.override import overrides
from m5.objects import (
    LRURP,
    DMASequencer,
    MessageBuffer,
    RandomRP,
    RubyCache,
    RubyController,
    RubyDirectoryMemory,
    RubyPortProxy,
    RubySequencer,
    RubySystem,
    TreePLRURP,
)
from machine_file import Geometry, MachineError, MachineFile
from release import controller, this_release

VIRTUAL_NETWORKS = 6
# Cycles of an uncontended transaction beside the part that the machine file's latency sets (measured: links and
# routers of SimplePt2Pt, fixed latencies of the controllers), so that a load stalls as long as the file says.
DIRECTORY_PATH = 13
FORWARD_PATH = 22
# As in gem5's own configuration of the protocol.
PROBE_FILTER_WAYS = 4
# A request may wait behind many others when traces are replayed without their processors.
DEADLOCK_CYCLES = 50_000_000


def _cache(machine: MachineFile, geometry: Geometry, *, instructions: bool = False) -> RubyCache:
    policies = {"lru": LRURP, "random": RandomRP, "plru": lambda: TreePLRURP(num_leaves=geometry.ways)}
    return RubyCache(
        size=f"{geometry.size}B",
        assoc=geometry.ways,
        start_index_bit=machine.line_bytes.bit_length() - 1,
        is_icache=instructions,
        replacement_policy=policies[machine.policy](),
    )


class CoreController(controller("L1Cache")):
    """The caches of one core, and the sequencer to which its processors' ports are connected."""

    def __init__(self, version: int, machine: MachineFile, ruby: RubySystem, clock: Any, send_evictions: bool) -> None:
        super().__init__(
            version=version,
            ruby_system=ruby,
            clk_domain=clock,
            L1Icache=_cache(machine, machine.l1i, instructions=True),
            L1Dcache=_cache(machine, machine.l1d),
            L2cache=_cache(machine, machine.l2),
            l2_cache_hit_latency=max(1, machine.latency.l2_hit),
            cache_response_latency=max(1, machine.latency.cache - FORWARD_PATH),
            send_evictions=send_evictions,
        )
        self.sequencer = RubySequencer(
            version=version,
            ruby_system=ruby,
            clk_domain=clock,
            dcache=self.L1Dcache,
            deadlock_threshold=DEADLOCK_CYCLES,
        )
        network = ruby.network
        for name in ("requestFromCache", "responseFromCache", "unblockFromCache"):
            setattr(self, name, MessageBuffer(out_port=network.in_port))
        for name in ("forwardToCache", "responseToCache"):
            setattr(self, name, MessageBuffer(in_port=network.out_port))
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
            probeFilter=RubyCache(
                size=f"{machine.probe_filter or PROBE_FILTER_WAYS * 1024}B",
                assoc=PROBE_FILTER_WAYS,
                start_index_bit=machine.line_bytes.bit_length() - 1,
            ),
            probe_filter_enabled=machine.probe_filter > 0,
            full_bit_dir_enabled=False,
            to_memory_controller_latency=max(1, machine.latency.memory - DIRECTORY_PATH),
        )
        self.memory_out_port = port
        network = ruby.network
        for name in ("forwardFromDir", "responseFromDir"):
            setattr(self, name, MessageBuffer(out_port=network.in_port))
        self.dmaResponseFromDir = MessageBuffer(ordered=True, out_port=network.in_port)
        for name in ("unblockToDir", "responseToDir", "requestToDir"):
            setattr(self, name, MessageBuffer(in_port=network.out_port))
        self.dmaRequestToDir = MessageBuffer(ordered=True, in_port=network.out_port)
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


class HammerHierarchy(AbstractRubyCacheHierarchy):
    """The caches of a machine file. The board has one processor for each hardware thread of the machine. Neighbouring
    threads share a core's caches."""

    def __init__(self, machine: MachineFile, spares: Spares = Spares()) -> None:
        super().__init__()
        self._machine = machine
        self._spares = spares

    def get_coherence_protocol(self) -> CoherenceProtocol:
        """gem5 asks for it since 24.1; its own name for MOESI_hammer has changed."""
        return next(protocol for protocol in CoherenceProtocol if protocol.name.endswith("MOESI_HAMMER"))

    @overrides(AbstractCacheHierarchy)
    def incorporate_cache(self, board: AbstractBoard) -> None:
        machine = self._machine
        processors = board.get_processor().get_cores()
        if len(processors) != machine.processors:
            raise MachineError(
                f"the board has {len(processors)} processors, machine {machine.name} has {machine.processors}"
            )
        if int(board.get_cache_line_size()) != machine.line_bytes:
            raise MachineError(
                f"the board's lines have {board.get_cache_line_size()} bytes, machine {machine.name}'s "
                f"{machine.line_bytes}"
            )

        ruby = self.ruby_system = RubySystem(
            block_size_bytes=machine.line_bytes, number_of_virtual_networks=VIRTUAL_NETWORKS
        )
        ruby.network = SimplePt2Pt(ruby)
        ruby.network.number_of_virtual_networks = VIRTUAL_NETWORKS

        caches = [
            self._core(board, version, processors[first : first + machine.threads_per_core])
            for version, first in enumerate(range(0, machine.processors, machine.threads_per_core))
        ]
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
        ruby.num_of_sequencers = len(caches) + len(spares) + len(devices)
        if spares:
            self._spares.require_numbers(ruby, [*caches, *spares])
        # A node's number is its place in this list: caches, directories, devices, as the protocol counts machines.
        ruby.network.connectControllers([*caches, *spares, *directories, *devices])
        ruby.network.setup_buffers()
        ruby.sys_port_proxy = RubyPortProxy(ruby_system=ruby)
        board.connect_system_port(ruby.sys_port_proxy.in_ports)

    def _core(self, board: AbstractBoard, version: int, threads: Sequence[Any]) -> CoreController:
        controller = CoreController(
            version,
            self._machine,
            self.ruby_system,
            board.get_clock_domain(),
            any(thread.requires_send_evicts() for thread in threads),
        )
        sequencer = controller.sequencer
        if board.has_io_bus():
            sequencer.connectIOPorts(board.get_io_bus())
        for thread in threads:
            thread.connect_icache(sequencer.in_ports)
            thread.connect_dcache(sequencer.in_ports)
            thread.connect_walker_ports(sequencer.in_ports, sequencer.in_ports)
            if board.get_processor().get_isa() == ISA.X86:
                thread.connect_interrupt(sequencer.interrupt_out_port, sequencer.in_ports)
            else:
                thread.connect_interrupt()
        return controller

# SPDX-License-Identifier: GPL-2.0-or-later
"""What the hierarchies of all protocols have in common: caches, sequencers, directories, devices, and an all-to-all
network. Each is a cache hierarchy of gem5's standard library, and any board takes it."""

from __future__ import annotations

from collections.abc import Sequence
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
    MessageBuffer,
    RandomRP,
    RubyCache,
    RubyPortProxy,
    RubySequencer,
    RubySystem,
    TreePLRURP,
)
from machine_file import Geometry, MachineError, MachineFile

# A request may wait behind many others when traces are replayed without their processors.
DEADLOCK_CYCLES = 50_000_000


def make_cache(machine: MachineFile, geometry: Geometry, *, instructions: bool = False) -> RubyCache:
    policies = {"lru": LRURP, "random": RandomRP, "plru": lambda: TreePLRURP(num_leaves=geometry.ways)}
    return RubyCache(
        size=f"{geometry.size}B",
        assoc=geometry.ways,
        start_index_bit=machine.line_bytes.bit_length() - 1,
        is_icache=instructions,
        replacement_policy=policies[geometry.policy or machine.policy](),
    )


def make_sequencer(version: int, ruby: RubySystem, clock: Any, dcache: RubyCache) -> RubySequencer:
    return RubySequencer(
        version=version, ruby_system=ruby, clk_domain=clock, dcache=dcache, deadlock_threshold=DEADLOCK_CYCLES
    )


def connect(controller: Any, ruby: RubySystem, to: Sequence[str], come: Sequence[str], ordered: bool = False) -> None:
    """Give the controller message buffers to the network and from the network."""
    for name in to:
        setattr(controller, name, MessageBuffer(ordered=ordered, out_port=ruby.network.in_port))
    for name in come:
        setattr(controller, name, MessageBuffer(ordered=ordered, in_port=ruby.network.out_port))


class RubyHierarchy(AbstractRubyCacheHierarchy):
    """The caches of a machine file. The board has one processor for each hardware thread of the machine. Neighbouring
    threads share a core's caches."""

    # gem5 takes a public attribute of a class for a parameter.
    _protocol: str
    _virtual_networks: int

    def __init__(self, machine: MachineFile) -> None:
        super().__init__()
        self._machine = machine

    def get_coherence_protocol(self) -> CoherenceProtocol:
        """gem5 asks for it since 24.1; its own name for MOESI_hammer has changed."""
        return next(one for one in CoherenceProtocol if one.name.endswith(self._protocol.upper()))

    def _controllers(self, board: AbstractBoard, cores: Sequence[Sequence[Any]]) -> list[Any]:
        """Make all controllers, in the order of their types in the protocol. cores: the processors of each core."""
        raise NotImplementedError

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
            block_size_bytes=machine.line_bytes, number_of_virtual_networks=self._virtual_networks
        )
        ruby.network = SimplePt2Pt(ruby)
        ruby.network.number_of_virtual_networks = self._virtual_networks

        threads = machine.threads_per_core
        cores = [processors[first : first + threads] for first in range(0, machine.processors, threads)]
        nodes = self._controllers(board, cores)
        ruby.num_of_sequencers = sum(hasattr(node, "sequencer") or hasattr(node, "dma_sequencer") for node in nodes)
        # A node's number is its place in this list.
        ruby.network.connectControllers(nodes)
        ruby.network.setup_buffers()
        ruby.sys_port_proxy = RubyPortProxy(ruby_system=ruby)
        board.connect_system_port(ruby.sys_port_proxy.in_ports)

    def _connect_core(self, board: AbstractBoard, sequencer: RubySequencer, threads: Sequence[Any]) -> None:
        """Connect the processors of a core to its sequencer."""
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

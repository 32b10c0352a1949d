# SPDX-License-Identifier: GPL-2.0-or-later
"""Data values of a stepped trace, and the invariants that an access violates.

The n-th store to a block writes value n; memory begins with value 0. Data move as in the proof of a protocol
(`s80lab.protocol.murphi`): from the supplier or from memory, and to memory where a cell of the table writes back.
"""

from __future__ import annotations

from typing import Any

from s80lab.protocol.laws import LAST_WRITE, Fault, Snapshot, cell_fault, cell_faults, stale_read, state_faults
from s80lab.protocol.table import Access, Protocol
from s80lab.trace.order import Op
from s80lab.trace.tool import Impossible

EVENT: dict[str, Access] = {"ifetch": "fetch", "load": "load", "store": "store", "walk": "load"}
"""The event of the protocol's table, by the kind of an access."""


class Values:
    """Follows the values of all blocks. The steps are those of `s80lab.trace.tool.steps`, from cold caches on."""

    def __init__(self, protocol: Protocol, cores: int) -> None:
        self._protocol = protocol
        self._cores = cores
        self._faulty = cell_faults(protocol)
        self._blocks: dict[int, Snapshot] = {}
        self._violated: dict[int, frozenset[str]] = {}

    def block(self, line: int) -> Snapshot:
        """The values of a line at present."""
        if line not in self._blocks:
            self._blocks[line] = Snapshot([self._protocol.invalid] * self._cores, [0] * self._cores, 0, 0)
        return self._blocks[line]

    def play(self, step: dict[str, Any]) -> list[tuple[int, Fault]]:
        """Moves the values as the access does. Returns the invariants that it violates, each with its line.

        An invariant that was violated before the access does not count, except that each load of a stale value does.
        """
        line, core = step["line"], step["core"]
        lines = dict.fromkeys([*(change["line"] for change in step["moved"]), line])
        for change in step["moved"]:
            self._move(change)
        faults = [(line, fault) for fault in self._access(step)]
        for one in lines:
            now = list(state_faults(self._protocol, self.block(one)))
            known = self._violated.get(one, frozenset())
            faults += [(one, fault) for fault in now if fault.law not in known]
            self._violated[one] = frozenset(fault.law for fault in now)
        block = self.block(line)
        stale = EVENT[step["op"]] != "store" and block.values[core] != block.last_write
        if stale and not any(one == line and fault.law == LAST_WRITE for one, fault in faults):
            faults.append((line, stale_read(core, block.states[core], block)))
        return faults

    def impossible(self, op: str, line: int, core: int, stop: Impossible) -> tuple[int, Fault]:
        """The violation by an access that reached an impossible cell, with the line of this cell."""
        if stop.side == "own eviction":
            places = [f"own.evict.{stop.state}"]
        elif stop.side == "remote request":
            # The second row is for a block that was evicted before it was found.
            held = (self.block(line).states[core], self._protocol.invalid)
            row = self._protocol.access_row(EVENT[op])
            places = [f"remote.{row[state].bus}.{stop.state}" for state in held]
        else:
            places = [f"own.{EVENT[op]}.{stop.state}"]
        place = next(one for one in places if one in self._faulty)
        return stop.line, cell_fault(self._protocol, place, core, self.block(stop.line).states)

    def _move(self, change: dict[str, Any]) -> None:
        """Another place in the core's caches, or an eviction."""
        block, core = self.block(change["line"]), change["core"]
        if not change["after"]["where"] and self._protocol.own.evict[change["before"]["state"]].writeback:
            block.memory = block.values[core]
        block.states[core] = change["after"]["state"]

    def _access(self, step: dict[str, Any]) -> list[Fault]:
        """Moves the accessed block's values. Returns the faulty cells that the access reached."""
        block, core, bus, supplier = self.block(step["line"]), step["core"], step["bus"], step["supplier"]
        before = list(block.states)
        data = None if supplier is None else block.values[supplier]
        for change in step["remote"]:
            other, state = change["core"], change["before"]["state"]
            if bus != "none" and self._protocol.remote_row(bus)[state].writeback:
                block.memory = block.values[other]
            block.states[other] = change["after"]["state"]
        if data is None and step["missed"]:
            data = block.memory
        if data is not None:
            block.values[core] = data
        block.states[core] = step["after"]["state"]

        place = f"own.{EVENT[step['op']]}.{step['before']['state']}"
        places = [place]
        if step["op"] == "store":
            if place not in self._faulty:
                places.append(self._end(step, before))
                if bus != "none" and block.values[core] != block.last_write:
                    places.append(f"{place}.filled")
            block.last_write += 1
            block.values[core] = block.last_write
        return [cell_fault(self._protocol, one, core, before) for one in places if one in self._faulty]

    def _end(self, step: dict[str, Any], before: list[str]) -> str:
        """The place in the table that decides in which state a store ends."""
        state, bus, supplier = step["before"]["state"], step["bus"], step["supplier"]
        if supplier is not None and self._protocol.remote_row(bus)[before[supplier]].gives:
            return f"remote.{bus}.{before[supplier]}.gives"
        cell = self._protocol.own.store[state]
        branch = "next" if cell.next else "alone" if step["after"]["state"] == cell.when_alone else "shared"
        return f"own.store.{state}.{branch}"


assert set(EVENT) == {op.name.lower() for op in Op}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Data values of a stepped trace, and the invariants that an access violates.

The n-th store to a block writes value n; memory begins with value 0. Data move as in the proof of a protocol
(`s80lab.protocol.murphi`): from the supplier or from memory, and to memory where a cell of the table writes back.
"""

from __future__ import annotations

from collections.abc import Mapping
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
        self._homed = False  # a bus may play a [home] that needs no more than a flag for each line

    def block(self, line: int) -> Snapshot:
        """The values of a line at present."""
        if line not in self._blocks:
            home = (self._protocol.home.absent, 0) if self._protocol.home and self._homed else None
            self._blocks[line] = Snapshot([self._protocol.invalid] * self._cores, [0] * self._cores, 0, 0, home)
        return self._blocks[line]

    def play(self, step: dict[str, Any]) -> list[tuple[int, Fault]]:
        """Moves the values as the access does. Returns the invariants that it violates, each with its line.

        An invariant that was violated before the access does not count, except that each load of a stale value does.
        """
        line, core, at_home = step["line"], step["core"], step.get("home", [])
        moves = step.get("group", [])
        lines = dict.fromkeys([*(change["line"] for change in (*step["moved"], *at_home, *moves)), line])
        self._homed = "home" in step
        gave = {(change["core"], change["line"]): change["before"]["state"] for change in step["moved"]}
        gave |= {(move["from"], move["line"]): move["state"] for move in moves if move["to"] is None}
        to_group = {(move["from"], move["line"]) for move in moves if move["to"] is not None}
        for change in step["moved"]:
            self._move(change, (change["core"], change["line"]) in to_group)
        for move in moves:
            self._move_of_group(move)
        if step.get("from_group"):  # the access then applies as if the core had held the block
            step = step | {"missed": False, "before": {"state": self.block(line).states[core]}}
        faults: list[tuple[int, Fault]] = []
        # A cell of the home that concerns the accessed line may come before the access or after it.
        for cell in (*at_home, *([] if any(map(_is_request, at_home)) else [None])):
            if cell is None or _is_request(cell):
                faults += [(line, fault) for fault in self._access(step, cell)]
            else:
                faults += [(cell["line"], fault) for fault in self._at_home(cell, gave)]
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
        elif stop.side == "recall":
            places = [f"remote.recall.{stop.state}"]
        elif stop.side.startswith("home."):
            # Without a row of its own, a fetch is a read at the home.
            places = [f"{stop.side}.{stop.state}", f"home.read.{stop.state}"]
        else:
            places = [f"own.{EVENT[op]}.{stop.state}"]
        place = next(one for one in places if one in self._faulty)
        return stop.line, cell_fault(self._protocol, place, core, self.block(stop.line).states)

    def _move_of_group(self, move: dict[str, Any]) -> None:
        """A move between a core and its group cache, or an eviction from the group cache."""
        block, giver, taker = self.block(move["line"]), move["from"], move["to"]
        if taker is not None:
            block.states[taker], block.values[taker] = move["state"], block.values[giver]
        elif self._protocol.own.evict[move["state"]].writeback and not self._homed:
            block.memory = block.values[giver]
        block.states[giver] = self._protocol.invalid

    def _move(self, change: dict[str, Any], to_group: bool) -> None:
        """Another place in the core's caches, or an eviction. to_group: the block moves to the group cache."""
        block, core = self.block(change["line"]), change["core"]
        if to_group:
            return
        written = not change["after"]["where"] and self._protocol.own.evict[change["before"]["state"]].writeback
        if written and not self._homed:
            block.memory = block.values[core]
        block.states[core] = change["after"]["state"]

    def _at_home(self, cell: dict[str, Any], gave: Mapping[tuple[int, int], str]) -> list[Fault]:
        """A put, a displacement or a recall. gave: the states of the copies that left a core, by core and line.

        Returns the faulty cells that it reached.
        """
        reached = []
        home, block = self._protocol.home, self.block(cell["line"])
        assert home is not None and block.home is not None
        _, value = block.home
        written = None
        if cell["event"].startswith("put."):
            # The copy has left the core, and its value is still there.
            given = block.values[cell["core"]]
            writes = self._protocol.own.evict[gave[cell["core"], cell["line"]]].writeback
            written = given if writes else None
            value = value if home.states[cell["before"]].data else given
        else:
            row = home.displace if cell["event"] == "displace" else home.recall
            if row is not None and row[cell["before"]].writeback:
                block.memory = value
            for change in cell["recalled"]:
                state = change["before"]["state"]
                recalled = (self._protocol.remote.recall or {})[state]
                reached.append(f"remote.recall.{state}.next")
                if recalled.writeback:
                    written = block.values[change["core"]]
                block.states[change["core"]] = self._protocol.invalid
        self._take(block, cell["after"], value, written)
        return [cell_fault(self._protocol, place, None, block.states) for place in reached if place in self._faulty]

    def _take(self, block: Snapshot, after: str, value: int, written: int | None) -> None:
        """The home's next state. Data that a private cache wrote back go into the last-level cache if the state has
        data, else to memory."""
        assert self._protocol.home is not None
        data = value if written is None else written
        if written is not None and not self._protocol.home.states[after].data:
            block.memory = written
        block.home = (after, data if self._protocol.home.states[after].data else 0)

    def _access(self, step: dict[str, Any], cell: dict[str, Any] | None) -> list[Fault]:
        """Moves the accessed block's values. Returns the faulty cells that the access reached."""
        block, core, bus, supplier = self.block(step["line"]), step["core"], step["bus"], step["supplier"]
        before = list(block.states)
        data = None if supplier is None else block.values[supplier]
        written = None
        home = self._protocol.home
        row = home.request_row(cell["event"]) if cell is not None and home is not None else {}
        if cell is not None and block.home is not None and getattr(row[cell["before"]], "writeback", False):
            block.memory = block.home[1]
        for change in step["remote"]:
            other, state = change["core"], change["before"]["state"]
            if bus != "none" and self._protocol.remote_row(bus)[state].writeback:
                written = block.values[other]
            block.states[other] = change["after"]["state"]
        if written is not None and cell is None:
            block.memory = written
        if data is None and step["missed"]:
            data = block.home[1] if step.get("from_llc") and block.home is not None else block.memory
        if cell is not None and home is not None and block.home is not None:
            kept = data is None or home.states[cell["before"]].data
            self._take(block, cell["after"], block.home[1] if kept else data or 0, written)
        if data is not None:
            block.values[core] = data
        block.states[core] = step["after"]["state"]

        place = f"own.{EVENT[step['op']]}.{step['before']['state']}"
        places = [place]
        if step["op"] == "store":
            if place not in self._faulty:
                places.append(self._end(step, cell, before))
                if bus != "none" and block.values[core] != block.last_write:
                    places.append(f"{place}.filled")
            block.last_write += 1
            block.values[core] = block.last_write
        return [cell_fault(self._protocol, one, core, before) for one in places if one in self._faulty]

    def _end(self, step: dict[str, Any], at_home: dict[str, Any] | None, before: list[str]) -> str:
        """The place in the table that decides in which state a store ends."""
        state, bus, supplier = step["before"]["state"], step["bus"], step["supplier"]
        if supplier is not None and self._protocol.remote_row(bus)[before[supplier]].gives:
            return f"remote.{bus}.{before[supplier]}.gives"
        home = self._protocol.home
        if at_home is not None and home is not None and step["from_llc"] and home.rfo[at_home["before"]].gives:
            return f"home.rfo.{at_home['before']}.gives"
        cell = self._protocol.own.store[state]
        branch = "next" if cell.next else "alone" if step["after"]["state"] == cell.when_alone else "shared"
        return f"own.store.{state}.{branch}"


def _is_request(cell: dict[str, Any]) -> bool:
    return cell["event"] in ("read", "fetch", "rfo", "upgrade")


assert set(EVENT) == {op.name.lower() for op in Op}

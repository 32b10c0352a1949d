# SPDX-License-Identifier: GPL-2.0-or-later
"""A coherence protocol: the table in a file, as strictly read as by the model (src/model/protocol_load.cpp)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, StrictBool, StrictStr, StringConstraints, model_validator

from s80lab.base import paths
from s80lab.base.strict import Strict, find_or_file, load

Text = Annotated[StrictStr, StringConstraints(min_length=1)]
Access = Literal["load", "fetch", "store"]
Bus = Literal["read", "rfo", "upgrade"]
ACCESSES: tuple[Access, ...] = get_args(Access)
BUS: tuple[Bus, ...] = get_args(Bus)
MAX_STATES = 8


class State(Strict):
    """A stable state. counts_as: its class in the statistics; writable: an L1 may store without asking the L2."""

    description: Text
    counts_as: Literal["M", "O", "E", "S"] | None = None
    readable: StrictBool = False
    writable: StrictBool = False


class Cell(Strict):
    """What becomes of a block in one state at one event, or why that cannot happen."""

    impossible: Text | None = None

    @model_validator(mode="after")
    def _impossible_alone(self) -> Self:
        if self.impossible is not None and self.model_fields_set != {"impossible"}:
            raise ValueError("an impossible cell says nothing but why")
        return self

    @property
    def possible(self) -> bool:
        return self.impossible is None


class AccessCell(Cell):
    """At a load, fetch or store: `next`, or after a bus request `alone`/`shared` by what other caches keep."""

    next: Text | None = None
    alone: Text | None = None
    shared: Text | None = None
    bus: Bus | None = None

    @model_validator(mode="after")
    def _one_way_to_go_on(self) -> Self:
        if not self.possible:
            return self
        if self.next is not None:
            if self.alone is not None or self.shared is not None:
                raise ValueError("`next` and `alone`/`shared` exclude each other")
        elif self.bus is None:
            raise ValueError("asks nobody, so it needs `next` and not alone/shared")
        elif self.alone is None or self.shared is None:
            raise ValueError("needs `next`, or both `alone` and `shared`")
        return self

    @property
    def when_alone(self) -> str:
        """The next state when no other cache keeps a copy."""
        return self.next or self.alone or ""

    @property
    def when_shared(self) -> str:
        """The next state when another cache keeps a copy."""
        return self.next or self.shared or ""


class EvictCell(Cell):
    """At an eviction. leaves_shared: memory takes it that copies remain, and reads fill in `shared` from then on,
    until somebody asks for the block to store to it."""

    next: Text | None = None
    writeback: StrictBool = False
    leaves_shared: StrictBool = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.possible and self.next is None:
            raise ValueError('the text `next` is missing; write the invalid state, or impossible = "why"')
        return self


class RemoteCell(Cell):
    """At a request of another core that the cache snoops. gives: the state in which the requester fills the block."""

    next: Text | None = None
    supply: StrictBool = False
    writeback: StrictBool = False
    gives: Text | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.possible and self.next is None:
            raise ValueError('the text `next` is missing; write the next state, or impossible = "why"')
        if self.gives is not None and not self.supply:
            raise ValueError("`gives` stands only beside supply = true")
        return self

    @property
    def after(self) -> str:
        return self.next or ""


class OwnRows(Strict):
    load: dict[str, AccessCell]
    fetch: dict[str, AccessCell]
    store: dict[str, AccessCell]
    evict: dict[str, EvictCell]


class RemoteRows(Strict):
    read: dict[str, RemoteCell]
    rfo: dict[str, RemoteCell]
    upgrade: dict[str, RemoteCell]


class Protocol(Strict):
    """The whole table. The order of `states` is the order in which they supply data."""

    name: Text
    description: Text
    source: Text | None = None
    l2_inclusion: Literal["inclusive", "exclusive"] | None = None
    states: dict[str, State] = Field(max_length=MAX_STATES)
    own: OwnRows
    remote: RemoteRows

    @model_validator(mode="after")
    def _whole(self) -> Self:
        self._check_states()
        for row, cells in self.rows():
            self._check_row(row, cells)
        for event in ACCESSES:
            for state, access in self.access_row(event).items():
                self._check_access(f"own.{event}.{state}", state, access)
        for state, evict in self.own.evict.items():
            self._check_evict(f"own.evict.{state}", state, evict)
        for bus in BUS:
            for state, remote in self.remote_row(bus).items():
                self._check_remote(f"remote.{bus}.{state}", state, remote, bus)
        return self

    def _check_states(self) -> None:
        for name, state in self.states.items():
            if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is None:
                raise ValueError(f"the state's name `{name}` must be letters, digits and _, a letter first")
            if state.readable and state.counts_as is None:
                raise ValueError(f"states.{name} is readable and must say as which of M, O, E, S it counts (counts_as)")
            if not state.readable and (state.writable or state.counts_as is not None):
                raise ValueError(f"states.{name} is not readable, so it is neither writable nor counted")
        absent = [name for name, state in self.states.items() if not state.readable]
        if len(absent) != 1:
            found = ", ".join(absent) or "none"
            raise ValueError(f"exactly one state, the invalid one, must not be readable; here: {found}")

    def _check_row(self, row: str, cells: Mapping[str, Cell]) -> None:
        for state in self.states:
            if state not in cells:
                raise ValueError(f'the cell {row}.{state} is missing; write what happens, or impossible = "why"')
        for state, cell in cells.items():
            if state not in self.states:
                raise ValueError(f"[{row}] has a cell of the unknown state `{state}`")
            for key in ("next", "alone", "shared", "gives"):
                goal = getattr(cell, key, None)
                if goal is not None and goal not in self.states:
                    raise ValueError(f"{row}.{state}.{key} names the unknown state `{goal}`")

    def _check_access(self, place: str, state: str, cell: AccessCell) -> None:
        if not cell.possible:
            return
        if state == self.invalid and cell.bus not in ("read", "rfo"):
            why = "an upgrade carries no data" if cell.bus else "it asks nobody"
            raise ValueError(f"{place}: a miss needs the block, and {why}: ask with read or rfo")
        if self.invalid in (cell.when_alone, cell.when_shared):
            raise ValueError(f"{place} ends in the invalid state, but the core has just accessed the block")

    def _check_evict(self, place: str, state: str, cell: EvictCell) -> None:
        if cell.possible and state == self.invalid:
            raise ValueError(f'{place}: an absent block cannot be evicted; write impossible = "why"')
        if cell.possible and cell.next != self.invalid:
            raise ValueError(f"{place}: an evicted block is gone; write next = {self.invalid!r}")

    def _check_remote(self, place: str, state: str, cell: RemoteCell, bus: Bus) -> None:
        if not cell.possible:
            return
        if state == self.invalid and (cell.after != state or cell.supply or cell.writeback):
            raise ValueError(f"{place}: a cache without the block stays so and neither supplies nor writes back")
        if bus == "upgrade" and cell.supply:
            raise ValueError(f"{place}: an upgrade carries no data, so nobody supplies")
        if cell.gives is None:
            return
        if cell.gives == self.invalid:
            raise ValueError(f"{place}.gives is the invalid state; the requester has just got the block")
        if cell.after != self.invalid and self.states[cell.gives].counts_as in ("M", "E"):
            raise ValueError(f"{place} gives {cell.gives}, the state of an only copy, and keeps one in {cell.after}")

    def rows(self) -> Iterator[tuple[str, Mapping[str, Cell]]]:
        """Every row by its name in the file (`own.load`)."""
        for event in ACCESSES:
            yield f"own.{event}", self.access_row(event)
        yield "own.evict", self.own.evict
        for bus in BUS:
            yield f"remote.{bus}", self.remote_row(bus)

    def access_row(self, event: Access) -> dict[str, AccessCell]:
        row: dict[str, AccessCell] = getattr(self.own, event)
        return row

    def remote_row(self, bus: Bus) -> dict[str, RemoteCell]:
        row: dict[str, RemoteCell] = getattr(self.remote, bus)
        return row

    @property
    def leaves_shared(self) -> bool:
        """Whether memory remembers that copies may remain (hammer)."""
        return any(cell.leaves_shared for cell in self.own.evict.values())

    @property
    def invalid(self) -> str:
        """The state of a block that is not here."""
        return next(name for name, state in self.states.items() if not state.readable)

    @property
    def present(self) -> list[str]:
        """The states of a block that is here, in the order in which they supply."""
        return [name for name, state in self.states.items() if state.readable]

    @property
    def owners(self) -> list[str]:
        """The states that answer for a block: their eviction writes it back, or they count as M or O."""
        return [
            name for name in self.present if self.own.evict[name].writeback or self.states[name].counts_as in ("M", "O")
        ]

    @property
    def writers(self) -> list[str]:
        """The states in which a core stores without asking on the bus."""
        return [
            name
            for name in self.present
            if self.states[name].writable or (self.own.store[name].possible and self.own.store[name].bus is None)
        ]


def find_protocol(name: str) -> Path:
    """The file of a protocol: a name in configs/protocols, or the path of a .toml file."""
    return find_or_file("protocol", paths.PROTOCOLS, name)


def load_protocol(path: Path) -> Protocol:
    """The table in a file; UserError names file, cell and what is wrong."""
    return load(path, Protocol)

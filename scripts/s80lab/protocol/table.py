# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of a coherence protocol. The reader accepts the same files as src/coherence/protocol_load.cpp."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
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
    """A stable state. counts_as: its letter in the statistics; writable: an L1 may store without an L2 access."""

    description: Text
    counts_as: Literal["M", "O", "E", "S"] | None = None
    readable: StrictBool = False
    writable: StrictBool = False


class Cell(Strict):
    """The effect of one event on a block in one state, or the reason why the event is impossible."""

    impossible: Text | None = None

    @model_validator(mode="after")
    def _impossible_alone(self) -> Self:
        if self.impossible is not None and self.model_fields_set != {"impossible"}:
            raise ValueError("a cell with `impossible` must not have other keys")
        return self

    @property
    def possible(self) -> bool:
        return self.impossible is None


class AccessCell(Cell):
    """A load, fetch or store. After a bus request, `alone`/`shared` depend on whether another cache keeps a copy."""

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
                raise ValueError("has both `next` and `alone`/`shared`; write either `next`, or `alone` and `shared`")
        elif self.bus is None:
            raise ValueError("has no `bus`, so it needs `next` instead of `alone`/`shared`")
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
    """An eviction. leaves_shared: the directory keeps assuming sharers, so reads fill in `shared` until the next rfo
    or upgrade."""

    next: Text | None = None
    writeback: StrictBool = False
    leaves_shared: StrictBool = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.possible and self.next is None:
            raise ValueError('the key `next` is missing; write the invalid state, or impossible = "why"')
        return self


class RemoteCell(Cell):
    """A snooped request of another core. gives: the state in which the requester fills the block."""

    next: Text | None = None
    supply: StrictBool = False
    writeback: StrictBool = False
    gives: Text | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.possible and self.next is None:
            raise ValueError('the key `next` is missing; write the next state, or impossible = "why"')
        if self.gives is not None and not self.supply:
            raise ValueError("`gives` (the state that the supplier hands over) needs supply = true")
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
    """A protocol's table. The order of `states` is their priority as suppliers."""

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
                raise ValueError(f"the state's name `{name}` must be a letter followed by letters, digits and _")
            if state.readable and state.counts_as is None:
                raise ValueError(
                    f"states.{name} is readable, so it needs `counts_as` (the letter in statistics): M, O, E or S"
                )
            if not state.readable and (state.writable or state.counts_as is not None):
                raise ValueError(f"states.{name} is not readable, so it can have neither `writable` nor `counts_as`")
        absent = [name for name, state in self.states.items() if not state.readable]
        if len(absent) != 1:
            found = ", ".join(absent) or "none"
            raise ValueError(f"exactly one state, the invalid one, must not be readable; found: {found}")

    def _check_row(self, row: str, cells: Mapping[str, Cell]) -> None:
        for state in self.states:
            if state not in cells:
                raise ValueError(f'the cell {row}.{state} is missing; write its effect, or impossible = "why"')
        for state, cell in cells.items():
            if state not in self.states:
                raise ValueError(f"[{row}] has a cell for the unknown state `{state}`")
            for key in ("next", "alone", "shared", "gives"):
                goal = getattr(cell, key, None)
                if goal is not None and goal not in self.states:
                    raise ValueError(f"{row}.{state}.{key} names the unknown state `{goal}`")

    def _check_access(self, place: str, state: str, cell: AccessCell) -> None:
        if not cell.possible:
            return
        if state == self.invalid and cell.bus not in ("read", "rfo"):
            why = "an upgrade carries no data" if cell.bus else "the cell has no `bus`"
            raise ValueError(f"{place}: a miss needs data, but {why}; write bus = read or rfo")
        if self.invalid in (cell.when_alone, cell.when_shared):
            raise ValueError(
                f"{place} ends in the invalid state, but the core has just accessed the block; write a readable state"
            )

    def _check_evict(self, place: str, state: str, cell: EvictCell) -> None:
        if cell.possible and state == self.invalid:
            raise ValueError(f'{place}: an absent block cannot be evicted; write impossible = "why"')
        if cell.possible and cell.next != self.invalid:
            raise ValueError(f"{place}: an eviction must end in the invalid state; write next = {self.invalid!r}")

    def _check_remote(self, place: str, state: str, cell: RemoteCell, bus: Bus) -> None:
        if not cell.possible:
            return
        if state == self.invalid and (cell.after != state or cell.supply or cell.writeback):
            raise ValueError(
                f"{place}: a cache without the block cannot change state, supply or write back; omit these keys"
            )
        if bus == "upgrade" and cell.supply:
            raise ValueError(f"{place}: an upgrade carries no data, so no cache can supply; omit `supply`")
        if cell.gives is None:
            return
        if cell.gives == self.invalid:
            raise ValueError(
                f"{place}.gives is the invalid state, but the requester has just received the block; write a "
                "readable state"
            )
        if cell.after != self.invalid and self.states[cell.gives].counts_as in ("M", "E"):
            raise ValueError(
                f"{place} gives {cell.gives}, a state for the only copy, but the supplier keeps a copy in "
                f"{cell.after}; correct one of the two states"
            )

    def rows(self) -> Iterator[tuple[str, Mapping[str, Cell]]]:
        """All rows with their names in the file (`own.load`)."""
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
        """Whether the directory keeps assuming sharers after some eviction (hammer)."""
        return any(cell.leaves_shared for cell in self.own.evict.values())

    @cached_property
    def invalid(self) -> str:
        """The state of a block that is not in the cache."""
        return next(name for name, state in self.states.items() if not state.readable)

    @cached_property
    def present(self) -> list[str]:
        """The states of a block that is in the cache, by their priority as suppliers."""
        return [name for name, state in self.states.items() if state.readable]

    @cached_property
    def owners(self) -> list[str]:
        """The states of an owner: their eviction writes back, or they count as M or O."""
        return [
            name for name in self.present if self.own.evict[name].writeback or self.states[name].counts_as in ("M", "O")
        ]

    @cached_property
    def writers(self) -> list[str]:
        """The states in which a core stores without a bus request."""
        return [
            name
            for name in self.present
            if self.states[name].writable or (self.own.store[name].possible and self.own.store[name].bus is None)
        ]


def find_protocol(name: str) -> Path:
    """The file of a protocol. `name` is a name in configs/protocols or the path of a .toml file."""
    return find_or_file("protocol", paths.PROTOCOLS, name)


def load_protocol(path: Path) -> Protocol:
    """Reads a table. UserError names the file, the cell and the fault."""
    return load(path, Protocol)

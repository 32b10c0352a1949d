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
REQUESTS = ("read", "fetch", "rfo", "upgrade")
"""The requests that arrive at a home. A fetch is a read for an instruction."""
Giver = Literal["sharer", "exclusive", "owner"]
GIVERS: tuple[Giver, ...] = get_args(Giver)
"""Who gives a block up to the home, by the class of its state: S, E or M, O."""
MAX_HOME_STATES = 16


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
    """An eviction. put: the home learns of it; with `writeback` it always does."""

    next: Text | None = None
    writeback: StrictBool = False
    put: StrictBool = False

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


class RecalledCell(Cell):
    """A private copy that the home recalls."""

    next: Text | None = None
    writeback: StrictBool = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.possible and self.next is None:
            raise ValueError('the key `next` is missing; write the next state, or impossible = "why"')
        return self

    @property
    def after(self) -> str:
        return self.next or ""


class HomeState(Strict):
    """A state of a block at home. data: the last-level cache holds it. copies: the private copies that may exist."""

    description: Text
    copies: Literal["none", "one", "any"]
    data: StrictBool = False
    dirty: StrictBool = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.dirty and not self.data:
            raise ValueError("is dirty, so it needs data = true")
        return self

    @property
    def tracked(self) -> bool:
        """Whether the state occupies an entry of a directory that has tags of its own."""
        return self.copies != "none"


class EndCell(Cell):
    """An event at the home. The next state depends on whether other private caches keep a copy after the event
    (`alone`, `shared`), and on whether a private cache wrote the block back in it (`clean`, `dirty`)."""

    next: Text | None = None
    alone: Text | None = None
    shared: Text | None = None
    clean: Text | None = None
    dirty: Text | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        split = [self.alone, self.shared, self.clean, self.dirty]
        there = tuple(end is not None for end in split)
        forms = [(1, 1, 0, 0), (0, 0, 1, 1), (1, 0, 1, 1), (0, 1, 1, 1)]
        if self.possible and (any(there) if self.next is not None else there not in forms):
            raise ValueError(
                "needs either `next`, or `alone` and `shared`, or `clean` and `dirty` (with `alone` or `shared` "
                "before them)"
            )
        return self

    def after(self, others_keep: bool, written_back: bool) -> str:
        """The next state."""
        by_copies = self.shared if others_keep else self.alone
        by_data = self.dirty if written_back else self.clean
        return self.next or by_copies or by_data or ""

    def ends(self) -> Iterator[tuple[str, str]]:
        """The keys of the next states with their values."""
        for key in ("next", "alone", "shared", "clean", "dirty"):
            if getattr(self, key) is not None:
                yield key, getattr(self, key)


class PutCell(EndCell):
    """A private cache gives the block up. `alone`: it was the last copy."""


class UpgradeCell(EndCell):
    """An upgrade at the home. writeback: the block goes to memory, as a private cache wrote it back in this event, or
    else as the last-level cache has it."""

    writeback: StrictBool = False


class RfoCell(UpgradeCell):
    """A request for data. supply: the last-level cache supplies if no private cache does; first: even if one would,
    and a read then does not reach the private caches; gives: the state in which the requester then fills the block."""

    supply: StrictBool = False
    first: StrictBool = False
    gives: Text | None = None

    @model_validator(mode="after")
    def _supplies(self) -> Self:
        for key, there in (("first", self.first), ("gives", self.gives is not None)):
            if there and not self.supply:
                raise ValueError(f"`{key}` needs supply = true")
        return self


class ReadCell(RfoCell):
    """A read. grants: the requester fills as if another cache kept a copy."""

    grants: Literal["shared"] | None = None


class DisplaceCell(UpgradeCell):
    """The last-level cache needs the way. recall: the private caches give the block up first."""

    recall: StrictBool = False


class RecallCell(UpgradeCell):
    """The directory needs the entry: the private caches give the block up."""


class PutRows(Strict):
    sharer: dict[str, PutCell] | None = None
    exclusive: dict[str, PutCell] | None = None
    owner: dict[str, PutCell] | None = None


class HomeRows(Strict):
    states: dict[str, HomeState] = Field(max_length=MAX_HOME_STATES)
    read: dict[str, ReadCell]
    fetch: dict[str, ReadCell] | None = None
    rfo: dict[str, RfoCell]
    upgrade: dict[str, UpgradeCell] | None = None
    put: PutRows = PutRows()
    displace: dict[str, DisplaceCell] | None = None
    recall: dict[str, RecallCell] | None = None

    def rows(self) -> Iterator[tuple[str, Mapping[str, EndCell]]]:
        """All rows of the file with their names (`home.put.owner`)."""
        for name in REQUESTS:
            if (row := getattr(self, name)) is not None:
                yield f"home.{name}", row
        for giver in GIVERS:
            if (row := self.put_row(giver)) is not None:
                yield f"home.put.{giver}", row
        for name in ("displace", "recall"):
            if (row := getattr(self, name)) is not None:
                yield f"home.{name}", row

    def put_row(self, giver: Giver) -> dict[str, PutCell] | None:
        row: dict[str, PutCell] | None = getattr(self.put, giver)
        return row

    def request_row(self, request: str) -> Mapping[str, EndCell]:
        """The row of read, fetch, rfo or upgrade. A fetch without a row of its own is a read."""
        row: Mapping[str, EndCell] | None = getattr(self, request)
        return row if row is not None else self.read

    @cached_property
    def absent(self) -> str:
        """The state of a block that is neither in the last-level cache nor in the directory."""
        return next(name for name, state in self.states.items() if not state.data and not state.tracked)

    @property
    def has_llc(self) -> bool:
        return any(state.data for state in self.states.values())

    @property
    def inclusion(self) -> str:
        """What the declared states claim of the last-level cache."""
        states = self.states.values()
        if not self.has_llc:
            return "no last-level cache"
        if all(state.data for state in states if state.tracked):
            return "inclusive"
        return "non-inclusive" if any(state.data and state.tracked for state in states) else "exclusive"


class OwnRows(Strict):
    load: dict[str, AccessCell]
    fetch: dict[str, AccessCell]
    store: dict[str, AccessCell]
    evict: dict[str, EvictCell]


class RemoteRows(Strict):
    read: dict[str, RemoteCell]
    rfo: dict[str, RemoteCell]
    upgrade: dict[str, RemoteCell]
    recall: dict[str, RecalledCell] | None = None


class Protocol(Strict):
    """A protocol's table. The order of `states` is their priority as suppliers."""

    name: Text
    description: Text
    source: Text | None = None
    l2_inclusion: Literal["inclusive", "exclusive"] | None = None
    states: dict[str, State] = Field(max_length=MAX_STATES)
    own: OwnRows
    remote: RemoteRows
    home: HomeRows | None = None

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
        for state, evict in self.own.evict.items():
            if "put" in evict.model_fields_set and self.home is None:
                raise ValueError(f"own.evict.{state}.put needs a home, but the table has no [home]")
        if self.home is not None:
            self._check_home(self.home)
        self._check_recalled()
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

    def _check_home(self, home: HomeRows) -> None:
        for name in home.states:
            if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is None:
                raise ValueError(f"the home state's name `{name}` must be a letter followed by letters, digits and _")
        absent = [name for name, state in home.states.items() if not state.data and not state.tracked]
        if len(absent) != 1:
            found = ", ".join(absent) or "none"
            raise ValueError(
                f"exactly one state of [home.states], the absent one, must have neither data nor copies; found: {found}"
            )
        self._check_home_rows(home)
        for row, cells in home.rows():
            met = {name for name, state in home.states.items() if _meets(row, state)}
            for name in home.states:
                if name in met and name not in cells:
                    raise ValueError(f'the cell {row}.{name} is missing; write its effect, or impossible = "why"')
            for name, cell in cells.items():
                if name not in met:
                    raise ValueError(f"[{row}] has a cell for {name}, a state in which the event cannot happen")
                if cell.possible:
                    self._check_home_cell(home, row, name, cell)

    def _check_home_rows(self, home: HomeRows) -> None:
        upgrades = any(
            cell.possible and cell.bus == "upgrade" for event in ACCESSES for cell in self.access_row(event).values()
        )
        wanted: list[tuple[str, object, bool, str]] = [
            ("home.upgrade", home.upgrade, upgrades, "no cell of [own] has bus = upgrade"),
            ("home.displace", home.displace, home.has_llc, "no home state has data"),
        ]
        for giver in GIVERS:
            why = "no private cache tells the home of such an eviction"
            wanted.append((f"home.put.{giver}", home.put_row(giver), any(self.givers(giver)), why))
        for row, cells, possible, why in wanted:
            if cells is not None and not possible:
                raise ValueError(f"[{row}] describes an event that cannot happen: {why}")
            if cells is None and possible:
                raise ValueError(f"the table [{row}] is missing")

    def _check_home_cell(self, home: HomeRows, row: str, name: str, cell: EndCell) -> None:
        place, state = f"{row}.{name}", home.states[name]
        for key, end in cell.ends():
            if end not in home.states:
                raise ValueError(f"{place}.{key} names the unknown home state `{end}`")
        if not state.data and (getattr(cell, "supply", False) or getattr(cell, "writeback", False)):
            raise ValueError(f"{place}: the last-level cache cannot supply or write back in a state without data")
        given = getattr(cell, "gives", None)
        if given is not None and given not in self.present:
            raise ValueError(
                f"{place}.gives must be a readable state, because the requester has just received the block"
            )
        recall = isinstance(cell, RecallCell) or getattr(cell, "recall", False)
        for others_keep in (False, True):
            for written_back in (False, True):
                end = cell.after(others_keep, written_back)
                goal = home.states[end]
                request = isinstance(cell, UpgradeCell) and not isinstance(cell, DisplaceCell | RecallCell)
                if request and not goal.tracked:
                    raise ValueError(f"{place} ends in {end} with copies = none, but the requester has a copy")
                if recall and goal.tracked:
                    raise ValueError(f"{place} ends in {end}, which allows copies, but a recall leaves none")
                if isinstance(cell, DisplaceCell) and goal.data:
                    raise ValueError(f"{place} ends in {end} with data, but the block leaves the last-level cache")
                no_data = row == "home.upgrade" or (isinstance(cell, RecallCell) and not written_back)
                if no_data and goal.data and not state.data:
                    raise ValueError(f"{place} ends in {end} with data, but no data reach the last-level cache")

    def _check_recalled(self) -> None:
        cells = self.remote.recall
        if cells is None:
            if self.recalls:
                raise ValueError("the table [remote.recall] is missing")
            return
        if not self.recalls:
            raise ValueError("[remote.recall] describes an event that cannot happen: no cell of [home] recalls")
        for state, cell in cells.items():
            if cell.possible and state == self.invalid and (cell.after != state or cell.writeback):
                raise ValueError(f"remote.recall.{state}: a cache without the block cannot change state or write back")

    def rows(self) -> Iterator[tuple[str, Mapping[str, Cell]]]:
        """All rows of the private caches with their names in the file (`own.load`)."""
        for event in ACCESSES:
            yield f"own.{event}", self.access_row(event)
        yield "own.evict", self.own.evict
        for bus in BUS:
            yield f"remote.{bus}", self.remote_row(bus)
        if self.remote.recall is not None:
            yield "remote.recall", self.remote.recall

    def access_row(self, event: Access) -> dict[str, AccessCell]:
        row: dict[str, AccessCell] = getattr(self.own, event)
        return row

    def remote_row(self, bus: Bus) -> dict[str, RemoteCell]:
        row: dict[str, RemoteCell] = getattr(self.remote, bus)
        return row

    def puts(self, state: str) -> bool:
        """Whether the home learns of an eviction from this state."""
        cell = self.own.evict[state]
        return self.home is not None and (cell.writeback or cell.put)

    def giver(self, state: str) -> Giver:
        """As which giver a cache gives up a block in this state."""
        counts_as = self.states[state].counts_as
        return "sharer" if counts_as == "S" else "owner" if counts_as == "O" else "exclusive"

    def givers(self, giver: Giver) -> list[str]:
        """The states from which a private cache gives up the block as this giver."""
        return [name for name in self.present if self.puts(name) and self.giver(name) == giver]

    @property
    def bus_suffices(self) -> bool:
        """Whether a machine without last-level cache and directory plays the protocol: it remembers for each line
        whether reads are granted shared copies only."""
        home = self.home
        if home is None or home.has_llc:
            return home is None
        granting = {name for name, cell in home.read.items() if cell.grants}
        ends = {
            (row, name): {end in granting for _, end in cell.ends()}
            for row, cells in home.rows()
            for name, cell in cells.items()
            if cell.possible and row != "home.recall"
        }
        granted = {
            name: bool(getattr(cell, "grants", None))
            for name, cell in home.request_row("fetch").items()
            if cell.possible
        }
        return (
            home.absent not in granting
            and all((name in granting) == granted.get(name, name in granting) for name in home.states)
            and all(
                end == {name in granting} for (row, name), end in ends.items() if row in ("home.read", "home.fetch")
            )
            and all(end == {False} for (row, _), end in ends.items() if row in ("home.rfo", "home.upgrade"))
            and all(
                len(set().union(*(end for (row, _), end in ends.items() if row == f"home.put.{giver}"))) < 2
                for giver in GIVERS
            )
        )

    @property
    def recalls(self) -> bool:
        """Whether the home recalls private copies."""
        home = self.home
        return home is not None and (
            home.recall is not None or any(cell.recall for cell in (home.displace or {}).values())
        )

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


def _meets(row: str, state: HomeState) -> bool:
    """Whether the event of the row can meet the home state."""
    if row == "home.displace":
        return state.data
    return state.tracked if row == "home.recall" or row.startswith("home.put.") else True


def find_protocol(name: str) -> Path:
    """The file of a protocol. `name` is a name in configs/protocols or the path of a .toml file."""
    return find_or_file("protocol", paths.PROTOCOLS, name)


def load_protocol(path: Path) -> Protocol:
    """Reads a table. UserError names the file, the cell and the fault."""
    return load(path, Protocol)

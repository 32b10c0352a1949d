# SPDX-License-Identifier: GPL-2.0-or-later
"""The counterexample of a refused protocol as a text trace, which `s80lab trace step` plays up to the violation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from s80lab.base.errors import UserError
from s80lab.protocol.counterexample import Counterexample, Line
from s80lab.protocol.table import HomeRows, Protocol

CORES = 4
"""Cores of the machines `classroom` and `classroom-llc`."""
LINE = 64
CACHES = "l2.size=128 l2.ways=1"
"""Direct-mapped caches with two lines of 64 bytes: lines at multiples of 128 bytes evict each other."""
STRIDE = 128
BLOCK = 0x100
FEW, MANY = 128, 256
"""Sets of a direct-mapped last-level cache and directory: more than a counterexample has evictions."""
_OPS = {"load": "load", "fetch": "ifetch", "store": "store"}


def counterexample_trace(found: Counterexample, protocol: Protocol, name: str) -> str:
    """The text of the trace. `name` is the name or path of the protocol's table, for the header of the trace.

    A trace has accesses only. They make room where the counterexample loses the block:

    - A core evicts the block because the core loads another line of the same cache set; an exclusive L2 needs a second
      line, because the first one only moves the block from the L1 to the L2.
    - The directory recalls the block because a spare core loads a line of the same set of the directory.
    - The last-level cache displaces the block because spare cores bring a line of the same set into this cache, by the
      accesses that had brought the block there.

    UserError if the machine of the trace cannot play the events.
    """
    actions = {line.action for line in found.lines}
    # All caches are alike in a table, so a shortest counterexample never moves the block from one to another.
    assert "move" not in actions
    machine, settings, sets = "classroom", [CACHES], _Sets()
    if protocol.home is not None:
        sets = _sets(protocol, protocol.home, actions)
        if protocol.home.has_llc:
            machine = "classroom-llc"
            settings.append(f"llc.size={LINE * sets.llc} llc.ways=1")
        if "recall" in actions:
            settings.append(f"directory.entries={sets.directory} directory.ways=1")
        elif not protocol.home.has_llc:
            settings.append("home.kind=directory")
    accesses = _Accesses(protocol, sets, len(found.lines[0].caches)).play(found.lines[1:])
    cores = max(len(found.lines[0].caches), *(access.core + 1 for access in accesses))
    if cores > CORES:
        settings.append(f"processors.count={cores}")
    head = [
        f"# Counterexample to {protocol.name}: {found.fault.law}",
        f"# Violation: {found.fault.sentence}",
        f"# machine: {machine}",
        f"# protocol: {name}",
        f"# set: {' '.join(settings)}",
    ]
    return "\n".join([*head, *map(str, accesses)]) + "\n"


class _Access(NamedTuple):
    """An access of the trace, and the event of the counterexample for which it makes room."""

    core: int
    op: str
    address: int
    event: str = ""

    def __str__(self) -> str:
        return f"{self.core} {self.op} {self.address:#x}" + (f"   # {self.event}" if self.event else "")


@dataclass(frozen=True)
class _Sets:
    """The sets of last-level cache and directory."""

    llc: int = MANY
    directory: int = MANY


def _sets(protocol: Protocol, home: HomeRows, actions: set[str | None]) -> _Sets:
    """Sets with which a recall does not displace the block, and a displacement does not recall it."""
    if "recall" not in actions:
        return _Sets()
    if not any(home.states[end].data for _, end in home.read[home.absent].ends()):
        return _Sets(llc=FEW)
    if "displace" in actions:
        raise UserError(
            f"the counterexample to {protocol.name} cannot be written as a trace: it needs a displacement and a recall "
            "of one block, and each access of the trace would cause both; leave out --trace and --html"
        )
    return _Sets(directory=FEW)


class _Accesses:
    """Turns the events of a counterexample into accesses. spare: the first core without a part in the events."""

    def __init__(self, protocol: Protocol, sets: _Sets, spare: int) -> None:
        self._protocol = protocol
        self._sets = sets
        self._spare = spare
        self._evicting = count(BLOCK + STRIDE, STRIDE)
        self._other = count()

    def play(self, events: Sequence[Line], block: int = BLOCK, first: int = 0) -> list[_Access]:
        """first: the core that plays core 0 of the events."""
        played: list[_Access] = []
        ops: dict[int | None, str] = {}
        for number, line in enumerate(events):
            core = first + (line.core or 0)
            if line.action == "displace":
                other = self._in_set_of(block, self._sets.llc)
                *before, last = self.play(self._filling(events[:number]), other, self._spare)
                played += [*(access._replace(event="") for access in before), last._replace(event=line.event)]
            elif line.action == "recall":
                other = self._in_set_of(block, self._sets.directory)
                played.append(_Access(self._spare, "load", other, line.event))
            elif line.action == "evict":
                # The L1 that holds the block is the one of the core's last access to the block.
                op = "ifetch" if ops[core] == "ifetch" else "load"
                if self._protocol.l2_inclusion == "exclusive":
                    played.append(_Access(core, op, next(self._evicting)))
                played.append(_Access(core, op, next(self._evicting), line.event))
            else:
                ops[core] = _OPS[line.action or ""]
                played.append(_Access(core, ops[core], block))
        return played

    def _in_set_of(self, block: int, sets: int) -> int:
        """Another line of the block's set in an array of so many sets, but not in an array of twice as many."""
        return block + LINE * (sets + 2 * MANY * next(self._other))

    def _filling(self, events: Sequence[Line]) -> Sequence[Line]:
        """The events that first brought the block into the last-level cache."""
        home = self._protocol.home
        assert home is not None
        held = (n for n, line in enumerate(events) if line.home and home.states[line.home.split()[0]].data)
        return events[: next(held) + 1]

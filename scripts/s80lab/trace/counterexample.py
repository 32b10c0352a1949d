# SPDX-License-Identifier: GPL-2.0-or-later
"""The counterexample of a refused protocol as a text trace, which `s80lab trace step` plays up to the violation."""

from __future__ import annotations

from collections.abc import Iterator

from s80lab.base.errors import UserError
from s80lab.protocol.counterexample import Counterexample
from s80lab.protocol.table import Protocol

CORES = 4
"""Cores of the machine `classroom`."""
SETTINGS = "l2.size=128 l2.ways=1"
"""Direct-mapped caches with two lines of 64 bytes: lines at multiples of 128 bytes evict each other."""
STRIDE = 128
BLOCK = 0x100
_BEHIND = ("displace", "recall", "move")
_OPS = {"load": "load", "fetch": "ifetch", "store": "store"}


def counterexample_trace(found: Counterexample, protocol: Protocol, name: str) -> str:
    """The text of the trace. `name` is the name or path of the protocol's table, for the header of the trace.

    A trace has no evictions. A core evicts the block because the core loads another line of the same cache set; an
    exclusive L2 needs a second line, because the first one only moves the block from the L1 to the L2. UserError if the
    machine of the trace cannot play the events.
    """
    if not protocol.bus_suffices or any(line.action in _BEHIND for line in found.lines):
        raise UserError(
            f"the counterexample to {protocol.name} cannot be written as a trace: traces are played on the machine "
            "classroom, which has neither a last-level cache nor a directory; leave out --trace and --html"
        )
    cores = len(found.lines[0].caches)
    settings = SETTINGS if cores <= CORES else f"{SETTINGS} processors.count={cores}"
    head = [
        f"# Counterexample to {protocol.name}: {found.fault.law}",
        f"# Violation: {found.fault.sentence}",
        "# machine: classroom",
        f"# protocol: {name}",
        f"# set: {settings}",
    ]
    return "\n".join([*head, *_accesses(found, protocol)]) + "\n"


def _accesses(found: Counterexample, protocol: Protocol) -> Iterator[str]:
    last: dict[int, str] = {}
    other = BLOCK
    for line in found.lines[1:]:
        assert line.core is not None and line.action is not None
        if line.action != "evict":
            last[line.core] = _OPS[line.action]
            yield f"{line.core} {last[line.core]} {BLOCK:#x}"
            continue
        # The L1 that holds the block is the one of the core's last access to the block.
        op = "ifetch" if last[line.core] == "ifetch" else "load"
        if protocol.l2_inclusion == "exclusive":
            other += STRIDE
            yield f"{line.core} {op} {other:#x}"
        other += STRIDE
        yield f"{line.core} {op} {other:#x}   # {line.event}"

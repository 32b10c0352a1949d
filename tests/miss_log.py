# SPDX-License-Identifier: GPL-2.0-or-later
"""Small logs of misses made by hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from s80lab.analysis.misses.log import RECORD, Log, Who
from s80lab.analysis.misses.memory import What
from s80lab.analysis.misses.names import Details, Named

LABELS = {
    "kind": ["ifetch", "load", "store", "walk"],
    "request": ["miss", "upgrade"],
    "source": ["memory", "M", "O", "E", "S"],
    "reason": ["cold", "capacity", "conflict", "coherence", "none"],
    "sharing": ["none", "true", "false"],
    "class": ["session", "delivery"],
    "entry": ["user", "system_call", "tick"],
}
LINE = 128
Records = NDArray[np.void]


def record(line: int, core: int, kind: str, source: str = "memory", request: str = "miss", **values: int) -> Records:
    """One request; the supplier is core 0 where it is not memory. address: default the line's first byte."""
    one = np.zeros(1, dtype=RECORD)
    one["physical"], one["core"], one["reads"] = line * LINE, core, 1
    one["address"] = line * LINE
    for column, label in (("kind", kind), ("source", source), ("request", request)):
        one[column] = LABELS[column].index(label)
    one["reason"] = LABELS["reason"].index("none" if request == "upgrade" else "cold")
    one["supplier"] = 0xFF if source == "memory" else 0
    for column, value in values.items():
        one[column] = value
    return one


def log_of(*records: Records) -> Log:
    """A log of four cores. Tasks: 0 imap, 1 imap in `read`, 2 lmtp."""
    whos = [Who(7, "imap", -1), Who(7, "imap", 0), Who(8, "lmtp", -1)]
    return Log(np.concatenate(records), LABELS, whos, LINE, 4, ["read", "write"])


def named(log: Log) -> Named:
    """Every line is a slab of its own number; function f0 for core 0, and so on."""
    lines, what = np.unique(log.records["physical"], return_inverse=True)
    functions, function = np.unique(log.records["core"], return_inverse=True)
    whats = [What("slab", f"cache{line // LINE}") for line in lines.tolist()]
    return Named([f"f{core}" for core in functions.tolist()], function.reshape(-1), whats, what.reshape(-1))


def details(log: Log) -> Details:
    """The field at offset 8 is `object.counter`, and f1 is in `file.c:10`. All other texts are unknown."""
    field = (log.offset == 8).astype(np.int64)
    source = (log.records["core"] == 1).astype(np.int64)
    return Details(["", "object.counter"], field, ["", "file.c:10"], source)


def small_log() -> Log:
    """Four misses serviced by caches (three on line 1), two by memory, one upgrade."""
    true, false = 1, 2
    return log_of(
        record(1, 1, "load", "M", who=1, context=1, sharing=true, reason=3, stall=120, address=LINE + 8),
        record(1, 2, "load", "O", who=1, context=1, sharing=false, reason=3, stall=120),
        record(1, 2, "store", request="upgrade", who=1, context=1, stall=60),
        record(1, 3, "load", "M", who=2, context=3 + 0, sharing=true, reason=3, stall=120, address=LINE + 8),
        record(2, 1, "ifetch", "S", who=0, context=0, stall=120),
        record(3, 1, "load", who=0, context=0, stall=110),
        record(4, 1, "load", who=0, context=0, reason=1, stall=110),
    )

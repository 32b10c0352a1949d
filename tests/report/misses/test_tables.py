# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables, patterns and stacks of a small log made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from s80lab.analysis.misses.log import RECORD, Log, Who
from s80lab.analysis.misses.memory import What
from s80lab.analysis.misses.names import Named
from s80lab.analysis.misses.sharing import PATTERNS, lines_of
from s80lab.analysis.misses.stacks import collapsed
from s80lab.report.misses.tables import all_tables
from s80lab.report.tables import Table

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
    """One request; the supplier is core 0 where it is not memory."""
    one = np.zeros(1, dtype=RECORD)
    one["physical"], one["core"], one["reads"] = line * LINE, core, 1
    for column, label in (("kind", kind), ("source", source), ("request", request)):
        one[column] = LABELS[column].index(label)
    one["reason"] = LABELS["reason"].index("none" if request == "upgrade" else "cold")
    one["supplier"] = 0xFF if source == "memory" else 0
    for column, value in values.items():
        one[column] = value
    return one


def log_of(*records: Records) -> Log:
    whos = [Who(7, "imap", -1), Who(7, "imap", 0), Who(8, "lmtp", -1)]
    return Log(np.concatenate(records), LABELS, whos, LINE, 4, ["read", "write"])


def named(log: Log) -> Named:
    """Every line is a slab of its own number; function f0 for core 0, and so on."""
    lines, what = np.unique(log.records["physical"], return_inverse=True)
    functions, function = np.unique(log.records["core"], return_inverse=True)
    whats = [What("slab", f"cache{line // LINE}") for line in lines.tolist()]
    return Named([f"f{core}" for core in functions.tolist()], function.reshape(-1), whats, what.reshape(-1))


def pattern(*records: Records) -> str:
    lines = lines_of(log_of(*records))
    assert len(lines.numbers) == 1
    return PATTERNS[lines.pattern[0]]


def table(tables: list[Table], title: str) -> dict[str, list[str]]:
    (found,) = [each for each in tables if each.title == title]
    return {row.label: [cell.text for cell in row.cells] for row in found.rows}


def test_who_reads_and_who_stores_makes_the_pattern() -> None:
    def load(core: int) -> Records:
        return record(1, core, "load", "M")

    def upgrade(core: int) -> Records:
        return record(1, core, "store", request="upgrade")

    assert pattern(load(2), load(2)) == "one processor"
    assert pattern(load(0), load(1), load(2)) == "widely read"
    assert pattern(load(1), upgrade(1), load(2), upgrade(2), load(1), upgrade(1)) == "migratory"
    assert pattern(upgrade(3), load(1), load(2), upgrade(3), load(1)) == "producer-consumer"
    assert pattern(record(1, 0, "store"), record(1, 1, "store"), record(1, 2, "store"), load(3)) == "several writers"


def test_the_byte_is_that_of_the_first_granule_used() -> None:
    log = log_of(record(2, 0, "load", reads=0b1000), record(2, 0, "store", reads=0b1000, writes=0b10))
    assert log.granule == 8
    assert log.byte.tolist() == [2 * LINE + 24, 2 * LINE + 8]


@pytest.fixture
def log() -> Log:
    """Four misses serviced by caches (three on line 1), two by memory, one upgrade."""
    true, false = 1, 2
    return log_of(
        record(1, 1, "load", "M", who=1, context=1, sharing=true, reason=3, stall=120),
        record(1, 2, "load", "O", who=1, context=1, sharing=false, reason=3, stall=120),
        record(1, 2, "store", request="upgrade", who=1, context=1, stall=60),
        record(1, 3, "load", "M", who=2, context=3 + 0, sharing=true, reason=3, stall=120),
        record(2, 1, "ifetch", "S", who=0, context=0, stall=120),
        record(3, 1, "load", who=0, context=0, stall=110),
        record(4, 1, "load", who=0, context=0, reason=1, stall=110),
    )


def test_what_the_misses_were_on(log: Log) -> None:
    tables = all_tables(log, named(log), lines_of(log))
    things = table(tables, "Data of the misses that a cache serviced")
    share, m, o, _, _, upgrades, true, false, sharing, functions = things["slab: cache1"]
    assert (share, m, o, upgrades) == ("75.0%", "66.7%", "33.3%", "100.0%")
    assert (true, false, sharing) == ("66.7%", "33.3%", "producer-consumer")
    assert functions == "f1 33%, f2 33%, f3 33%"
    lines = table(tables, "Lines with the most misses that a cache serviced")
    assert list(lines) == [f"{LINE:#x}", f"{2 * LINE:#x}"]
    assert lines[f"{LINE:#x}"][:3] == ["slab: cache1", "3", "2"]


def test_callers_and_reasons(log: Log) -> None:
    tables = all_tables(log, named(log), lines_of(log))
    callers = table(tables, "Misses by process and kernel entry cause")
    assert callers == {
        "imap; user": ["3", "50.0%", "100.0%", "25.0%", "0.0%"],
        "imap; read": ["2", "33.3%", "0.0%", "50.0%", "100.0%"],
        "lmtp; user": ["1", "16.7%", "0.0%", "25.0%", "0.0%"],
    }
    reasons = table(tables, "Misses by reason")
    assert [reasons[label][0] for label in ("coherence", "cold", "capacity", "none")] == ["3", "2", "1", "0"]


def test_supplies_stand_in_a_matrix(log: Log) -> None:
    matrix = table(all_tables(log, named(log), lines_of(log)), "Misses by missing and supplying core")
    assert matrix == {"0": ["0"] * 4, **{str(core): [n, "0", "0", "0"] for core, n in ((1, "2"), (2, "1"), (3, "1"))}}


def test_a_miss_without_a_name_lowers_the_coverage(log: Log) -> None:
    names = named(log)
    whole = table(all_tables(log, names, lines_of(log)), "Attributed misses")
    assert whole["misses serviced by a cache"] == ["4", "100.0%"]
    nameless = replace(names, whats=[What("allocated", ""), *names.whats[1:]])
    partly = table(all_tables(log, nameless, lines_of(log)), "Attributed misses")
    assert partly["misses serviced by a cache"] == ["4", "25.0%"]
    strange = replace(names, functions=["libc.so.6: ?", *names.functions[1:]])
    assert table(all_tables(log, strange, lines_of(log)), "Attributed misses")["misses serviced by memory"][1] == "0.0%"


def test_stacks_are_sums_of_their_weights(log: Log) -> None:
    names = named(log)
    misses = collapsed(log, names, log.misses.astype(np.int64)).splitlines()
    assert "imap;read;f1;slab: cache1 1" in misses and "lmtp;user;f3;slab: cache1 1" in misses
    assert sum(int(line.rsplit(" ", 1)[1]) for line in misses) == 6
    stalls = collapsed(log, names, log.records["stall"].astype(np.int64)).splitlines()
    assert "imap;read;f2;slab: cache1 180" in stalls
    assert sum(int(line.rsplit(" ", 1)[1]) for line in stalls) == log.records["stall"].sum()

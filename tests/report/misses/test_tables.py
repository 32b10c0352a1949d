# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables, patterns and stacks of a small log made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.miss_log import Records, details, log_of, named, record, small_log

from s80lab.analysis.misses.log import Log
from s80lab.analysis.misses.memory import What
from s80lab.analysis.misses.names import Named
from s80lab.analysis.misses.sharing import PATTERNS, lines_of
from s80lab.analysis.misses.stacks import collapsed
from s80lab.report.misses.tables import all_tables
from s80lab.report.tables import Table


def pattern(*records: Records) -> str:
    lines = lines_of(log_of(*records))
    assert len(lines.numbers) == 1
    return PATTERNS[lines.pattern[0]]


def table(tables: list[Table], title: str) -> dict[str, list[str]]:
    (found,) = [each for each in tables if each.title == title]
    return {row.label: [cell.text for cell in row.cells] for row in found.rows}


def test_sharing_pattern_follows_from_readers_and_writers() -> None:
    def load(core: int) -> Records:
        return record(1, core, "load", "M")

    def upgrade(core: int) -> Records:
        return record(1, core, "store", request="upgrade")

    assert pattern(load(2), load(2)) == "one processor"
    assert pattern(load(0), load(1), load(2)) == "widely read"
    assert pattern(load(1), upgrade(1), load(2), upgrade(2), load(1), upgrade(1)) == "migratory"
    assert pattern(upgrade(3), load(1), load(2), upgrade(3), load(1)) == "producer-consumer"
    assert pattern(record(1, 0, "store"), record(1, 1, "store"), record(1, 2, "store"), load(3)) == "several writers"


@pytest.fixture
def log() -> Log:
    return small_log()


def tables_of(log: Log, names: Named) -> list[Table]:
    return all_tables(log, names, details(log), lines_of(log))


def test_data_table_splits_transfers_by_state_and_sharing(log: Log) -> None:
    (table_of_data,) = [one for one in tables_of(log, named(log)) if one.title.startswith("Data of the misses")]
    first = table_of_data.rows[0]
    share, m, o, _, _, upgrades, true, false, sharing = (cell.text for cell in first.cells)
    assert first.label == "slab: cache1"
    assert (share, m, o, upgrades) == ("75.0%", "66.7%", "33.3%", "100.0%")
    assert (true, false, sharing) == ("66.7%", "33.3%", "producer-consumer")
    assert first.detail == "f1 33%, f2 33%, f3 33%"


def test_callers_and_reasons(log: Log) -> None:
    tables = tables_of(log, named(log))
    callers = table(tables, "Misses by process and kernel entry cause")
    assert callers == {
        "imap; user": ["3", "50.0%", "100.0%", "25.0%", "0.0%"],
        "imap; read": ["2", "33.3%", "0.0%", "50.0%", "100.0%"],
        "lmtp; user": ["1", "16.7%", "0.0%", "25.0%", "0.0%"],
    }
    reasons = table(tables, "Misses by reason")
    assert [reasons[label][0] for label in ("coherence", "cold", "capacity", "none")] == ["3", "2", "1", "0"]


def test_supplies_stand_in_a_matrix(log: Log) -> None:
    matrix = table(tables_of(log, named(log)), "Misses by missing and supplying core")
    assert matrix == {"0": ["0"] * 4, **{str(core): [n, "0", "0", "0"] for core, n in ((1, "2"), (2, "1"), (3, "1"))}}


def test_coverage_counts_names_of_functions_and_fields(log: Log) -> None:
    names = named(log)

    def coverage(names: Named) -> dict[str, list[str]]:
        return table(tables_of(log, names), "Attributed misses")

    assert coverage(names)["misses serviced by a cache"] == ["4", "100.0%", "100.0%", "50.0%"]
    nameless = replace(names, whats=[What("allocated", ""), *names.whats[1:]])
    assert coverage(nameless)["misses serviced by a cache"] == ["4", "25.0%", "100.0%", "50.0%"]
    strange = replace(names, functions=["libc.so.6: ?", *names.functions[1:]])
    assert coverage(strange)["misses serviced by memory"] == ["2", "0.0%", "0.0%", "0.0%"]
    without_name = replace(names, functions=["libc.so.6+0x9ae40", *names.functions[1:]])
    assert coverage(without_name)["misses serviced by memory"] == ["2", "100.0%", "0.0%", "0.0%"]


def test_stacks_are_sums_of_their_weights(log: Log) -> None:
    names = named(log)
    misses = collapsed(log, names, log.misses.astype(np.int64)).splitlines()
    assert "imap;read;f1;slab: cache1 1" in misses and "lmtp;user;f3;slab: cache1 1" in misses
    assert sum(int(line.rsplit(" ", 1)[1]) for line in misses) == 6
    stalls = collapsed(log, names, log.records["stall"].astype(np.int64)).splitlines()
    assert "imap;read;f2;slab: cache1 180" in stalls
    assert sum(int(line.rsplit(" ", 1)[1]) for line in stalls) == log.records["stall"].sum()

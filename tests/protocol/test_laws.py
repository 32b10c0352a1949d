# SPDX-License-Identifier: GPL-2.0-or-later
"""One mistake in a shipped table, and the law that it breaks after the fewest events that can break it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.protocol.tables import edited

from s80lab.protocol.laws import (
    HIT_SILENT,
    HOME_LAWS,
    LAST_WRITE,
    MEANING,
    NOT_LOST,
    ONE_OWNER,
    ONE_WRITER,
    POSSIBLE,
    STORE_WRITES,
)
from s80lab.protocol.proof import prove

pytestmark = pytest.mark.usefixtures("proofs")

UNIQUE = '{ impossible = "the requester holds a copy, so nobody holds the only one" }'

# Base, cell, what it becomes, the law, the number of events; above, the events.
MISTAKES = [
    # load, load: two copies, and one of them may be stored to silently
    ("moesi", "own.load.I", '{ bus = "read", next = "E" }', ONE_WRITER, 2),
    # load, fetch: E beside a copy
    ("mesi", "own.fetch.I", '{ bus = "read", next = "E" }', ONE_WRITER, 2),
    # store, load: a hit in M that gives the M away
    ("moesi", "own.load.M", '{ next = "O" }', HIT_SILENT, 2),
    # fetch, fetch: a hit that asks
    ("mesi", "own.fetch.E", '{ bus = "read", next = "E" }', HIT_SILENT, 2),
    # store, store: the L1 stores without the L2's knowledge
    ("msi", "own.store.M", '{ bus = "upgrade", next = "M" }', HIT_SILENT, 2),
    # load, load: S may be stored to without asking
    ("moesi", "own.store.S", '{ next = "M" }', ONE_WRITER, 2),
    # load, store: the store ends in S
    ("msi", "own.store.S", '{ bus = "upgrade", next = "S" }', STORE_WRITES, 2),
    # store
    ("msi", "own.store.I", '{ bus = "rfo", alone = "S", shared = "M" }', STORE_WRITES, 1),
    # store, evict
    ("moesi", "own.evict.M", '{ next = "I" }', NOT_LOST, 2),
    # store, load elsewhere, evict of the owner
    ("moesi", "own.evict.O", '{ next = "I" }', NOT_LOST, 3),
    # load, evict
    ("mesi", "own.evict.E", '{ impossible = "clean blocks stay" }', POSSIBLE, 2),
    # load, load: both S write back, so both answer for the block
    ("mesi", "own.evict.S", '{ next = "I", writeback = true }', ONE_OWNER, 2),
    # store, load elsewhere: memory supplies the old value
    ("moesi", "remote.read.M", '{ next = "O" }', LAST_WRITE, 2),
    # store, load elsewhere: nobody is left to write back
    ("moesi", "remote.read.M", '{ next = "S", supply = true }', NOT_LOST, 2),
    # store, load elsewhere: S copies, memory was not updated
    ("msi", "remote.read.M", '{ next = "S", supply = true }', NOT_LOST, 2),
    # store, load elsewhere: the writer still is one
    ("moesi", "remote.read.M", '{ next = "M", supply = true }', ONE_WRITER, 2),
    # load, load elsewhere
    ("mesi", "remote.read.E", '{ impossible = "nobody reads twice" }', POSSIBLE, 2),
    # store, store elsewhere: the rest of the block comes from memory
    ("mosi", "remote.rfo.M", '{ next = "I" }', LAST_WRITE, 2),
    # load, load, store in the third
    ("moesi", "remote.rfo.S", '{ next = "S", supply = true }', ONE_WRITER, 3),
    # store, load elsewhere, which upgrades
    ("mosi", "remote.upgrade.O", '{ next = "O" }', ONE_WRITER, 3),
    ("mosi", "remote.upgrade.O", UNIQUE, POSSIBLE, 3),
    # store, load elsewhere: the dirty block is given as a clean one
    ("hammer", "remote.read.MM", '{ next = "I", supply = true, gives = "E" }', NOT_LOST, 2),
    # store, load elsewhere: both own it
    ("hammer", "remote.read.MM", '{ next = "O", supply = true, gives = "O" }', ONE_OWNER, 2),
    # store, store elsewhere: what the store is given it may not write
    ("hammer", "remote.rfo.MM", '{ next = "I", supply = true, gives = "D" }', STORE_WRITES, 2),
]


@pytest.mark.parametrize(("base", "place", "instead", "law", "events"), MISTAKES)
def test_mistake_in_a_table_violates_its_invariant(
    tmp_path: Path, base: str, place: str, instead: str, law: str, events: int
) -> None:
    verdict = prove(edited(tmp_path, base, place, instead))
    assert verdict.proof is None
    assert verdict.counterexample is not None
    assert (verdict.counterexample.fault.law, verdict.counterexample.events) == (law, events)


def test_invariants_are_all_violated_by_a_mistake() -> None:
    assert {mistake[3] for mistake in MISTAKES} == set(MEANING) - set(HOME_LAWS)


def test_table_cells_of_all_kinds_have_a_mistake() -> None:
    kinds = {"load", "fetch", "store", "evict", "read", "rfo", "upgrade"}
    assert {mistake[1].split(".")[1] for mistake in MISTAKES} == kinds


def test_counterexample_steps_name_core_and_event(tmp_path: Path) -> None:
    path = edited(tmp_path, "moesi", "own.evict.O", '{ next = "I" }')
    found = prove(path).counterexample
    assert found is not None
    assert [(line.event, line.caches, line.memory, line.last_write) for line in found.lines] == [
        ("initial state: no cache holds the block", ["I", "I", "I"], "0", "0"),
        ("core 0 stores 1 (miss): rfo request, memory supplies", ["M 1", "I", "I"], "0", "1"),
        ("core 1 loads (miss): read request, core 0 (M) supplies 1", ["O 1", "S 1", "I"], "0", "1"),
        ("core 0 evicts the block", ["I", "S 1", "I"], "0", "1"),
    ]
    assert found.fault.sentence == "the last value stored is 1, but memory holds 0 and no owner holds 1"


def test_impossible_cell_is_reported_with_its_reason(tmp_path: Path) -> None:
    path = edited(tmp_path, "mosi", "remote.upgrade.O", UNIQUE)
    found = prove(path).counterexample
    assert found is not None
    assert found.lines[-1].event == "core 1 stores 2: upgrade request"
    assert found.fault.sentence == (
        "core 0 snoops the upgrade request in O (cell remote.upgrade.O): the table marks this cell as impossible: "
        "the requester holds a copy, so nobody holds the only one"
    )


def test_unreached_cell_is_reported(tmp_path: Path) -> None:
    path = edited(tmp_path, "moesi", "remote.upgrade.E", '{ next = "I" }')
    proof = prove(path).proof
    assert proof is not None
    assert proof.unreached == ["remote.upgrade.E"]


def test_supplier_may_be_any_of_several_equal_copies(tmp_path: Path) -> None:
    """Of up to three S copies each may supply."""
    verdict = prove(edited(tmp_path, "msi", "remote.read.S", '{ next = "S", supply = true }'), caches=4)
    assert verdict.proof is not None

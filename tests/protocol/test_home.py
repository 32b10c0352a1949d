# SPDX-License-Identifier: GPL-2.0-or-later
"""One mistake in each row of each shipped home, the law that it breaks, and the fewest events that can break it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.protocol.mutants import unguarded
from tests.protocol.tables import HOMED, edited

from s80lab.protocol.counterexample import Counterexample, counterexample
from s80lab.protocol.laws import (
    CURRENT,
    DECLARED,
    HOME_LAWS,
    LAST_WRITE,
    NOT_LOST,
    ONE_OWNER,
    ONE_WRITER,
    POSSIBLE,
    RECALLED,
    STORE_WRITES,
)
from s80lab.protocol.murphi import murphi
from s80lab.protocol.murphi_check import explore
from s80lab.protocol.proof import prove
from s80lab.protocol.show import state_table
from s80lab.protocol.table import find_protocol, load_protocol

pytestmark = pytest.mark.usefixtures("proofs")

# Base, cell, what it becomes, the law, the number of events; above, the events.
MISTAKES = [
    # load, load elsewhere: the directory thinks of one copy
    ("hammer", "home.read.NO", '{ next = "NO" }', DECLARED, 2),
    # load, load elsewhere, evict of both, load, evict: the only copy entered in E while the home assumed sharers
    ("hammer", "home.read.O", '{ next = "O" }', POSSIBLE, 6),
    # store, evict
    ("hammer", "home.rfo.E", '{ next = "O" }', POSSIBLE, 2),
    # load, evict
    ("hammer", "home.put.exclusive.NO", '{ impossible = "clean blocks go silently" }', POSSIBLE, 2),
    # load, load elsewhere, evict of the owner: the directory forgets the sharer
    ("hammer", "home.put.owner.NX", '{ next = "E" }', DECLARED, 3),
    # load, recall
    ("hammer", "home.recall.NO", '{ impossible = "the probe filter is large" }', POSSIBLE, 2),
    # store, recall
    ("hammer", "remote.recall.MM", '{ next = "I" }', NOT_LOST, 2),
    # load, load elsewhere, recall
    ("hammer", "remote.recall.S", '{ next = "S" }', RECALLED, 3),
    # load, load elsewhere: the home thinks of one copy
    ("mesi-llc", "home.read.MT", '{ next = "MT" }', DECLARED, 2),
    # store: the home would supply what it got from memory before the store
    ("mesi-llc", "home.read.MT", '{ supply = true, first = true, next = "SS" }', CURRENT, 1),
    # store, load elsewhere: the home takes the dirty block for clean
    ("mesi-llc", "home.read.MT", '{ next = "SS" }', NOT_LOST, 2),
    # store, evict, load: the home has the newest block, but memory supplies
    ("mesi-llc", "home.read.PD", '{ next = "MTD" }', LAST_WRITE, 3),
    # load, load elsewhere, store of the first, load elsewhere: the old S copy was not tracked
    ("mesi-llc", "home.read.SS", '{ next = "MT", supply = true, grants = "shared" }', DECLARED, 3),
    # load, load elsewhere, store in the third, load: the home takes the block for a clean shared one
    ("mesi-llc", "home.rfo.SS", '{ next = "SS", supply = true }', NOT_LOST, 4),
    # load, load elsewhere, store
    ("mesi-llc", "home.upgrade.SS", '{ impossible = "nobody stores" }', POSSIBLE, 3),
    # store, evict
    ("mesi-llc", "home.put.exclusive.MT", '{ next = "P" }', NOT_LOST, 2),
    # load, displacement: the copy stays, so the cache is not inclusive
    ("mesi-llc", "home.displace.MT", '{ next = "NP" }', DECLARED, 2),
    # store, evict, displacement
    ("mesi-llc", "home.displace.PD", '{ next = "NP" }', NOT_LOST, 3),
    # store, displacement: the recalled copy takes its data with it
    ("mesi-llc", "remote.recall.M", '{ next = "I" }', NOT_LOST, 2),
    # store, evict, load: the dirty block enters the reader's cache as a clean one
    ("mesif-snoop-filter", "home.read.LD", '{ next = "X", supply = true }', NOT_LOST, 3),
    # load, load elsewhere, store in the third
    ("mesif-snoop-filter", "home.rfo.SH", '{ next = "SH" }', POSSIBLE, 4),
    # load, load elsewhere, store
    ("mesif-snoop-filter", "home.upgrade.SH", '{ next = "SH" }', POSSIBLE, 4),
    # load, load elsewhere, evict of F: a sharer remains
    ("mesif-snoop-filter", "home.put.sharer.SH", '{ next = "L" }', DECLARED, 3),
    # store, evict
    ("mesif-snoop-filter", "home.put.exclusive.X", '{ next = "L" }', NOT_LOST, 2),
    # store, load elsewhere, displacement
    ("mesif-snoop-filter", "home.displace.LSHD", '{ next = "SH" }', NOT_LOST, 3),
    # store, recall: the home keeps the dirty block as a clean one
    ("mesif-snoop-filter", "home.recall.LSHD", '{ next = "L" }', NOT_LOST, 3),
    # store, evict, load: nobody takes the responsibility for the dirty block
    ("chi-slc", "home.read.UD", '{ next = "SC", supply = true, grants = "shared" }', NOT_LOST, 3),
    # store, evict, store: the state that the home gives is not writable
    ("chi-slc", "home.rfo.UD", '{ next = "RU", supply = true, gives = "O" }', STORE_WRITES, 3),
    # load, load elsewhere, store, evict
    ("chi-slc", "home.upgrade.SC", '{ next = "RS" }', POSSIBLE, 4),
    # load, load elsewhere, evict
    ("chi-slc", "home.put.sharer.SC", '{ next = "UC" }', DECLARED, 3),
    # load, evict: the home gives an owner's state to the next reader, although it is not dirty
    ("chi-slc", "home.put.exclusive.RU", '{ next = "SC" }', NOT_LOST, 2),
    # store, load elsewhere, evict of the owner
    ("chi-slc", "home.put.owner.SC", '{ alone = "UD", shared = "SC" }', NOT_LOST, 3),
    # store, evict, displacement
    ("chi-slc", "home.displace.UD", '{ next = "I" }', NOT_LOST, 3),
    # store, load elsewhere, recall: the home keeps the owner's block as a clean one
    ("chi-slc", "home.recall.SC", '{ next = "UC" }', NOT_LOST, 3),
    # load, load elsewhere
    ("moesi-victim", "home.read.X", '{ next = "X" }', DECLARED, 2),
    # load, load elsewhere, evict of both, load: E beside a home that assumes sharers
    ("moesi-victim", "home.read.SH", '{ next = "SH" }', POSSIBLE, 6),
    # store, evict
    ("moesi-victim", "home.rfo.X", '{ next = "SH" }', POSSIBLE, 3),
    # load, load elsewhere, store, evict
    ("moesi-victim", "home.upgrade.SH", '{ next = "SH" }', POSSIBLE, 4),
    # load, evict
    ("moesi-victim", "home.put.exclusive.X", '{ impossible = "clean blocks go silently" }', POSSIBLE, 2),
    # store, load elsewhere, evict of the owner: a sharer remains
    ("moesi-victim", "home.put.owner.SH", '{ next = "I" }', DECLARED, 3),
    # load, recall
    ("moesi-victim", "remote.recall.E", '{ next = "S" }', RECALLED, 2),
    # load, load elsewhere, recall
    ("moesi-victim", "home.recall.SH", '{ impossible = "the probe filter is large" }', POSSIBLE, 3),
]


@pytest.mark.parametrize(("base", "place", "instead", "law", "events"), MISTAKES)
def test_mistake_in_a_home_violates_its_invariant(
    tmp_path: Path, base: str, place: str, instead: str, law: str, events: int
) -> None:
    verdict = prove(edited(tmp_path, base, place, instead))
    assert verdict.counterexample is not None
    assert (verdict.counterexample.fault.law, verdict.counterexample.events) == (law, events)


def test_each_row_of_each_home_has_a_mistake() -> None:
    rows = {(base, place.rpartition(".")[0]) for base, place, *_ in MISTAKES}
    for name in HOMED:
        home = load_protocol(find_protocol(name)).home
        assert home is not None
        assert {row for row, _ in home.rows()} <= {row for base, row in rows if base == name}


def test_each_cell_of_a_home_has_a_mutant_that_is_refused(tmp_path: Path) -> None:
    """Of the smallest table; `python -m tests.protocol.mutants` judges all."""
    assert unguarded("moesi-victim", tmp_path) == []


def test_laws_of_the_home_are_all_violated_by_a_mistake() -> None:
    assert set(HOME_LAWS) <= {mistake[3] for mistake in MISTAKES}


# A fault in the move of a block: the line of the rule `own.move.STATE`, what it becomes, the law, the events.
MOVES = [
    # store, move: the owner's block arrives as a clean one
    ("M", "cache[receiver].state := st_M;", "cache[receiver].state := st_S;", NOT_LOST, 2),
    # store, load elsewhere, move
    ("O", "cache[receiver].state := st_O;", "cache[receiver].state := st_S;", NOT_LOST, 3),
    # load, move, evict: the home knows of an exclusive copy
    ("E", "cache[receiver].state := st_E;", "cache[receiver].state := st_O;", POSSIBLE, 3),
    # load, load elsewhere, move
    ("S", "cache[receiver].state := st_S;", "cache[receiver].state := st_E;", ONE_WRITER, 3),
    # store, load elsewhere, move
    ("S", "cache[receiver].state := st_S;", "cache[receiver].state := st_O;", ONE_OWNER, 3),
    # load, move: the copy stays
    ("E", "cache[core].state := st_I;", "", ONE_WRITER, 2),
    # store, move: the data stay behind
    ("M", "cache[receiver].value := cache[core].value;", "", LAST_WRITE, 2),
]


def moved_wrongly(state: str, line: str, instead: str) -> Counterexample:
    """The counterexample to moesi-victim whose rule for the move of a block in `state` has another line."""
    protocol = load_protocol(find_protocol("moesi-victim"))
    before, head, after = murphi(protocol, 3).partition(f'rule "own.move.{state}"')
    assert line in after
    found = explore(before + head + after.replace(line, instead, 1), lambda stage: None)
    assert found.error is not None
    return counterexample(protocol, found)


@pytest.mark.parametrize(("state", "line", "instead", "law", "events"), MOVES)
def test_mistake_in_a_move_violates_its_invariant(state: str, line: str, instead: str, law: str, events: int) -> None:
    found = moved_wrongly(state, line, instead)
    assert (found.fault.law, found.events) == (law, events)
    assert {place for place, *_ in MOVES} == set(load_protocol(find_protocol("moesi-victim")).present)


def test_counterexample_shows_the_home(tmp_path: Path) -> None:
    found = prove(edited(tmp_path, "mesi-llc", "home.displace.PD", '{ next = "NP" }')).counterexample
    assert found is not None
    assert [(line.event, line.home, line.memory) for line in found.lines] == [
        ("initial state: no cache holds the block", "NP", "0"),
        ("core 0 stores 1 (miss): rfo request, memory supplies", "MT 0", "0"),
        ("core 0 evicts the block and writes it back", "PD 1", "0"),
        ("the last-level cache needs the way (PD)", "NP", "0"),
    ]
    assert found.fault.sentence == (
        "the last value stored is 1, but memory holds 0, the home (NP) has no dirty block with 1 and no owner holds 1"
    )


def test_counterexample_says_who_supplies_and_who_recalls(tmp_path: Path) -> None:
    read = prove(edited(tmp_path, "chi-slc", "home.read.UD", '{ next = "SC", supply = true }')).counterexample
    assert read is not None
    assert read.lines[-1].event == "core 0 loads (miss): read request, the home (UD) supplies"
    recall = prove(edited(tmp_path, "moesi-victim", "remote.recall.E", '{ next = "S" }')).counterexample
    assert recall is not None
    assert recall.lines[-1].event == "the directory needs the entry (X) and recalls the block"
    assert recall.fault.sentence == "the home recalls a copy in E (cell remote.recall.E): the copy stays, in S"
    displaced = prove(edited(tmp_path, "mesi-llc", "remote.recall.E", '{ next = "S" }')).counterexample
    assert displaced is not None
    assert displaced.lines[-1].event == "the last-level cache needs the way (MT) and recalls the block"


def test_fetch_may_be_told_from_a_read_at_the_home(tmp_path: Path) -> None:
    """As in MESI_Two_Level: the home grants a fetch shared copies only."""
    text = find_protocol("mesi-llc").read_text()
    row = re.search(r"\[home.read\]\n.*?\n\n", text, re.DOTALL)
    assert row is not None
    fetch = row[0].replace("home.read", "home.fetch")
    fetch = fetch.replace('NP = { next = "MT" }', 'NP = { next = "SS", grants = "shared" }')
    fetch = fetch.replace('P = { next = "MT", supply = true }', 'P = { next = "SS", supply = true, grants = "shared" }')
    fetch = fetch.replace('{ next = "MTD", supply = true }', '{ next = "SSD", supply = true, grants = "shared" }')
    file = tmp_path / "two-level.toml"
    file.write_text(text.replace("[home.rfo]", fetch + "[home.rfo]"))
    proof = prove(file).proof
    assert proof is not None
    assert proof.unreached == ["own.fetch.I.alone"]
    file.write_text(file.read_text().replace('NP = { next = "SS", grants = "shared" }', 'NP = { next = "SS" }'))
    found = prove(file).counterexample
    assert found is not None
    assert (found.fault.law, found.events) == (POSSIBLE, 2)
    assert found.lines[1].event == "core 0 fetches (miss): read request, memory supplies"


@pytest.mark.parametrize("name", HOMED)
def test_table_shows_recalls_if_there_are_any(name: str) -> None:
    assert "is recalled" in state_table(load_protocol(find_protocol(name))).columns

# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces on machines with a last-level cache and a directory: values, recalls, and the sentences about recalls."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.config.machine import Machine, load_machine
from s80lab.protocol.table import load_protocol
from s80lab.trace import source, step, tool
from s80lab.trace.order import Op, make
from s80lab.trace.setup import Setup
from s80lab.trace.source import Wanted
from s80lab.trace.values import Values

HOMES = sorted(file for file in paths.PROTOCOLS.glob("*.toml") if load_protocol(file).home is not None)


def machine(protocol: str, random: Random) -> Machine:
    """A machine of few lines for the protocol, so that everything overflows."""
    home = load_protocol(paths.PROTOCOLS / f"{protocol}.toml").home
    assert home is not None
    settings: dict[str, object] = {
        "protocol": protocol,
        "l2.inclusion": random.choice(["inclusive", "inclusive-gem5", "exclusive", "exclusive-textbook"]),
    }
    if home.has_llc:
        ways = random.choice([1, 2, 3])
        settings |= {"llc.ways": ways, "llc.size": 64 * ways * random.choice([1, 2, 4]), "latency.llc": 40}
        settings |= {"llc.replacement": random.choice(["lru", "srrip", "random"])}
    if home.recall and random.random() < 0.7:
        ways = random.choice([1, 2, 3])
        settings |= {"directory.ways": ways, "directory.entries": ways * random.choice([1, 2])}
    return load_machine("classroom", settings)


@pytest.mark.parametrize("file", HOMES, ids=lambda file: file.stem)
def test_random_accesses_keep_the_invariants_of_a_home(file: Path) -> None:
    """The protocols are proven for one block in three caches. Here the cells meet capacities and whole machines."""
    protocol = file
    events: dict[str, int] = {}
    for seed in range(12):
        random = Random(seed)
        built = machine(protocol.stem, random)
        ops = [random.choice([Op.LOAD, Op.LOAD, Op.STORE, Op.IFETCH]) for _ in range(400)]
        order = make([random.randrange(4) for _ in ops], ops, [random.randrange(random.choice([6, 20])) for _ in ops])
        values = Values(load_protocol(protocol), 4)
        for one in tool.steps(order, Setup(built, protocol)):
            faults = values.play(one)
            assert not faults, (seed, one, faults)
            for cell in one.get("home", []):
                assert values.block(cell["line"]).home is not None
                events[cell["event"]] = events.get(cell["event"], 0) + 1
    home = load_protocol(protocol).home
    assert home is not None
    assert not (home.has_llc or home.recall) or (events["read"] > 100 and events["rfo"] > 100)
    assert not home.has_llc or events["displace"] > 100
    assert not home.recall or events["recall"] > 100


def test_recall_of_the_lesson_is_explained() -> None:
    told = step.lesson(source.load(paths.LESSONS / "recall.trace", Wanted()), "recall")
    fourth, fifth = told.steps[3], told.steps[4]
    assert "the last-level cache needs the way of A: A at home MT → NP (home.displace.MT)" in fourth.reasons
    assert "recall: core 0 loses A in M, with writeback (remote.recall.M)" in fourth.reasons
    assert fourth.changes[0, 0] is None
    assert any("after a recall of this core's copy" in reason for reason in fifth.reasons)
    assert [one.at_home for one in told.steps] == ["MT", "MT", "MT", "MT", "MT", "SS", "MT"]


def test_last_level_cache_is_named_as_the_supplier() -> None:
    order = make(0, [Op.LOAD] * 4, [0, 2, 4, 0])
    table = paths.PROTOCOLS / "mesi-llc.toml"
    *_, last = tool.steps(order, Setup(load_machine("classroom-llc", {"llc.size": "4KiB"}), table))
    assert last["from_llc"] and last["stall"] == 40


@pytest.mark.parametrize(
    ("machine", "protocol", "message"),
    [
        ("classroom-llc", "moesi", r"the protocol has no \[home\]"),
        ("classroom-llc", "hammer", r"no home state of the protocol has data.*remove \[llc\]"),
        ("classroom", "mesi-llc", r"the protocol needs a last-level cache.*add \[llc\] to the machine"),
    ],
)
def test_machine_and_protocol_that_do_not_fit_are_refused(machine: str, protocol: str, message: str) -> None:
    setup = Setup(load_machine(machine, {"protocol": protocol}), paths.PROTOCOLS / f"{protocol}.toml")
    with pytest.raises(UserError, match=message):
        list(tool.steps(make(0, [Op.LOAD], [0]), setup))


def last(
    accesses: str, inclusion: str, *settings: str, machine: str = "classroom-llc", protocol: str = "mesi-llc"
) -> dict[str, Any]:
    """The effect of the last of these accesses, each processor, operation and line, for example `0L4`."""
    made = Setup.load(machine, protocol, [f"l2.inclusion={inclusion}", *settings])
    ops = {"L": Op.LOAD, "S": Op.STORE, "F": Op.IFETCH}
    words = accesses.split()
    order = make([int(w[0]) for w in words], [ops[w[1]] for w in words], [int(w[2:]) for w in words])
    return list(tool.steps(order, made))[-1]


@pytest.mark.parametrize(("inclusion", "where"), [("inclusive", "L1D+L2"), ("inclusive-gem5", "L2")])
def test_read_of_another_core_takes_the_block_out_of_the_l1(inclusion: str, where: str) -> None:
    (holder,) = last("0L1 1L1", inclusion)["remote"]
    assert holder["after"] == {"state": "S", "where": where}


@pytest.mark.parametrize(("inclusion", "where"), [("inclusive", "L1I+L1D+L2"), ("inclusive-gem5", "L1I+L2")])
def test_fetch_takes_the_line_out_of_the_l1d(inclusion: str, where: str) -> None:
    assert last("0L1 0F1", inclusion)["after"]["where"] == where


@pytest.mark.parametrize(("inclusion", "victim"), [("inclusive", 2), ("inclusive-gem5", 0)])
def test_silent_store_changes_the_order_of_the_l2(inclusion: str, victim: int) -> None:
    """Lines 0, 2 and 4 meet in a set of the L2 of two ways. The L1D has two ways here, so it still holds line 0."""
    effect = last("0L0 0L2 0S0 0L4", inclusion, "l1d.size=256", "l1d.ways=2", "llc.size=2KiB", "llc.ways=8")
    assert [change["line"] for change in effect["moved"] if change["after"]["where"] == ""] == [victim]


@pytest.mark.parametrize(("inclusion", "recalled"), [("inclusive", True), ("inclusive-gem5", False)])
def test_victim_of_the_l2_leaves_before_the_request(inclusion: str, recalled: bool) -> None:
    """Lines 0, 4 and 8 meet in one set of two ways, in the L2 and in the LLC. If line 0 has left the L2, the LLC has
    nothing to recall for line 8."""
    (displaced,) = [one for one in last("0L0 0L4 0L8", inclusion)["home"] if one["event"] == "displace"]
    assert displaced["line"] == 0 and bool(displaced["recalled"]) == recalled


@pytest.mark.parametrize(("first", "recalled"), [("1L1 0L0", [1]), ("0L0 1L1", [])])
def test_entry_of_an_evicted_line_is_free_after_the_access(first: str, recalled: list[int]) -> None:
    """The load of line 4 evicts line 0 from core 0 before its request. The directory of three entries still has lines
    0, 1 and 2: it recalls line 1 if its entry is the least recent one, and nothing if the entry of line 0 is."""
    settings = ("l1d.size=64", "l2.size=64", "l2.ways=1", "directory.entries=3", "directory.ways=3")
    effect = last(f"{first} 0L2 0L4", "exclusive", *settings, machine="classroom", protocol="hammer")
    assert [one["line"] for one in effect["home"] if one["event"] == "recall"] == recalled

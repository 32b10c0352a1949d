# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces on machines with a last-level cache and a directory: values, recalls, and the sentences about recalls."""

from __future__ import annotations

from pathlib import Path
from random import Random

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
        "l2.inclusion": random.choice(["inclusive", "exclusive", "exclusive-textbook"]),
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

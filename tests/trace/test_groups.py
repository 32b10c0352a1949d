# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces on machines with group caches: values, moves, and the sentences about them."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random

import pytest
from rich.console import Console

from s80lab.base import paths
from s80lab.config.machine import Machine, load_machine
from s80lab.protocol.table import load_protocol
from s80lab.report import step_page
from s80lab.trace import source, step, tool
from s80lab.trace.order import Op, make
from s80lab.trace.setup import Setup
from s80lab.trace.source import Wanted
from s80lab.trace.step_table import show_list
from s80lab.trace.values import Values

PROTOCOLS = sorted(paths.PROTOCOLS.glob("*.toml"))


def machine(file: Path, random: Random) -> Machine:
    """A machine of few lines with group caches, so that everything overflows."""
    home = load_protocol(file).home
    settings: dict[str, object] = {
        "l2.inclusion": random.choice(["inclusive", "inclusive-gem5", "exclusive", "exclusive-textbook"]),
        "group.cores": random.choice([1, 2, 4]),
        "group.ways": (ways := random.choice([1, 2, 3])),
        "group.size": 64 * ways * random.choice([1, 2, 4]),
        "group.replacement": random.choice(["lru", "srrip", "random"]),
        "latency.group": 20,
    }
    if home is not None and home.has_llc:
        settings |= {"llc.ways": 2, "llc.size": 64 * 2 * random.choice([1, 2, 4]), "latency.llc": 40}
    if home is not None and home.recall and random.random() < 0.7:
        settings |= {"directory.ways": 2, "directory.entries": 2 * random.choice([1, 2])}
    return load_machine("classroom", settings)


@pytest.mark.parametrize("file", PROTOCOLS, ids=lambda file: file.stem)
def test_random_accesses_keep_the_invariants_with_group_caches(file: Path) -> None:
    hits = evictions = 0
    for seed in range(12):
        random = Random(seed)
        built = machine(file, random)
        ops = [random.choice([Op.LOAD, Op.LOAD, Op.STORE, Op.IFETCH]) for _ in range(400)]
        order = make([random.randrange(4) for _ in ops], ops, [random.randrange(random.choice([6, 20])) for _ in ops])
        values = Values(load_protocol(file), built.cores + built.groups)
        for one in tool.steps(order, Setup(built, file)):
            faults = values.play(one)
            assert not faults, (seed, one, faults)
            hits += one["from_group"]
            evictions += sum(move["to"] is None for move in one["group"])
    assert hits > 50
    assert evictions > 10


@pytest.mark.parametrize("inclusion", ["inclusive-gem5", "exclusive"])
def test_group_cache_that_evicts_the_requested_line_sees_no_request(inclusion: str) -> None:
    built = load_machine("classroom-groups", {"l2.inclusion": inclusion})
    file = paths.PROTOCOLS / "moesi-victim.toml"
    lines = [2 * number for number in range(12)]
    for length in range(2, len(lines)):
        order = make([0] * (length + 1), [Op.STORE] + [Op.LOAD] * length, [*lines[:length], 0])
        last = list(tool.steps(order, Setup(built, file)))[-1]
        evicted = [move for move in last["group"] if move["to"] is None and move["line"] == 0]
        if evicted:
            assert (last["missed"], last["remote"]) == (True, [])
            return
    pytest.fail("no trace in which the group cache evicts the requested line")


def test_lesson_explains_each_move() -> None:
    told = step.lesson(source.load(paths.LESSONS / "group-cache.trace", Wanted()), "group-cache")
    reasons = [one.reasons for one in told.steps]
    assert "L2 eviction: A in M moves to group cache 0" in reasons[2]
    assert "miss in L1 and L2, group cache 0 gives up the block in M: no bus request (own.load.M)" in reasons[3]
    assert "L2 eviction: A in M moves to group cache 0" in reasons[5]
    assert "group cache 0 snoops the read request: supplies the block, M → O (remote.read.M)" in reasons[6]
    assert (
        "miss in L1 and L2, group cache 0 gives up the block in O, without write permission: upgrade request, O → M "
        "(own.store.O)"
    ) in reasons[7]
    assert [one.stall for one in told.steps] == [100, 100, 100, 20, 50, 50, 50, 50]
    assert [one.from_group for one in told.steps] == [False, False, False, True, False, False, False, True]
    assert told.cores == [0, 1, 2, 4]
    assert told.steps[6].supplier == 4
    assert [str(spot) for _, spot in sorted(told.steps[6].copies.items())] == ["S 1", "O 1"]
    assert not any(one.violations for one in told.steps)


def test_lesson_names_group_caches_on_terminal_and_page() -> None:
    told = step.lesson(source.load(paths.LESSONS / "group-cache.trace", Wanted()), "group-cache")
    out = io.StringIO()
    show_list(told, Console(file=out, width=150))
    text = out.getvalue()
    assert " 4  core 1 loads A" in text
    assert "the group cache supplies, home X, 20 cycles" in text
    assert "group cache 0 supplies, " in text
    assert ">group cache 0</th>" in step_page.page(told)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The model's hammer counts what gem5's Ruby counted, in recorded replays: equal where accesses are spaced apart. If
the user's own gem5 is found, it says today what was recorded."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.gem5.agree import probe, random_traces, warm_case
from tests.gem5.agree.cases import Case, cases, pack, unpack
from tests.gem5.agree.random_traces import KINDS, TRANSIENT, replay

from s80lab.base.errors import UserError
from s80lab.gem5 import binary
from s80lab.gem5.agree import agree, categories
from s80lab.gem5.agree.agree import Row
from s80lab.gem5.agree.categories import CATEGORIES, model_counts, ruby_counts
from s80lab.gem5.check.traces import random_order
from s80lab.trace import tool
from s80lab.trace.order import DTYPE

CLOSE_LIMIT = 0.01


@pytest.fixture(scope="session")
def compared() -> dict[str, list[Row]]:
    return {case.name: compare(case) for case in cases()}


def compare(case: Case) -> list[Row]:
    made = case.setup()
    order = agree.timed(case.order(), made.machine, case.spacing)
    ruby = ruby_counts(recorded(case), len(order), case.name)
    order["tick"] = 0
    model = model_counts(counted(order.tobytes(), case.about["machine"], tuple(case.about["settings"])), len(order))
    return [Row(c.name, ruby[c.name], model[c.name], len(order)) for c in CATEGORIES]


def recorded(case: Case) -> dict[str, int]:
    return categories.parse_transitions(case.stats(), case.name)


@cache
def counted(order: bytes, machine: str, settings: tuple[str, ...]) -> dict[str, int]:
    """The model knows no ticks: accesses in the same order are counted once."""
    return tool.counts(np.frombuffer(order, DTYPE), agree.setup(machine, list(settings)))


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_model_counts_equal_the_recorded_ruby_counts(case: Case, compared: dict[str, list[Row]]) -> None:
    limit = 0.0 if case.spacing == "spaced" else CLOSE_LIMIT
    differ = {row.category: (row.ruby, row.model) for row in compared[case.name] if abs(row.share) > limit}
    assert differ == {}


@pytest.mark.parametrize("name", KINDS)
def test_model_counts_equal_those_of_recorded_random_traces(name: str) -> None:
    kind = KINDS[name]
    recalls = 0
    traces = random_traces.recorded(name)
    for seed, rows in traces.items():
        made, order = random_traces.draw(kind, seed)
        compared = agree.compare(rows, order, made, f"{name}, seed {seed}")
        assert {row.category: (row.ruby, row.model) for row in compared if row.difference} == {}
        recalls += sum(row.ruby for row in compared if row.category.startswith(kind.recalls))
    assert len(traces) >= 20 and (recalls >= 1000 or name == "hammer")


def test_spaced_replays_cover_all_categories(compared: dict[str, list[Row]]) -> None:
    spaced = {case.name for case in cases() if case.spacing == "spaced"}
    seen = {row.category for name in spaced for row in compared[name] if row.ruby}
    assert seen == {category.name for category in CATEGORIES} - TRANSIENT


def test_differences_come_from_transactions_under_way_at_once(compared: dict[str, list[Row]]) -> None:
    """The same accesses ever farther apart: the largest difference shrinks, and alone they leave none."""
    names = ("mail-close", "mail-close-4x", "mail-close-16x", "mail-spaced")
    total = [sum(abs(row.difference) for row in compared[name]) for name in names]
    assert total[0] > total[1] > total[2] > total[3] == 0


def test_reads_that_caches_supply_are_the_same_counting_the_readers_of_merged_answers(
    compared: dict[str, list[Row]],
) -> None:
    """16 times apart, what remains are reads of one line at one tick, which Ruby's directory merges."""
    case = next(case for case in cases() if case.name == "mail-close-16x")
    rows = recorded(case)
    alone = [f"L1Cache_Controller.{state}.Other_GETS" for state in ("M", "O", "OM", "MI", "OI")]
    shared_fills = rows["L1Cache_Controller.IS.Shared_Data"] + rows.get("L1Cache_Controller.IS.Data", 0)
    merged = shared_fills - sum(rows.get(row, 0) for row in alone) - rows.get("Directory_Controller.O.GETS", 0)
    supplied = [
        row
        for row in compared[case.name]
        if row.category.startswith("reads: from M") or row.category == "reads: from O"
    ]
    assert merged > 100
    assert abs(sum(row.difference for row in supplied) - merged) <= merged // 50


def test_random_accesses_are_the_recorded_ones() -> None:
    order = random_order(seed=1, accesses=4, processors=18, lines=48, stores=25, fetches=5, own=10)
    assert order[["processor", "op", "line"]].tolist() == [(10, 1, 13), (13, 1, 38), (17, 1, 19), (7, 1, 29)]


def test_packed_order_is_unpacked_unchanged() -> None:
    order = random_order(seed=9, accesses=3000, processors=5, lines=1 << 30, stores=30, fetches=30, own=0)
    order["tick"] = range(0, 3000 * 12345, 12345)
    assert (unpack(pack(order)) == order).all()


SMALL = [case for case in cases() if "trace" in case.about]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_ruby_and_the_model_agree(case: Case, gem5: Path, tmp_path: Path) -> None:
    rows, record = agree.run(case.order(), case.setup(), case.spacing, gem5, tmp_path)
    assert [row for row in rows if row.difference] == []
    assert record["facts"]["protocol"] == "MOESI_hammer"


def test_ruby_and_the_model_agree_from_warm_caches(gem5: Path, tmp_path: Path) -> None:
    order = warm_case.accesses()[warm_case.FIRST :]
    rows, record = agree.run(order, warm_case.setup(), "spaced", gem5, tmp_path, warm_case.begin(tmp_path))
    assert [row for row in rows if row.difference] == []
    assert record["loading"]["accesses"] > 1000


def test_contents_of_ruby_after_loading_are_those_of_the_model(gem5: Path, tmp_path: Path) -> None:
    if gem5.suffix == ".fast":
        pytest.skip("gem5.fast prints no transitions")
    read, different = probe.probe(warm_case.begin(tmp_path), warm_case.setup(), gem5, tmp_path / "gem5", warm_case.SETS)
    assert different == []
    assert sum(read.values()) > 1000


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", KINDS)
def test_random_traces_that_overflow_the_caches_agree(name: str, seed: int, gem5: Path, tmp_path: Path) -> None:
    kind = KINDS[name]
    ruby = agree.COUNTERPARTS[kind.protocol].ruby
    if ruby not in binary.ask(gem5).protocols:
        pytest.skip(f"{gem5} has no {ruby}")
    rows, _, _ = replay(kind, seed, gem5, tmp_path)
    assert [row for row in rows if row.difference] == []
    assert sum(row.model for row in rows if row.category.startswith("evictions: ")) > 100


def test_setup_that_gem5_refuses_gives_one_sentence(gem5: Path, tmp_path: Path) -> None:
    case = SMALL[0]
    one_set = agree.setup("classroom", ["l2.size=128"])
    with pytest.raises(UserError, match="l2 has one set, but Ruby's caches need at least two"):
        agree.run(case.order(), one_set, "spaced", gem5, tmp_path)

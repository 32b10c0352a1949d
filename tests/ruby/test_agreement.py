# SPDX-License-Identifier: GPL-2.0-or-later
"""The model's hammer counts what gem5's Ruby counted, in recorded replays: equal where accesses are spaced apart."""

from __future__ import annotations

import pytest
from tests.ruby.cases import Case, cases, pack, random_order, unpack

from s80lab import agree, ruby_stats
from s80lab.agree import Row
from s80lab.agree_categories import CATEGORIES

# Categories that only transactions under way at once can have.
TRANSIENT = {
    "reads: from a block on its way out",
    "reads: merged into one answer",
    "stores: data from a block on its way out",
}
CLOSE_LIMIT = 0.01


@pytest.fixture(scope="session")
def compared() -> dict[str, list[Row]]:
    return {case.name: compare(case) for case in cases()}


def compare(case: Case) -> list[Row]:
    made = case.setup()
    order = agree.timed(case.order(), made.machine, case.spacing)
    rows = ruby_stats.parse(case.stats(), case.name)
    return agree.compare(rows, case.about["facts"]["gem5"], order, made, case.name)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_the_model_counts_what_ruby_counted(case: Case, compared: dict[str, list[Row]]) -> None:
    limit = 0.0 if case.spacing == "spaced" else CLOSE_LIMIT
    differ = {row.category: (row.ruby, row.model) for row in compared[case.name] if abs(row.share) > limit}
    assert differ == {}


def test_every_category_occurs_in_the_spaced_replays(compared: dict[str, list[Row]]) -> None:
    spaced = {case.name for case in cases() if case.spacing == "spaced"}
    seen = {row.category for name in spaced for row in compared[name] if row.ruby}
    assert seen == {category.name for category in CATEGORIES} - TRANSIENT


def test_random_accesses_are_the_recorded_ones() -> None:
    order = random_order(seed=1, accesses=4, processors=18, lines=48, stores=25, fetches=5, own=10)
    assert order[["processor", "op", "line"]].tolist() == [(10, 1, 13), (13, 1, 38), (17, 1, 19), (7, 1, 29)]


def test_a_packed_order_comes_back() -> None:
    order = random_order(seed=9, accesses=3000, processors=5, lines=1 << 30, stores=30, fetches=30, own=0)
    order["tick"] = range(0, 3000 * 12345, 12345)
    assert (unpack(pack(order)) == order).all()

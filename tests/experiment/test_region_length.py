# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a region is measured: by instructions, and by client cycles where those take longer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from s80lab.config.experiment import Phases
from s80lab.experiment.plan import Plan
from s80lab.experiment.run import region_length
from s80lab.results.snapshots import Snapshots

WINDOW = 100


class WarmUp:
    """Windows of 100 instructions, each with a number of transactions that ended."""

    def __init__(self, *transactions: int) -> None:
        self._transactions = transactions

    def windows(self) -> list[Any]:
        return [SimpleNamespace(begin=place, end=place + 1) for place in range(len(self._transactions))]

    def delta(self, begin: int, end: int) -> Any:
        ended = sum(self._transactions[begin:end])
        return SimpleNamespace(instructions=WINDOW * (end - begin), total=lambda name, outcome: ended)


def length(warm: WarmUp, **phases: float) -> int:
    made = Phases(warmup_min=900, warmup_max=900, measure=1000, window=WINDOW, **phases)
    return region_length(cast(Plan, SimpleNamespace(phases=made, clients=8)), cast(Snapshots, warm))


def test_without_cycles_it_is_as_long_as_the_plan_says() -> None:
    assert length(WarmUp(1, 1, 1, 1)) == 1000


@pytest.mark.parametrize(("cycles", "expected"), [(1.0, 1000), (3.0, 1200), (3.01, 1300)])
def test_cycles_are_clients_times_instructions_a_transaction_in_whole_windows(cycles: float, expected: int) -> None:
    """50 instructions a transaction in the second half of the warm-up, and 8 clients: a cycle is 400."""
    assert length(WarmUp(9, 9, 2, 2), measure_cycles=cycles) == expected


def test_a_warm_up_without_a_transaction_says_nothing() -> None:
    assert length(WarmUp(5, 5, 0, 0), measure_cycles=3) == 1000

# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a region is measured: by instructions, and by client cycles where those take longer."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from s80lab.base.progress import Job
from s80lab.config.experiment import Phases
from s80lab.experiment import run
from s80lab.experiment.checkpoint import Checkpoint
from s80lab.experiment.plan import Plan
from s80lab.experiment.run import lengthened, measure_region, region_length
from s80lab.results.run_folder import TRANSACTIONS_KEYS
from s80lab.results.snapshots import Snapshots

INTERVAL = 100


class WarmUp:
    """Sampling intervals of 100 instructions, each with a number of transactions that ended."""

    def __init__(self, *transactions: int) -> None:
        self._transactions = transactions

    def intervals(self) -> list[Any]:
        return [SimpleNamespace(begin=place, end=place + 1) for place in range(len(self._transactions))]

    def delta(self, begin: int, end: int) -> Any:
        ended = sum(self._transactions[begin:end])
        return SimpleNamespace(instructions=INTERVAL * (end - begin), total=lambda name, outcome: ended)


def length(warm: WarmUp, **phases: float) -> int:
    made = Phases(warmup_min=900, warmup_max=900, measure=1000, sampling_interval=INTERVAL, **phases)
    return region_length(cast(Plan, SimpleNamespace(phases=made, clients=8)), cast(Snapshots, warm))


def test_region_without_cycles_has_the_planned_length() -> None:
    assert length(WarmUp(1, 1, 1, 1)) == 1000


@pytest.mark.parametrize(("cycles", "expected"), [(1.0, 1000), (3.0, 1200), (3.01, 1300)])
def test_cycles_are_clients_times_instructions_a_transaction_in_whole_intervals(cycles: float, expected: int) -> None:
    """50 instructions a transaction in the second half of the warm-up, and 8 clients: a cycle is 400."""
    assert length(WarmUp(9, 9, 2, 2), measure_cycles=cycles) == expected


def test_region_after_warm_up_without_transactions_has_the_planned_length() -> None:
    assert length(WarmUp(5, 5, 0, 0), measure_cycles=3) == 1000


@dataclass(frozen=True)
class Loaded:
    """What of a plan says how long it is measured."""

    phases: Phases


def loaded(**phases: float) -> Plan:
    return cast(
        Plan, Loaded(Phases(warmup_min=900, warmup_max=900, measure=1000, sampling_interval=INTERVAL, **phases))
    )


def counts(transactions: int) -> dict[str, Any]:
    rest = {"failed": 0, "substituted": 0, "histogram": [], "latency_ns": {"mean": 1.0}}
    return {"clients": 8, "transactions": {"VIEW": {"count": transactions - 1, **rest}, "SEND": {"count": 1, **rest}}}


@pytest.mark.parametrize(
    ("transactions", "cycles", "expected"),
    [
        (24, 3.5, 1000),  # three cycles of 8 clients
        (23, 3.5, 1200),  # 1.1 x 3 / 2.875 of it is 1148
        (12, 3.5, 2000),
        (3, 3.5, 2000),
        (1, 3.5, 2000),
        (23, 0.0, 1000),
        (20, 2.0, 1000),
    ],
)
def test_region_short_of_closed_loop_cycles_is_lengthened(transactions: int, cycles: float, expected: int) -> None:
    assert lengthened(loaded(measure_cycles=cycles).phases, counts(transactions)) == expected


@pytest.mark.parametrize(("transactions", "lengths"), [(30, [1000]), (20, [1000, 1400])])
def test_short_region_is_measured_once_more_from_the_warm_guest(
    transactions: int, lengths: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The second region is kept as it is, whatever comes of it, and nothing of the first is left."""
    began: list[int] = []

    async def live(plan: Plan, warm: Checkpoint, folder: Path, job: Job) -> run.Timing:
        assert list(folder.iterdir()) == []
        began.append(plan.phases.measure)
        whole = {"schema": 1} | dict.fromkeys(TRANSACTIONS_KEYS) | counts(transactions)
        (folder / "transactions.json").write_text(json.dumps(whole))
        return run.Timing(float(len(began)))

    monkeypatch.setattr(run, "live", live)
    nothing = cast(Any, None)
    timing = asyncio.run(measure_region(loaded(measure_cycles=3.5), nothing, tmp_path, nothing))
    assert began == lengths and timing.began == len(lengths)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that leave the order of their threads free.

Expected are the transfers of an operation in the reference: time slices of ten instructions, no filter, and always the
processor executes whose simulated time is lowest. Without timer interrupts these would be:

- counter, falsely: between two operations of a thread each other thread executes one. So each operation finds the line
  at another processor: 1.
- ticket, n threads: `next` and the counter move with each operation. The threads that wait read `serving` again after
  each operation: n - 1 transfers. So n + 1.
- mutex: a thread that finds it locked sleeps in the kernel, so the number has no simple form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pytest
from tests.lab import Lab
from tests.programs.program import Run, measure


class Case(NamedTuple):
    program: str
    threads: int
    work: int


Transfers = Mapping[Case, float]  # of an operation

THREADS = (2, 4, 8)
CASES = [
    *(Case("counter", n, 300) for n in THREADS),
    *(Case("falsely", n, 300) for n in THREADS),
    *(Case("ticket", n, 100) for n in THREADS),
    *(Case("mutex", n, 300) for n in THREADS),
]
# Cycles of an epoch, and the operations to execute: more where the processors' speeds are known later.
OPERATIONS = {5_000: 12_000, 20_000: 12_000, 50_000: 24_000}
# The speed of a processor that has not executed yet is unknown.
FIRST = Run("falsely", 8, 1_000, 300)
REFERENCE_OPERATIONS = 8_000


def measured(
    folders: pytest.TempPathFactory,
    operations: int,
    settings: Mapping[str, object],
    plugin: Mapping[str, object] | None = None,
) -> Transfers:
    runs = [Run(case.program, case.threads, operations // case.threads, case.work) for case in CASES]
    _, *results = measure(folders.mktemp("programs"), [FIRST, *runs], settings, plugin)
    return {case: of.transfers / of.rounds for case, of in zip(CASES, results, strict=True)}


@pytest.fixture(scope="module")
def reference(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Transfers:
    return measured(tmp_path_factory, REFERENCE_OPERATIONS, {"clock.filter_instructions": 1}, {"slice": 10})


@pytest.fixture(scope="module")
def by_epoch(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Mapping[int, Transfers]:
    return {
        epoch_cycles: measured(tmp_path_factory, operations, {"clock.epoch_cycles": epoch_cycles})
        for epoch_cycles, operations in OPERATIONS.items()
    }


@pytest.mark.guest
@pytest.mark.parametrize("case", [case for case in CASES if case.program != "mutex"], ids=str)
def test_reference_order_gives_the_expected_transfers(case: Case, reference: Transfers) -> None:
    expected = case.threads + 1 if case.program == "ticket" else 1
    assert reference[case] == pytest.approx(expected, rel=0.02)


@pytest.mark.guest
@pytest.mark.parametrize("epoch_cycles", OPERATIONS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_lines_move_as_often_as_in_the_reference(
    case: Case, epoch_cycles: int, reference: Transfers, by_epoch: Mapping[int, Transfers]
) -> None:
    assert by_epoch[epoch_cycles][case] == pytest.approx(reference[case], rel=0.1)


@pytest.mark.guest
@pytest.mark.parametrize("case", CASES, ids=str)
def test_epoch_length_does_not_change_the_count(case: Case, by_epoch: Mapping[int, Transfers]) -> None:
    counts = [by_epoch[epoch_cycles][case] for epoch_cycles in OPERATIONS]
    assert max(counts) - min(counts) <= 0.07 * min(counts), counts

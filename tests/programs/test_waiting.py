# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs whose threads wait for each other take as long, and move lines as often, as in the reference order.

A part of the table that `python -m tests.programs.waiting` prints.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.lab import Lab
from tests.programs.waiting import Case, Values, far_values, measure_order, reference, with_epochs

from s80lab.results.metrics.standing import ALLOWED_WAIT_ERROR

CASES = [
    Case("rwlock", 2, 600),
    Case("rwlock", 2, 2_000),
    Case("rwlock-busy", 2, 300),
    Case("tas", 8, 300),
    Case("ttas", 2, 0),
    Case("ttas", 8, 300),
    Case("ttas-uneven", 2, 300),
    Case("cas", 8, 300),
    Case("spinsleep", 2, 2_000),
    Case("twolines", 4, 300),
    Case("twolines", 8, 0),
    Case("deadline", 8, 300),
    Case("relay-busy", 2, 0),
    Case("relay-busy", 8, 0),
    Case("relay-busy", 5, 20_000),
    Case("relay-busy", 8, 200_000),
]
# With short epochs, many waits end in the next epoch.
SHORT = [Case("tas", 8, 300), Case("relay-busy", 2, 0)]
SHORTEST = 5_000
OPERATIONS = 8_000
EPOCHS = 20_000

Measurements = Mapping[Case, Values]


@pytest.fixture(scope="module")
def right(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Measurements:
    return measure_order(reference(10, OPERATIONS // 3), CASES, tmp_path_factory.mktemp("reference"))


@pytest.fixture(scope="module")
def measured(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Measurements:
    return measure_order(with_epochs(EPOCHS, OPERATIONS), CASES, tmp_path_factory.mktemp("measured"))


@pytest.fixture(scope="module")
def with_short_epochs(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Measurements:
    return measure_order(with_epochs(SHORTEST, OPERATIONS), SHORT, tmp_path_factory.mktemp("short"))


@pytest.mark.guest
@pytest.mark.parametrize("case", CASES, ids=str)
def test_program_waits_as_in_the_reference(case: Case, right: Measurements, measured: Measurements) -> None:
    assert far_values([case], [right], measured) == set()


@pytest.mark.guest
@pytest.mark.parametrize("case", SHORT, ids=str)
def test_program_with_short_epochs_waits_as_in_the_reference(
    case: Case, right: Measurements, with_short_epochs: Measurements
) -> None:
    assert far_values([case], [right], with_short_epochs) == set()


@pytest.mark.guest
@pytest.mark.parametrize("case", CASES, ids=str)
def test_wait_error_is_far_below_the_limit(case: Case, measured: Measurements) -> None:
    assert measured[case]["wait error"] < ALLOWED_WAIT_ERROR / 2

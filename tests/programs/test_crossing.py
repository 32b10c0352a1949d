# SPDX-License-Identifier: GPL-2.0-or-later
"""The log of misses of a program whose stores cross from one line into the next (workloads/programs/crossing.c)."""

from __future__ import annotations

import pytest
from tests.lab import Lab
from tests.programs.program import EVERYTHING, Measured, Run, measure

from s80lab.analysis.misses.log import Log, read_log

CROSSING = Run("crossing", 2, 1000)
HALF = 4  # bytes of the stored word in each of the two lines


@pytest.fixture(scope="module")
def logged(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> tuple[Measured, Log]:
    folder = tmp_path_factory.mktemp("crossing")
    (measured,) = measure(folder, [CROSSING], plugin={"misses": folder / "misses.bin", "measure": EVERYTHING})
    return measured, read_log(folder / "misses.bin")


def test_crossing_store_notes_its_part_of_the_second_line(logged: tuple[Measured, Log]) -> None:
    measured, log = logged
    records = log.records
    store = log.labels["kind"].index("store")
    parts = records[(records["kind"] == store) & (records["size"] == HALF)]
    second = parts[parts["address"] % log.line_bytes == 0]
    assert len(second) >= measured.a_round * 0.99
    assert set(second["writes"].tolist()) == {1}, "the first word of the line"


def test_crossing_store_and_load_of_another_word_share_falsely(logged: tuple[Measured, Log]) -> None:
    measured, log = logged
    records = log.records
    load, miss = log.labels["kind"].index("load"), log.labels["request"].index("miss")
    last_word = log.line_bytes - 8
    reads = records[
        (records["kind"] == load) & (records["request"] == miss) & (records["address"] % log.line_bytes == last_word)
    ]
    false = reads["sharing"] == log.labels["sharing"].index("false")
    assert false.sum() >= measured.a_round * 0.99

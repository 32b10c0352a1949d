# SPDX-License-Identifier: GPL-2.0-or-later
"""The user's own gem5, where there is one: the recorded outputs are what it says today."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.gem5.agree import probe, warm_case
from tests.gem5.agree.cases import Case, cases
from tests.gem5.agree.random_traces import MACHINES, differences

from s80lab.base.errors import UserError
from s80lab.gem5.agree import agree

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


@pytest.mark.parametrize("seed", range(len(MACHINES)))
def test_random_traces_that_overflow_the_caches_agree(seed: int, gem5: Path, tmp_path: Path) -> None:
    differ, evictions = differences(seed, gem5, tmp_path)
    assert differ == 0 and evictions > 100


def test_what_gem5_refuses_is_one_sentence(gem5: Path, tmp_path: Path) -> None:
    case = SMALL[0]
    one_set = agree.setup("classroom", ["l2.size=128"])
    with pytest.raises(UserError, match="l2 has one set, but Ruby's caches need at least two"):
        agree.run(case.order(), one_set, "spaced", gem5, tmp_path)

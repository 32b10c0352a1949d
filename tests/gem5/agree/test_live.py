# SPDX-License-Identifier: GPL-2.0-or-later
"""The user's own gem5, where there is one: the recorded outputs are what it says today."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.gem5.agree.cases import Case, cases

from s80lab.base.errors import UserError
from s80lab.gem5.agree import agree

SMALL = [case for case in cases() if "trace" in case.about]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_ruby_and_the_model_agree(case: Case, gem5: Path, tmp_path: Path) -> None:
    rows, record = agree.run(case.order(), case.setup(), case.spacing, gem5, tmp_path)
    assert [row for row in rows if row.difference] == []
    assert record["facts"]["protocol"] == "MOESI_hammer"


def test_what_gem5_refuses_is_one_sentence(gem5: Path, tmp_path: Path) -> None:
    case = SMALL[0]
    one_set = agree.setup("classroom", ["l2.size=128"])
    with pytest.raises(UserError, match="l2 has one set, but Ruby's caches need at least two"):
        agree.run(case.order(), one_set, "spaced", gem5, tmp_path)

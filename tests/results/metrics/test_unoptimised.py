# SPDX-License-Identifier: GPL-2.0-or-later
"""The reason for the instruction mix: without optimisation the paper's loop loads, stores and branches as it says."""

from __future__ import annotations

import shutil

import pytest
from tests.results.metrics.unoptimised import COMPILERS, loop_mix


@pytest.mark.parametrize("compiler", COMPILERS)
def test_optimisation_moves_the_mix_away_from_the_papers(compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    plain, optimised = loop_mix(compiler, "-O0"), loop_mix(compiler, "-O2")
    assert plain.loads_and_stores >= 0.6
    assert plain.branches <= 0.11
    assert optimised.loads_and_stores < 0.5
    assert optimised.branches > 0.15
    assert optimised.instructions < 0.7 * plain.instructions

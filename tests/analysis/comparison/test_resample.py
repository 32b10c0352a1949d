# SPDX-License-Identifier: GPL-2.0-or-later
"""The resampling of runs: the share of false verdicts for runs of one design, and of planted differences found."""

from __future__ import annotations

import numpy as np
from tests.analysis.comparison.resample import calibrate
from tests.analysis.comparison.sides import TESTED
from tests.analysis.comparison.test_calibration import drawn_side, normal


def test_resampling_of_eight_boots_with_three_seeds_is_calibrated() -> None:
    draw = np.random.default_rng(8)
    values = 0.7 * normal(draw, (len(TESTED), 8, 1)) + normal(draw, (len(TESTED), 8, 3))
    found = calibrate(drawn_side("imapb", values), boots=4, draws=300)
    assert found.comparisons <= 0.07 * found.draws and max(found.rows.values(), default=0) <= 0.07 * found.draws
    assert min(found.found.values()) >= 0.9 * found.draws
    assert set(found.found) == {"l2_mpki.all", "e_share", "e_to_m_share", "cpi.all"}

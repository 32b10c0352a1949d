# SPDX-License-Identifier: GPL-2.0-or-later
"""Accesses drawn at random, of the shapes that the exchange formats must carry."""

from __future__ import annotations

import numpy as np
import pytest

from s80lab.trace.order import Order, make


@pytest.fixture
def drawn() -> Order:
    """2,000 accesses of 5 processors, every op and context, lines from 0 to the highest, ticks that go up."""
    random = np.random.default_rng(7)
    n = 2000
    line = random.integers(0, 40, n)
    line[::97] = 0xFFFF_FFFE
    tick = np.cumsum(random.integers(1, 5000, n))
    return make(random.integers(0, 5, n), random.integers(0, 4, n), line, tick, random.integers(0, 6, n))

# SPDX-License-Identifier: GPL-2.0-or-later
"""What the host has."""

from __future__ import annotations

import os


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))

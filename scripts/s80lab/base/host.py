# SPDX-License-Identifier: GPL-2.0-or-later
"""What the host has."""

from __future__ import annotations

import os
import platform


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def name() -> str:
    """What the host is called among those that share its file system."""
    return platform.node()

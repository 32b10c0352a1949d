# SPDX-License-Identifier: GPL-2.0-or-later
"""Properties of the host."""

from __future__ import annotations

import os
import platform


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # macOS and Windows do not tell which cores a process may use
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def name() -> str:
    """The network name of the host. It distinguishes hosts that share a file system."""
    return platform.node()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The shares that the steady-state test watches: every share of the headline.

The sampling intervals keep the numerator and the denominator of each share, so that the test can form a share over any
stretch of intervals.
"""

from __future__ import annotations

from collections.abc import Mapping

from s80lab.results.metrics.cycles import cycles, told
from s80lab.results.snapshots import Delta

Fraction = tuple[float, float]
"""Numerator and denominator of a share."""

SOURCES = {"memory": "misses serviced by memory", **{state: f"misses serviced from {state}" for state in "MOES"}}

NAMES = {
    **{f"miss_source.all.{source}": f"share of {text}" for source, text in SOURCES.items()},
    "e_share": "E share",
    "e_to_m_share": "E blocks that went to M",
    "upgrades_saved_share": "upgrades avoided by E",
    "kernel_share.cycles": "kernel code's share of busy cycles",
}
"""Metrics of the watched shares, with the words of reports and verdicts."""

EARLIER_NAMES = {"miss_source.all.memory": "memory_share"}
"""Keys of `drift_points` in a stats.json of an earlier version, which watched only this share and the E share."""


def watched(delta: Delta) -> Mapping[str, Fraction]:
    """The watched shares of one stretch. A share that the engine does not count is left out."""
    misses = delta.total("l2_misses")
    in_e = delta.total("fills", state="E")
    avoided = delta.total("stores_found_e")
    shares: dict[str, Fraction] = {
        **{f"miss_source.all.{source}": (delta.total("miss_source", source=source), misses) for source in SOURCES},
        "e_share": (in_e, delta.total("fills")),
        "e_to_m_share": (delta.total("e_to_m"), in_e),
        "upgrades_saved_share": (avoided, avoided + delta.total("upgrades")),
    }
    if told(delta, "privilege"):
        shares["kernel_share.cycles"] = (cycles(delta, privilege="kernel"), delta.total("busy_cycles"))
    return shares

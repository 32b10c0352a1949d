# SPDX-License-Identifier: GPL-2.0-or-later
"""The headline: ten metrics that sum up a workload."""

from __future__ import annotations

from s80lab.analysis.rows import PERCENT, THREE, Entry, Format

_LABELS: dict[str, tuple[str, Format]] = {
    "miss_source.all.memory": ("L2 misses serviced by memory", PERCENT),
    "miss_source.all.M": ("L2 misses serviced by a cache in M", PERCENT),
    "miss_source.all.O": ("L2 misses serviced by a cache in O", PERCENT),
    "miss_source.all.E": ("L2 misses serviced by a cache in E", PERCENT),
    "miss_source.all.S": ("L2 misses serviced by a cache in S", PERCENT),
    "e_share": ("E share (E fills, of all fills)", PERCENT),
    "e_to_m_share": ("silent E-to-M upgrades per E fill", PERCENT),
    "upgrades_saved_share": ("upgrades avoided by E, share of upgrades without E", PERCENT),
    "kernel_share.cycles": ("kernel, share of the busy cycles", PERCENT),
    "l2_mpki.all": ("L2 misses per 1000 instructions", THREE),
}
ENTRIES = tuple(Entry(label, metric, style) for metric, (label, style) in _LABELS.items())

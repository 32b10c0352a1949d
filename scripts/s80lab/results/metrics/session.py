# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the process class `session` (the population of Koka and Lipasti) that are not declared by process
class."""

from __future__ import annotations

from dataclasses import replace

from s80lab.results.metrics import cache, cycles
from s80lab.results.metrics.registry import REGISTRY, Measurement, Value, metric

POPULATION = "session"
# Declared by these, of the whole machine.
DECLARED = (cache, cycles)
OF_POPULATION = (
    "l2_stall",
    "walk_stall_from_memory",
    "store_to_load_stall",
    "store_to_load_stall_with_upgrades",
    "store_from_m_share",
    "instruction_group",
)


@metric(
    "session",
    "as the metric named after `session.`",
    "the metric named after `session.`, for the process class session only: the server processes that serve "
    "users, in user and in kernel code. Koka and Lipasti report these processes",
    "as the metric named after `session.`, from the counts of the class session only",
)
def _session(m: Measurement) -> Value:
    if POPULATION not in m.region.header.labels["class"]:
        return None
    alone = replace(m, region=m.region.only(**{"class": POPULATION}))
    return {name: REGISTRY[name].compute(alone) for name in OF_POPULATION}

# SPDX-License-Identifier: GPL-2.0-or-later
"""What a comparison compares: the rows of the headline, which are tested, and further rows, which are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Metrics = Mapping[str, float | None]


@dataclass(frozen=True)
class Row:
    """One row.

    name: for --json.
    label: for tables.
    value: computes the value from a run's metrics; None if the run does not have it.
    share: whether the value is a share, which tables print in percent and differences in percentage points.
    worth: the difference that replications are planned for: in points for a share, else in percent of the first value.
    """

    name: str
    label: str
    value: Callable[[Metrics], float | None]
    share: bool
    worth: float

    def wanted(self, first: float) -> float:
        """The difference that replications are planned for, in the unit of the value. first: the first side's value."""
        return self.worth / 100 * (1.0 if self.share else abs(first))

    @property
    def worth_text(self) -> str:
        """For example `1 point` or `5%`."""
        if self.share:
            return f"{self.worth:g} point{'' if self.worth == 1 else 's'}"
        return f"{self.worth:g}%"


def _metric(name: str, label: str, metric: str, *, share: bool = False, worth: float = 5.0) -> Row:
    return Row(name, label, lambda metrics: metrics.get(metric), share, worth)


def _transfers(metrics: Metrics) -> float | None:
    """Misses that another cache serviced, per 1000 instructions."""
    misses, memory = metrics.get("l2_mpki.all"), metrics.get("miss_source.all.memory")
    return None if misses is None or memory is None else misses * (1 - memory)


HEADLINE: tuple[Row, ...] = (
    _metric("l2_mpki", "L2 misses per 1000 instructions", "l2_mpki.all"),
    Row("transfers_pki", "cache-to-cache transfers per 1000 instructions", _transfers, False, 5.0),
    _metric("e_share", "E share (E fills, of all fills)", "e_share", share=True, worth=1.0),
    _metric("e_to_m_share", "silent E-to-M upgrades per E fill", "e_to_m_share", share=True, worth=1.0),
    _metric("cpi", "cycles per instruction", "cpi.all", worth=1.0),
)
"""The rows that are tested. Each further row would make all tests weaker (holm.py), so there are five. The share of the
misses that memory services follows from the first two rows."""

FURTHER: tuple[Row, ...] = (
    _metric("memory_share", "L2 misses serviced by memory", "miss_source.all.memory", share=True, worth=1.0),
    *(
        _metric(f"source_{state}", f"L2 misses serviced by a cache in {state}", f"miss_source.all.{state}", share=True)
        for state in ("M", "O", "E", "S")
    ),
    _metric("upgrades_pki", "upgrades per 1000 instructions", "upgrade_pki.made"),
    _metric(
        "upgrades_saved_share", "upgrades avoided by E, share of upgrades without E", "upgrades_saved_share", share=True
    ),
    _metric("traffic_pki", "bus transactions per 1000 instructions", "traffic_pki.all"),
    _metric("kernel_share", "kernel, share of the busy cycles", "kernel_share.cycles", share=True),
    _metric("utilisation", "processors busy", "utilisation", share=True),
    _metric("throughput", "transactions per second", "throughput"),
    _metric("response_ms", "mean response time, ms", "response_ms"),
)
"""Rows with values and intervals, without a verdict."""

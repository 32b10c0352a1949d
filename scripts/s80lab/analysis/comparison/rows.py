# SPDX-License-Identifier: GPL-2.0-or-later
"""What a comparison compares: the rows of the headline, which are tested, and further rows, which are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from s80lab.analysis.rows import ENTRIES, ONE, PERCENT, THREE, Entry, Format

Metrics = Mapping[str, float | None]


@dataclass(frozen=True)
class Row:
    """One row.

    name: for --json.
    label: for tables.
    value: computes the value from a run's metrics; None if the run does not have it.
    style: how tables print the value.
    worth: the difference that replications are planned for: in points for a share, else in percent of the first value.
    """

    name: str
    label: str
    value: Callable[[Metrics], float | None]
    style: Format
    worth: float

    @property
    def share(self) -> bool:
        """Whether the value is a share, which tables print in percent and differences in percentage points."""
        return self.style == PERCENT

    def wanted(self, first: float) -> float:
        """The difference that replications are planned for, in the unit of the value. first: the first side's value."""
        return self.worth / 100 * (1.0 if self.share else abs(first))

    @property
    def worth_text(self) -> str:
        """For example `1 point` or `5%`."""
        if self.share:
            return f"{self.worth:g} point{'' if self.worth == 1 else 's'}"
        return f"{self.worth:g}%"


_REPORTED = {entry.metric: entry for entry in ENTRIES}
"""The headline of a report, by metric."""


def _row(name: str, entry: Entry, worth: float = 5.0) -> Row:
    return Row(name, entry.label, lambda metrics: metrics.get(entry.metric), entry.style, worth)


def transfers_pki(metrics: Metrics) -> float | None:
    """Misses that another cache serviced, per 1000 instructions."""
    misses, memory = metrics.get("l2_mpki.all"), metrics.get("miss_source.all.memory")
    return None if misses is None or memory is None else misses * (1 - memory)


HEADLINE: tuple[Row, ...] = (
    _row("l2_mpki", _REPORTED["l2_mpki.all"]),
    Row("transfers_pki", "cache-to-cache transfers per 1000 instructions", transfers_pki, THREE, 5.0),
    _row("e_share", _REPORTED["e_share"], 1.0),
    _row("e_to_m_share", _REPORTED["e_to_m_share"], 1.0),
    _row("cpi", Entry("cycles per instruction", "cpi.all", THREE), 1.0),
)
"""The rows that are tested. Each further row would make all tests weaker (holm.py), so there are five. The share of the
misses that memory services follows from the first two rows."""

FURTHER: tuple[Row, ...] = (
    _row("memory_share", _REPORTED["miss_source.all.memory"], 1.0),
    *(_row(f"source_{state}", _REPORTED[f"miss_source.all.{state}"]) for state in "MOES"),
    _row("upgrades_pki", Entry("upgrades per 1000 instructions", "upgrade_pki.made", THREE)),
    _row("upgrades_saved_share", _REPORTED["upgrades_saved_share"]),
    _row("traffic_pki", Entry("bus transactions per 1000 instructions", "traffic_pki.all", THREE)),
    _row("kernel_share", _REPORTED["kernel_share.cycles"]),
    _row("utilisation", Entry("processors busy", "utilisation", PERCENT)),
    _row("throughput", Entry("transactions per second", "throughput", ONE)),
    _row("response_ms", Entry("mean response time, ms", "response_ms", ONE)),
)
"""Rows with values and intervals, without a verdict."""

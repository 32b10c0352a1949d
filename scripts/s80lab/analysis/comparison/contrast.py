# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison of two sides, row by row.

An observation is a boot (live runs) or a capture (replays); the values of its seeds are averaged first
(analysis/interval.py). Seeds of one boot give intervals that are too narrow for another boot by a factor of up to
1.9 (docs/background/precision.md).

- Replays of the same captures are pairs: both designs play the same accesses.
- Live runs from the same boots are pairs if there are FEWEST_PAIRS or more. With fewer boots, the loss of degrees of
  freedom costs more than pairing gains; the boots of the sides are then treated as independent. They are correlated,
  if at all, positively, so the interval is rather too wide.
- All other runs are independent samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, Literal

from s80lab.analysis.comparison.difference import Difference, detectable, needed, of_pairs, of_samples
from s80lab.analysis.comparison.sides import check_sides
from s80lab.analysis.groups import Group, Run
from s80lab.analysis.interval import REPLAY, observed_means
from s80lab.analysis.sections import ENTRIES, Entry
from s80lab.base.format import ONE, PERCENT, THREE, Format
from s80lab.base.student import CONFIDENCE
from s80lab.base.vocabulary import LABELS
from s80lab.config.differences import Changed, changes

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
    """Misses that a cache of another core or of another group serviced, per 1000 instructions."""
    misses, memory = metrics.get("l2_mpki.all"), metrics.get("miss_source.all.memory")
    others = sum(metrics.get(f"miss_source.all.{source}") or 0.0 for source in ("llc", "group"))
    return None if misses is None or memory is None else misses * (1 - memory - others)


HEADLINE: tuple[Row, ...] = (
    _row("l2_mpki", _REPORTED["l2_mpki.all"]),
    Row("transfers_pki", "cache-to-cache transfers per 1000 instructions", transfers_pki, THREE, 5.0),
    _row("e_share", _REPORTED["e_share"], 1.0),
    _row("e_to_m_share", _REPORTED["e_to_m_share"], 1.0),
    _row("cpi", Entry("cycles per instruction", "cpi.all", THREE), 1.0),
)
"""The rows that are tested. Each further row would make all tests weaker, so there are five. The share of the
misses that memory services follows from the first two rows."""

FURTHER: tuple[Row, ...] = (
    _row("memory_share", _REPORTED["miss_source.all.memory"], 1.0),
    _row("llc_share", Entry("L2 misses serviced by the last-level cache", "miss_source.all.llc", PERCENT), 1.0),
    _row("group_share", Entry("L2 misses serviced by the core's group cache", "miss_source.all.group", PERCENT), 1.0),
    *(_row(f"source_{state}", _REPORTED[f"miss_source.all.{state}"]) for state in LABELS["state"]),
    _row("upgrades_pki", Entry("upgrades per 1000 instructions", "upgrade_pki.made", THREE)),
    _row("upgrades_saved_share", _REPORTED["upgrades_saved_share"]),
    _row("traffic_pki", Entry("bus transactions per 1000 instructions", "traffic_pki.all", THREE)),
    _row("kernel_share", _REPORTED["kernel_share.cycles"]),
    _row("utilisation", Entry("processors busy", "utilisation", PERCENT)),
    _row("throughput", Entry("transactions per second", "throughput", ONE)),
    _row("response_ms", Entry("mean response time, ms", "response_ms", ONE)),
)
"""Rows with values and intervals, without a verdict."""


def corrected(probabilities: Sequence[float]) -> list[float]:
    """The p-values of one comparison, corrected for the number of its tests, in the order given: n times the smallest,
    n - 1 times the next, and so on. A corrected value is not smaller than that of a smaller p-value, and at most 1.

    S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979, pages
    65 to 70. The probability that a comparison calls any equal row different is at most the level, whatever the
    dependence between the rows; shares of miss sources depend on each other, because their sum is 1.
    """
    order = sorted(range(len(probabilities)), key=lambda place: probabilities[place])
    found = [0.0] * len(probabilities)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * probabilities[place]))
        found[place] = largest
    return found


Verdict = Literal["higher", "lower", "no difference shown", "not tested"]
FEWEST_PAIRS = 5


@dataclass(frozen=True)
class Contrast:
    """One row of a comparison.

    first, second: the mean over the observations of each side.
    difference: second minus first.
    corrected: the p-value, corrected for the number of rows that are tested; None if the row is not tested.
    tests: number of tests for which it is corrected.
    """

    row: Row
    first: float
    second: float
    difference: Difference
    corrected: float | None = None
    tests: int = 1

    @property
    def ratio(self) -> float | None:
        """The second value divided by the first; None if the first is 0."""
        return self.second / self.first if self.first else None

    def values(self) -> dict[str, Any]:
        """Label, both means, and their difference, by the names that tables and JSON use."""
        return {
            "label": self.row.label,
            "first": self.first,
            "second": self.second,
            "difference": self.difference.estimate,
            "half_width": self.difference.half_width,
            "ratio": self.ratio,
        }

    @property
    def verdict(self) -> Verdict:
        """Whether the second side is higher or lower than the first."""
        if self.corrected is None:
            return "not tested"
        if self.corrected > 1 - CONFIDENCE:
            return "no difference shown"
        return "higher" if self.difference.estimate > 0 else "lower"

    @property
    def detectable(self) -> float | None:
        """The smallest true difference that so many replications show in four of five comparisons."""
        return detectable(self.difference, self.tests)

    @property
    def needed(self) -> int | None:
        """Replications a side that show a difference of the row's `worth`; None if unknown or above the limit."""
        return needed(self.difference, self.row.wanted(self.first), self.tests)

    @property
    def further(self) -> int | None:
        """Replications a side to add to the existing ones, at least 0; None as in `needed`."""
        return None if self.needed is None else max(0, self.needed - min(self.difference.counts))


@dataclass(frozen=True)
class Comparison:
    """Two sides and their contrasts.

    together: number of comparisons that are made together, such as the designs of a sweep with the first design. Each
    p-value is also multiplied by this number (Bonferroni).
    """

    first: Group
    second: Group
    together: int = 1

    def __post_init__(self) -> None:
        check_sides(self.first, self.second)

    @property
    def unit(self) -> Literal["boot", "capture"]:
        """What an observation is."""
        return "capture" if self.first.engine == REPLAY else "boot"

    @property
    def counts(self) -> tuple[int, int]:
        """The number of observations on each side."""
        return len(self.first.observations), len(self.second.observations)

    @property
    def changes(self) -> list[Changed]:
        """What the second side has other than the first."""
        return changes(self.first.manifest, self.second.manifest)

    @property
    def shared(self) -> bool:
        """Whether both sides have the same observations: the same boots, or the same captures."""
        return set(self.first.observations) == set(self.second.observations)

    @property
    def paired(self) -> bool:
        """Whether differences are taken within pairs."""
        return self.shared and (self.unit == "capture" or self.counts[0] >= FEWEST_PAIRS)

    @cached_property
    def tested(self) -> list[Contrast]:
        """The rows of the headline that both sides have, with corrected p-values."""
        found = self._contrasts(HEADLINE)
        probabilities = [contrast.difference.probability for contrast in found]
        known = [probability for probability in probabilities if probability is not None]
        if len(known) < len(found):
            return found
        tests = self.together * len(found)
        return [
            Contrast(one.row, one.first, one.second, one.difference, min(1.0, self.together * probability), tests)
            for one, probability in zip(found, corrected(known), strict=True)
        ]

    @cached_property
    def further(self) -> list[Contrast]:
        """The other rows that both sides have."""
        return self._contrasts(FURTHER)

    def contrast(self, value: Callable[[Metrics], float | None]) -> tuple[float, float, Difference] | None:
        """Both means and their difference for a function of a run's metrics; None if a run does not have the value."""
        return self.contrast_of(lambda run: value(run.metrics))

    def contrast_of(self, value: Callable[[Run], float | None]) -> tuple[float, float, Difference] | None:
        """Both means and their difference for a function of a run; None if a run does not have the value."""
        first, second = (_values(side, value) for side in (self.first, self.second))
        if first is None or second is None:
            return None
        if self.paired:
            before, after = [first[key] for key in first], [second[key] for key in first]
            difference = of_pairs(before, after)
        else:
            before, after = list(first.values()), list(second.values())
            difference = of_samples(before, after)
        return fmean(before), fmean(after), difference

    def _contrasts(self, rows: Sequence[Row]) -> list[Contrast]:
        found = ((row, self.contrast(row.value)) for row in rows)
        return [Contrast(row, *of_row) for row, of_row in found if of_row is not None]


def _values(side: Group, value: Callable[[Run], float | None]) -> dict[str, float] | None:
    """For each observation the mean over its runs; None if a run does not have the value."""
    means = observed_means(side.runs, value)
    known = {key: mean for key, mean in means.items() if mean is not None}
    return known if len(known) == len(means) else None

# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules that judge a claim of the paper: functions from numbers to a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from s80lab.analysis.interval import Estimate
from s80lab.base.student import CONFIDENCE

Verdict = Literal["agrees", "differs", "not comparable"]
Side = Literal["above", "below", ""]

# A single number in the paper is read as that number ± this share: the paper rounds and gives no intervals.
TOLERANCE = 0.1
# With fewer transactions of a type, its mean response time is too uncertain.
ENOUGH_SAMPLES = 10
Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)


@dataclass(frozen=True)
class Judgement:
    """A verdict. side: whether our number is above or below the paper's range. note: an explanation by the rule."""

    verdict: Verdict
    side: Side = ""
    note: str = ""


@dataclass(frozen=True)
class Band:
    """The range that agrees with the paper, ends included. None: no bound on this side."""

    low: float | None
    high: float | None

    @classmethod
    def around(cls, low: float | None, high: float | None) -> Band:
        """A range as stated; a single number becomes the number ± TOLERANCE."""
        if low is not None and low == high:
            return cls(low * (1 - TOLERANCE), low * (1 + TOLERANCE))
        return cls(low, high)


def in_band(value: Estimate, band: Band) -> Judgement:
    """Agrees if the mean lies in the band. Differs if the whole interval lies outside. Not comparable if only part of
    the interval lies outside. A single run has no interval, so its number decides."""
    half = value.half_width or 0.0
    for bound, sign, side in ((band.low, -1, "below"), (band.high, 1, "above")):
        if bound is not None and sign * (value.mean - bound) > 0:
            where: Side = "below" if side == "below" else "above"
            if sign * (value.mean - bound) > half:
                return Judgement("differs", where)
            return Judgement(
                "not comparable",
                where,
                f"our mean is outside the paper's range, but the 95% interval of our {value.n} runs overlaps with it",
            )
    return Judgement("agrees")


def higher(first: Estimate, second: Estimate) -> Judgement:
    """Whether the second estimate is higher than the first; not comparable if their intervals overlap."""
    if first.overlaps(second):
        return Judgement("not comparable", note="the 95% intervals of imapb and imape overlap")
    return Judgement("agrees" if second.mean > first.mean else "differs")


def lowest(own: Estimate, others: Mapping[str, Estimate]) -> Judgement:
    """Whether `own` is below all others; not comparable if the intervals overlap."""
    lower = [name for name, other in others.items() if higher(own, other).verdict == "differs"]
    unclear = [name for name, other in others.items() if own.overlaps(other)]
    if lower:
        return Judgement("differs", note=f"these workloads have a lower value: {', '.join(lower)}")
    if unclear:
        return Judgement(
            "not comparable", note=f"the 95% interval of this workload overlaps with that of {', '.join(unclear)}"
        )
    return Judgement("agrees", note=f"the value is lower than that of {', '.join(others)}")


def alike(pairs: Mapping[str, tuple[Estimate, Estimate]]) -> Judgement:
    """Whether each metric's two intervals overlap; the note names the metrics whose intervals do not."""
    overlaps = {name: first.overlaps(second) for name, (first, second) in pairs.items()}
    if None in overlaps.values():
        return Judgement("not comparable", note="a single run has no interval; run several seeds of each mix")
    apart = [name for name, overlap in overlaps.items() if not overlap]
    if apart:
        return Judgement("differs", note=f"the 95% intervals of imapb and imape do not overlap for {_named(apart)}")
    return Judgement("agrees", note=f"the 95% intervals of imapb and imape overlap for {_named(pairs)}")


def _named(metrics: Iterable[str]) -> str:
    """The names of the metrics, as code."""
    return ", ".join(f"`{name}`" for name in metrics)


@dataclass(frozen=True)
class Responses:
    """One transaction type: count, mean response time and its standard error in simulated milliseconds."""

    name: str
    count: int
    mean_ms: float
    error_ms: float

    def apart(self, other: Responses) -> bool:
        """Whether the difference of the means exceeds its 95% interval."""
        return abs(self.mean_ms - other.mean_ms) > Z * math.hypot(self.error_ms, other.error_ms)


def ranked(types: Sequence[Responses]) -> list[Responses]:
    """The types with enough transactions, slowest first."""
    return sorted((one for one in types if one.count >= ENOUGH_SAMPLES), key=lambda one: one.mean_ms, reverse=True)


def extremes(types: Sequence[Responses], slowest: str, fastest: str) -> Judgement:
    """Whether the two named types are the slowest and the fastest among types with enough transactions. If another type
    takes such a place: differs if the two means differ by more than chance, else not comparable."""
    order = ranked(types)
    named = {one.name: one for one in order}
    few = [name for name in (slowest, fastest) if name not in named]
    if few:
        return Judgement("not comparable", note=f"fewer than {ENOUGH_SAMPLES} transactions of type {' and '.join(few)}")
    places = ((order[0], named[slowest], "slowest"), (order[-1], named[fastest], "fastest"))
    wrong = [(found, stated, place) for found, stated, place in places if found != stated]
    notes = [
        f"the {place} transaction is {found.name}, not {stated.name}; the difference of their mean response times is "
        f"{'significant' if found.apart(stated) else 'not significant'} (95%)"
        for found, stated, place in wrong
    ]
    left_out = [f"{one.name} ({one.count})" for one in types if one.name not in named]
    notes += [f"left out (fewer than {ENOUGH_SAMPLES} transactions): {', '.join(left_out)}"] if left_out else []
    apart = any(found.apart(stated) for found, stated, _ in wrong)
    verdict: Verdict = "differs" if apart else "not comparable" if wrong else "agrees"
    return Judgement(verdict, note="; ".join(notes))

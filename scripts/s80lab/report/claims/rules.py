# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules by which a claim of the paper is judged: numbers in, a verdict out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from s80lab.base.student import CONFIDENCE
from s80lab.report.interval import Estimate

Verdict = Literal["agrees", "differs", "not comparable"]
Side = Literal["above", "below", ""]

# A single number of the paper stands for itself give or take this part of it: the text rounds and gives no interval.
TOLERANCE = 0.1
# Fewer transactions of a type say nothing of its mean response time.
ENOUGH_SAMPLES = 10
Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)


@dataclass(frozen=True)
class Judgement:
    """side: where the number lies beside the paper's. note: what the rule itself has to say."""

    verdict: Verdict
    side: Side = ""
    note: str = ""


@dataclass(frozen=True)
class Band:
    """What agrees with the paper, ends included; None is open."""

    low: float | None
    high: float | None

    @classmethod
    def around(cls, low: float | None, high: float | None) -> Band:
        """A span as it is; a single number give or take TOLERANCE of it."""
        if low is not None and low == high:
            return cls(low * (1 - TOLERANCE), low * (1 + TOLERANCE))
        return cls(low, high)


def in_band(value: Estimate, band: Band) -> Judgement:
    """Agrees where the mean lies in the band, differs where no value of the interval does. A mean outside whose
    interval reaches in decides nothing. A single run has no interval: its number alone decides."""
    half = value.half_width or 0.0
    for bound, sign, side in ((band.low, -1, "below"), (band.high, 1, "above")):
        if bound is not None and sign * (value.mean - bound) > 0:
            where: Side = "below" if side == "below" else "above"
            if sign * (value.mean - bound) > half:
                return Judgement("differs", where)
            return Judgement("not comparable", where, f"the interval of {value.n} runs reaches into the paper's span")
    return Judgement("agrees")


def higher(first: Estimate, second: Estimate) -> Judgement:
    """Whether the second is higher than the first; two intervals that overlap decide nothing."""
    if first.overlaps(second):
        return Judgement("not comparable", note="the intervals overlap")
    return Judgement("agrees" if second.mean > first.mean else "differs")


def lowest(own: Estimate, others: Mapping[str, Estimate]) -> Judgement:
    """Whether it is below all others; intervals that overlap decide nothing."""
    lower = [name for name, other in others.items() if higher(own, other).verdict == "differs"]
    unclear = [name for name, other in others.items() if own.overlaps(other)]
    if lower:
        return Judgement("differs", note=f"lower: {', '.join(lower)}")
    if unclear:
        return Judgement("not comparable", note=f"the interval overlaps that of {', '.join(unclear)}")
    return Judgement("agrees", note=f"below {', '.join(others)}")


def alike(pairs: Mapping[str, tuple[Estimate, Estimate]]) -> Judgement:
    """Whether each metric's two intervals overlap; the note names those that do not."""
    overlaps = {name: first.overlaps(second) for name, (first, second) in pairs.items()}
    if None in overlaps.values():
        return Judgement("not comparable", note="single runs have no intervals")
    apart = [name for name, overlap in overlaps.items() if not overlap]
    if apart:
        return Judgement("differs", note=f"the intervals of {', '.join(apart)} do not overlap")
    return Judgement("agrees", note=f"the intervals of {', '.join(pairs)} overlap")


@dataclass(frozen=True)
class Responses:
    """Of one transaction type: how many, their mean response time and its standard error, in modelled milliseconds."""

    name: str
    count: int
    mean_ms: float
    error_ms: float

    def apart(self, other: Responses) -> bool:
        """Whether the difference of the means is beyond its 95% interval."""
        return abs(self.mean_ms - other.mean_ms) > Z * math.hypot(self.error_ms, other.error_ms)


def ranked(types: Sequence[Responses]) -> list[Responses]:
    """The types with samples enough, slowest first."""
    return sorted((one for one in types if one.count >= ENOUGH_SAMPLES), key=lambda one: one.mean_ms, reverse=True)


def extremes(types: Sequence[Responses], slowest: str, fastest: str) -> Judgement:
    """Whether these two are the slowest and the fastest of the types with samples enough. Another in the place of one
    is a difference where their means are apart, and decides nothing elsewhere."""
    order = ranked(types)
    named = {one.name: one for one in order}
    few = [name for name in (slowest, fastest) if name not in named]
    if few:
        return Judgement("not comparable", note=f"fewer than {ENOUGH_SAMPLES} of {' and '.join(few)}")
    places = ((order[0], named[slowest], "slowest"), (order[-1], named[fastest], "fastest"))
    wrong = [(found, stated, place) for found, stated, place in places if found != stated]
    notes = [
        f"the {place} is {found.name}, {'beyond' if found.apart(stated) else 'within'} its and {stated.name}'s errors"
        for found, stated, place in wrong
    ]
    left_out = [f"{one.name} ({one.count})" for one in types if one.name not in named]
    notes += [f"left out, for fewer than {ENOUGH_SAMPLES}: {', '.join(left_out)}"] if left_out else []
    apart = any(found.apart(stated) for found, stated, _ in wrong)
    verdict: Verdict = "differs" if apart else "not comparable" if wrong else "agrees"
    return Judgement(verdict, note="; ".join(notes))

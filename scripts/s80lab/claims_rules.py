# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules by which a claim of the paper is judged: numbers in, a verdict out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from s80lab.report_interval import Estimate

Verdict = Literal["agrees", "differs", "not comparable"]
Side = Literal["above", "below", ""]

# A single number of the paper stands for itself give or take this part of it: the text rounds and gives no interval.
TOLERANCE = 0.1
# Fewer transactions of a type say nothing of its mean response time.
ENOUGH_SAMPLES = 10


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
    """Of one transaction type: how many, and their mean response time in modelled milliseconds."""

    name: str
    count: int
    mean_ms: float


def ranked(types: Sequence[Responses]) -> list[Responses]:
    """The types with samples enough, slowest first."""
    return sorted((one for one in types if one.count >= ENOUGH_SAMPLES), key=lambda one: one.mean_ms, reverse=True)


def extremes(types: Sequence[Responses], slowest: str, fastest: str) -> Judgement:
    """Whether these two are the slowest and the fastest of the types with samples enough."""
    order = [one.name for one in ranked(types)]
    few = [name for name in (slowest, fastest) if name not in order]
    if few:
        return Judgement("not comparable", note=f"fewer than {ENOUGH_SAMPLES} of {' and '.join(few)}")
    left_out = [f"{one.name} ({one.count})" for one in types if one.name not in order]
    note = f"left out, for fewer than {ENOUGH_SAMPLES}: {', '.join(left_out)}" if left_out else ""
    return Judgement("agrees" if (order[0], order[-1]) == (slowest, fastest) else "differs", note=note)

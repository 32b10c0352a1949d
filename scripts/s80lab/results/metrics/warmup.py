# SPDX-License-Identifier: GPL-2.0-or-later
"""Steady-state detection: whether the caches had settled at the end of the warm-up.

The test compares the last third of the warm-up's sampling intervals with the third before it. It becomes more precise
as the warm-up grows, and it ignores the start, where everything drifts. It watches every share of the headline
(metrics/sampling.py). The verdict is "steady" if all of these hold:
- The drift of each share, between the two thirds, is below a limit: two points, or the `drift_points` of the
  experiment's phases.
- No drift differs significantly from zero (Student t). The level is 5% for all shares together: 5% divided by the
  number of shares for each (Bonferroni).
- The standard error of each drift is at most half the limit. With a larger error, a drift at the limit could not be
  distinguished from no drift; the warm-up is then extended, up to its maximum length.
- The caches are full: in the last third, the blocks that left the caches are at least 98% of the fills. The scatter of
  the mix, which makes the drift of a short warm-up uncertain, does not affect this balance.
- Every client has completed a transaction, so the clients no longer act in step as they do at the start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from s80lab.base.student import tail_probability
from s80lab.results.metrics.batches import FEWEST, degrees, lag_1, pseudo_values, standard_error
from s80lab.results.metrics.sampling import FROM_SHARED, NAMES, SamplingInterval

ALLOWED_DRIFT_POINTS = 2.0
ALLOWED_FILLING = 0.02
FALSE_ALARMS = 0.05
"""How often the test may call a drift of any share significant although none drifts."""
THIRDS = 3


@dataclass(frozen=True)
class Drift:
    """Drift of one share in points (percent): later minus earlier intervals, with the standard error of the
    difference."""

    points: float
    error_points: float
    degrees: int

    def significant(self, level: float = FALSE_ALARMS) -> bool:
        """Whether chance alone makes so large a drift in fewer cases than the level."""
        if not self.error_points:
            return self.points != 0
        return tail_probability(self.points / self.error_points, self.degrees) < level

    def objection(self, limit: float, level: float = FALSE_ALARMS) -> str:
        """Why the share has not settled; empty if it has. limit: the largest drift allowed, in points."""
        if abs(self.points) >= limit:
            return f"drift {self.points:+.1f} points (limit {limit:g})"
        if self.error_points > limit / 2:
            return f"drift undecided (standard error {self.error_points:.1f} points, limit {limit / 2:g})"
        return f"drift {self.points:+.1f} points, more than chance" if self.significant(level) else ""


@dataclass(frozen=True)
class WarmUp:
    """The verdict on a warm-up. intervals: sampling intervals; compared: intervals in each of the two compared thirds.
    drift_points: later minus earlier third, in points (percent), by metric; error_points: its standard error; both None
    if there are too few intervals, or if the share has no denominator (no block came in E). filling: in the last third,
    (fills - blocks that left) / fills. clients_finished: clients that have completed a transaction, None if not
    counted. reasons: why the verdict is "not steady"."""

    instructions: int
    sampling_intervals: int
    compared: int
    drift_points: dict[str, float | None]
    error_points: dict[str, float | None]
    filling: float | None
    clients_finished: int | None
    verdict: Literal["steady", "not steady"]
    reasons: tuple[str, ...]

    def keeps(self, limit: float) -> bool:
        """Whether all drifts, which keep their limit, also keep this smaller one; see Drift.objection."""
        points = (abs(one) for one in self.drift_points.values() if one is not None)
        errors = (one for one in self.error_points.values() if one is not None)
        return all(one < limit for one in points) and all(one <= limit / 2 for one in errors)


NO_WARM_UP = WarmUp(0, 0, 0, {}, {}, None, None, "steady", ())
"""Of a program's run, which begins with cold caches and is measured from there: a warm-up without intervals."""


def judge(
    intervals: Sequence[SamplingInterval],
    clients: int | None = None,
    finished: int | None = None,
    limit: float = ALLOWED_DRIFT_POINTS,
) -> WarmUp:
    """The verdict on the warm-up that these sampling intervals contain. clients: number of clients, if known. finished:
    number of clients that have completed a transaction since the start of the mix, if counted. limit: the largest drift
    allowed, in points. Intervals shorter than half the usual length are left out."""
    warming = [interval for interval in intervals if interval.phase == "warm-up"]
    usual = median(interval.instructions for interval in warming) if warming else 0
    whole = [interval for interval in warming if interval.instructions >= usual / 2]
    compared = len(whole) // THIRDS
    late = whole[-2 * compared :] if compared >= FEWEST else []
    names = [name for name in NAMES if name not in FROM_SHARED or any(name in interval.watched for interval in late)]
    drifts = {name: drift(late, name) if late else None for name in names}
    known = {name: found for name, found in drifts.items() if found}
    reasons = [
        f"{NAMES[name]}: {objection}"
        for name, found in known.items()
        if (objection := found.objection(limit, FALSE_ALARMS / len(known)))
    ]
    if not late or any(found is None and occurs(late, name) for name, found in drifts.items()):
        reasons.append("too few sampling intervals to judge the drift")
    filling = _filling(whole[-compared:]) if compared else None
    if filling is not None and filling > ALLOWED_FILLING:
        reasons.append(
            f"caches not full: {100 * filling:.1f}% of the last fills went to empty frames (limit "
            f"{100 * ALLOWED_FILLING:g}%)"
        )
    if clients is not None and finished is not None and finished < clients:
        reasons.append(f"only {finished} of {clients} clients have completed a transaction")
    return WarmUp(
        instructions=sum(interval.instructions for interval in warming),
        sampling_intervals=len(warming),
        compared=compared,
        drift_points={name: None if found is None else found.points for name, found in drifts.items()},
        error_points={name: None if found is None else found.error_points for name, found in drifts.items()},
        filling=filling,
        clients_finished=finished,
        verdict="not steady" if reasons else "steady",
        reasons=tuple(reasons),
    )


def _filling(intervals: Sequence[SamplingInterval]) -> float | None:
    came = sum(interval.fills for interval in intervals)
    left = [interval.left for interval in intervals if interval.left is not None]
    return (came - sum(left)) / came if came and len(left) == len(intervals) else None


def occurs(intervals: Sequence[SamplingInterval], name: str) -> bool:
    """Whether the share has a denominator anywhere in these intervals."""
    return any(name in interval.watched and interval.watched[name][1] for interval in intervals)


def drift(intervals: Sequence[SamplingInterval], name: str) -> Drift | None:
    """Drift between the two halves of the intervals; None if a share is undefined."""
    half = len(intervals) // 2
    stretches: list[tuple[float, list[float]]] = []
    for stretch in (intervals[:half], intervals[half:]):
        fractions = [interval.watched.get(name, (0, 0)) for interval in stretch]
        parts, wholes = [part for part, _ in fractions], [whole for _, whole in fractions]
        if any(sum(wholes) <= one for one in wholes):
            return None
        value = sum(parts) / sum(wholes)
        without = [(sum(parts) - p) / (sum(wholes) - w) for p, w in zip(parts, wholes, strict=True)]
        stretches.append((value, pseudo_values(value, without)))
    (earlier, before), (later, after) = stretches
    correlation = lag_1([before, after])
    error = math.hypot(standard_error(before, correlation), standard_error(after, correlation))
    # Rounded so that a drift at the limit is not under it by a rounding error.
    points, error_points = round(100 * (later - earlier), 9), round(100 * error, 9)
    return Drift(points, error_points, degrees(len(intervals), correlation, means=2))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the caches had settled before the measurement, by a test that knows its own standard error.

The last third of the warm-up's windows is set against the third before it, so that the test grows more exact as the
warm-up goes on, and the beginning, where everything drifts, is left out. "Warm" says of the E share and of memory's
share that their drift between the two thirds
- is below a limit (two points, unless the experiment's phases say otherwise), and
- is not told from zero (Student t, 95%), and
- is known to half the limit: with a larger standard error a drift at the limit could not be told from none, and the
  words would rest on not having looked. Then the warm-up goes on, to its limit if need be;
that the caches are full: over the last third they lost as many blocks as they took in, but for two in a hundred (the
mix's own scatter, which makes the drift of a short warm-up uncertain, is not in this balance);
and that every client has finished a transaction, so that the load is not the one that all began together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from s80lab.base.student import student_t
from s80lab.results.metrics.batches import FEWEST, degrees, lag_1, pseudo_values, standard_error
from s80lab.results.metrics.windows import Window

ALLOWED_DRIFT_POINTS = 2.0
ALLOWED_FILLING = 0.02
THIRDS = 3

# The shares that are watched: counts of a window that are divided.
WATCHED = {"e_share": ("fills_e", "fills"), "memory_share": ("memory_misses", "misses")}
_NAMES = {"e_share": "E share", "memory_share": "memory's share"}


@dataclass(frozen=True)
class Drift:
    """Of one share, in points (percent): later minus earlier windows, with the standard error of that difference."""

    points: float
    error_points: float
    degrees: int

    @property
    def significant(self) -> bool:
        return abs(self.points) > student_t(self.degrees) * self.error_points

    def objection(self, limit: float) -> str:
        """Why it is not settled; empty where it is. limit: of the drift, in points."""
        if abs(self.points) >= limit:
            return f"still moved by {self.points:+.1f} points"
        if self.error_points > limit / 2:
            return f"its drift is known to {self.error_points:.1f} points only"
        return f"still moved by {self.points:+.1f} points, more than chance" if self.significant else ""


@dataclass(frozen=True)
class WarmUp:
    """The verdict on a warm-up. drift_points: later minus earlier windows, in points (percent), and error_points its
    standard error; None with too few windows. compared: windows in each of the two stretches. filling: over the last
    of them, blocks that came less blocks that went, of those that came. clients_finished: those that had finished a
    transaction at its end, None where nobody counted. reasons: why it is not warm."""

    instructions: int
    windows: int
    compared: int
    drift_points: dict[str, float | None]
    error_points: dict[str, float | None]
    filling: float | None
    clients_finished: int | None
    verdict: Literal["warm", "not warm"]
    reasons: tuple[str, ...]


def judge(
    windows: Sequence[Window],
    clients: int | None = None,
    finished: int | None = None,
    limit: float = ALLOWED_DRIFT_POINTS,
) -> WarmUp:
    """The verdict on the warm-up among these windows. clients: how many there are, where that is known; finished: how
    many of them have finished a transaction since the mix began, where it was counted. limit: of a drift, in points.
    A window cut short (under half the usual length) says too little and is left out."""
    warming = [window for window in windows if window.phase == "warm-up"]
    usual = median(window.instructions for window in warming) if warming else 0
    whole = [window for window in warming if window.instructions >= usual / 2]
    compared = len(whole) // THIRDS
    drifts = {name: drift(whole[-2 * compared :], name) if compared >= FEWEST else None for name in WATCHED}
    reasons = [
        f"{_NAMES[name]}: {said}" for name, found in drifts.items() if found and (said := found.objection(limit))
    ]
    if None in drifts.values():
        reasons.append("too few windows to tell")
    filling = _filling(whole[-compared:]) if compared else None
    if filling is not None and filling > ALLOWED_FILLING:
        reasons.append(f"{100 * filling:.1f}% of the blocks that came in still filled the caches up")
    if clients is not None and finished is not None and finished < clients:
        reasons.append(f"{finished} of {clients} clients had finished a transaction")
    return WarmUp(
        instructions=sum(window.instructions for window in warming),
        windows=len(warming),
        compared=compared,
        drift_points={name: None if found is None else found.points for name, found in drifts.items()},
        error_points={name: None if found is None else found.error_points for name, found in drifts.items()},
        filling=filling,
        clients_finished=finished,
        verdict="not warm" if reasons else "warm",
        reasons=tuple(reasons),
    )


def _filling(windows: Sequence[Window]) -> float | None:
    came = sum(window.fills for window in windows)
    left = [window.left for window in windows if window.left is not None]
    return (came - sum(left)) / came if came and len(left) == len(windows) else None


def drift(windows: Sequence[Window], name: str) -> Drift | None:
    """Between the two halves of the windows; None where a share is undefined."""
    half = len(windows) // 2
    part, whole = WATCHED[name]
    stretches: list[tuple[float, list[float]]] = []
    for stretch in (windows[:half], windows[half:]):
        parts, wholes = ([getattr(window, key) for window in stretch] for key in (part, whole))
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
    return Drift(points, error_points, degrees(len(windows), correlation, means=2))

# SPDX-License-Identifier: GPL-2.0-or-later
"""The warm-up test: what it calls warm, why not, and how often it is wrong where the truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from s80lab.results.metrics.sampling import NAMES, SamplingInterval
from s80lab.results.metrics.standing import HEADLINE
from s80lab.results.metrics.warmup import WarmUp, drift, judge

MISSES = 1_000_000
MEMORY = "miss_source.all.memory"


def interval(
    e_share: float, memory_share: float, instructions: int = 1000, others: Mapping[str, float] = {}
) -> SamplingInterval:
    """A sampling interval of a warm-up. others: further shares by metric; those not named do not move."""
    shares = {**dict.fromkeys(NAMES, 0.1), "e_share": e_share, MEMORY: memory_share} | dict(others)
    return SamplingInterval(
        phase="warm-up",
        end_instructions=0,
        instructions=instructions,
        clock_ns=1,
        misses=MISSES,
        memory_misses=round(MISSES * memory_share),
        fills=MISSES,
        fills_e=round(MISSES * e_share),
        e_to_m=0,
        left=MISSES,
        watched={name: (round(MISSES * share), MISSES) for name, share in shares.items()},
    )


def judged(e_shares: Sequence[float], memory_shares: Sequence[float]) -> WarmUp:
    return judge([interval(e, memory) for e, memory in zip(e_shares, memory_shares, strict=True)])


def noisy(mean: np.ndarray, deviation: float, draw: np.random.Generator, correlation: float = 0.0) -> list[float]:
    """The mean of each interval plus noise of that standard deviation whose neighbours correlate."""
    noise = draw.normal(size=len(mean))
    for i in range(1, len(mean)):
        noise[i] = correlation * noise[i - 1] + np.sqrt(1 - correlation**2) * noise[i]
    return [float(value) for value in mean + deviation * noise]


def test_intervals_that_do_not_move_are_warm() -> None:
    found = judged([0.3] * 9, [0.7] * 9)
    assert (found.verdict, found.reasons, found.compared) == ("steady", (), 3)


def test_drift_of_two_points_is_not_warm_and_smaller_chance_drift_is() -> None:
    before = [0.295, 0.30, 0.305]
    moved = [*before, *before, *(share + 0.02 for share in before)]
    found = judged(moved, [0.7] * 9)
    assert found.verdict == "not steady"
    assert found.drift_points == {name: pytest.approx(2 if name == "e_share" else 0) for name in NAMES}
    assert found.reasons == ("E share: drift +2.0 points (limit 2)",)
    a_little = [*before, *before, *(share + 0.01 for share in before)]
    assert judged(a_little, [0.7] * 9).verdict == "steady"


@pytest.mark.parametrize("name", NAMES)
def test_drift_of_any_headline_share_is_reported(name: str) -> None:
    found = judge([interval(0.3, 0.7, others={name: 0.5})] * 6 + [interval(0.3, 0.7, others={name: 0.53})] * 3)
    assert found.reasons == (f"{NAMES[name]}: drift +3.0 points (limit 2)",)


def test_drift_test_watches_all_headline_shares() -> None:
    assert set(HEADLINE) - set(NAMES) == {"l2_mpki.all"}


def test_share_without_denominator_is_not_judged() -> None:
    """A protocol without E has no blocks that could go from E to M."""
    without_e = replace(interval(0.0, 0.7), watched={**interval(0.0, 0.7).watched, "e_to_m_share": (0, 0)})
    found = judge([without_e] * 9)
    assert (found.verdict, found.drift_points["e_to_m_share"]) == ("steady", None)


def test_drift_test_over_all_shares_has_false_alarm_rate_below_a_tenth() -> None:
    draw = np.random.default_rng(4)

    def shares() -> dict[str, float]:
        return {name: 0.5 + 0.02 * float(draw.normal()) for name in NAMES}

    verdicts = [judge([interval(0.0, 0.0, others=shares()) for _ in range(48)], limit=20.0).verdict for _ in range(300)]
    assert 0.0 < verdicts.count("not steady") / 300 < 0.1


def test_small_significant_drift_is_not_warm() -> None:
    found = judged([0.3] * 6 + [0.301] * 3, [0.7] * 9)
    assert found.reasons == ("E share: drift +0.1 points, more than chance",)


def test_drift_of_scattered_intervals_is_undecided() -> None:
    scattered = [0.25, 0.30, 0.35] * 3
    found = judged(scattered, [0.7] * 9)
    assert found.drift_points["e_share"] == pytest.approx(0)
    assert found.reasons == ("E share: drift undecided (standard error 5.8 points, limit 1)",)


def test_drift_of_many_scattered_intervals_is_decided() -> None:
    assert judged([0.27, 0.30, 0.33] * 20, [0.7] * 60).verdict == "steady"


def test_eight_intervals_are_too_few() -> None:
    reasons = ("too few sampling intervals to judge the drift",)
    assert judged([0.3] * 8, [0.7] * 8).reasons == reasons
    assert judge([]).reasons == reasons


def test_drift_test_ignores_the_first_third() -> None:
    assert judged([0.1, 0.2, 0.25, *[0.3] * 6], [0.9, 0.8, 0.75, *[0.7] * 6]).verdict == "steady"


def test_interval_shorter_than_half_the_usual_length_is_left_out() -> None:
    settled = [interval(0.3, 0.7)] * 9
    assert judge([*settled, interval(0.9, 0.1, instructions=499)]).verdict == "steady"
    assert judge([*settled, interval(0.9, 0.1, instructions=500)]).verdict == "not steady"


@pytest.mark.parametrize(("left", "warm"), [(MISSES - MISSES // 50, True), (MISSES - MISSES // 50 - 1, False)])
def test_caches_that_still_fill_up_are_not_warm(left: int, warm: bool) -> None:
    """Two of a hundred blocks may come without another going; in the last third, whatever was before."""
    filling = [replace(interval(0.3, 0.7), left=0)] * 6
    found = judge([*filling, *[replace(interval(0.3, 0.7), left=left)] * 3])
    assert (found.verdict == "steady") is warm
    assert warm or found.reasons == ("caches not full: 2.0% of the last fills went to empty frames (limit 2%)",)


def test_warm_up_without_eviction_counts_is_judged_by_its_drift() -> None:
    assert judge([replace(interval(0.3, 0.7), left=None)] * 9).verdict == "steady"


def test_wider_drift_limit_allows_half_of_the_limit_as_standard_error() -> None:
    scattered = [interval(share, 0.7) for share in [0.25, 0.30, 0.35] * 3]
    assert judge(scattered, limit=11.0).reasons == ("E share: drift undecided (standard error 5.8 points, limit 5.5)",)
    assert judge(scattered, limit=12.0).verdict == "steady"


def test_warm_up_without_a_transaction_of_each_client_is_not_warm() -> None:
    settled = [interval(0.3, 0.7)] * 9
    found = judge(settled, clients=200, finished=199)
    assert found.verdict == "not steady"
    assert found.reasons == ("only 199 of 200 clients have completed a transaction",)
    assert judge(settled, clients=200, finished=200).verdict == "steady"
    assert judge(settled, clients=200, finished=None).verdict == "steady"  # nobody counted


def test_drift_standard_error_is_that_of_a_difference_of_means() -> None:
    draw = np.random.default_rng(1)
    found = drift([interval(0.3, share) for share in noisy(np.full(2000, 0.7), 0.03, draw)], MEMORY)
    assert found is not None
    assert found.error_points == pytest.approx(100 * 0.03 * np.sqrt(2 / 1000), rel=0.1)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
def test_constant_share_is_called_drifting_one_time_in_twenty(correlation: float) -> None:
    draw = np.random.default_rng(2)
    alarms = [
        found.significant()
        for _ in range(600)
        if (found := drift([interval(0.3, s) for s in noisy(np.full(32, 0.6), 0.02, draw, correlation)], MEMORY))
    ]
    assert 0.01 < np.mean(alarms) < 0.11


def test_drift_at_the_limit_is_seldom_called_warm() -> None:
    """Caches that still fill: at the error that is allowed the truth of two points passes half of the time at most,
    twice as much never."""
    draw = np.random.default_rng(3)

    def warm(points: float) -> float:
        mean = 0.6 + np.repeat([0.0, 0.0, points / 100], 12)
        verdicts = [judged([0.3] * 36, noisy(mean, 0.015, draw)).verdict == "steady" for _ in range(200)]
        return float(np.mean(verdicts))

    assert warm(0.0) > 0.85
    assert warm(2.0) < 0.5
    assert warm(4.0) < 0.02

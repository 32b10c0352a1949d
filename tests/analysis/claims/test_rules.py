# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of the verdicts, on numbers made for them."""

from __future__ import annotations

import pytest

from s80lab.analysis.claims.rules import Band, Responses, alike, extremes, higher, in_band, lowest
from s80lab.analysis.interval import Estimate


def three(mean: float, half: float) -> Estimate:
    return Estimate(mean, half, 3)


def test_single_stated_number_becomes_a_band_of_ten_percent() -> None:
    assert Band.around(20, 20) == Band(18, 22)
    assert Band.around(75, 85) == Band(75, 85)
    assert Band.around(None, 2) == Band(None, 2)


@pytest.mark.parametrize(
    ("value", "verdict", "side"),
    [
        (three(75, 1), "agrees", ""),
        (three(80, 30), "agrees", ""),
        (three(85, 1), "agrees", ""),
        (three(74, 0.9), "differs", "below"),
        (three(74, 1), "not comparable", "below"),
        (three(86, 0.9), "differs", "above"),
        (three(86, 1), "not comparable", "above"),
        (Estimate(74.9, None, 1), "differs", "below"),
        (Estimate(75, None, 1), "agrees", ""),
    ],
)
def test_estimate_is_judged_by_band_and_interval(value: Estimate, verdict: str, side: str) -> None:
    judgement = in_band(value, Band(75, 85))
    assert (judgement.verdict, judgement.side) == (verdict, side)
    assert bool(judgement.note) == (verdict == "not comparable")


def test_band_with_one_open_side_has_only_one_limit() -> None:
    assert in_band(three(0, 0.1), Band(None, 2)).verdict == "agrees"
    assert in_band(three(3, 0.1), Band(None, 2)).side == "above"
    assert in_band(three(0.2, 0.1), Band(1, None)).side == "below"


def test_higher_needs_intervals_apart() -> None:
    assert higher(three(100, 5), three(120, 5)).verdict == "agrees"
    assert higher(three(120, 5), three(100, 5)).verdict == "differs"
    assert higher(three(100, 10), three(120, 10)).verdict == "not comparable"
    assert higher(Estimate(1, None, 1), Estimate(2, None, 1)).verdict == "agrees"


def test_lowest_rule_needs_intervals_that_do_not_overlap() -> None:
    others = {"web": three(30, 5), "jbb": three(40, 2)}
    assert lowest(three(20, 4), others).verdict == "agrees"
    judgement = lowest(three(26, 4), others)
    note = "the 95% interval of this workload overlaps with that of web"
    assert (judgement.verdict, judgement.note) == ("not comparable", note)
    judgement = lowest(three(45, 2), others)
    assert (judgement.verdict, judgement.note) == ("differs", "these workloads have a lower value: web, jbb")
    assert lowest(Estimate(29, None, 1), others).verdict == "agrees"


def test_alike_names_what_is_not() -> None:
    same, apart = (three(10, 1), three(11, 1)), (three(10, 1), three(13, 1))
    assert alike({"cpi.all": same}).verdict == "agrees"
    judgement = alike({"cpi.all": same, "e_share": apart})
    assert judgement.verdict == "differs"
    assert "do not overlap for `e_share`" in judgement.note
    assert alike({"cpi.all": (Estimate(1, None, 1), Estimate(1, None, 1))}).verdict == "not comparable"


def test_extremes_are_of_types_with_samples_enough() -> None:
    types = [Responses("MOVE", 10, 90.0, 5.0), Responses("VIEW", 50, 5.0, 0.5), Responses("SRCH", 10, 2.0, 0.2)]
    assert extremes(types, "MOVE", "SRCH").verdict == "agrees"
    assert extremes(types, "MOVE", "VIEW").verdict == "differs"
    rare = Responses("CRTE", 9, 100.0, 1.0)
    judgement = extremes([*types, rare], "MOVE", "SRCH")
    assert (judgement.verdict, judgement.note) == ("agrees", "left out (fewer than 10 transactions): CRTE (9)")
    assert extremes([*types[1:], Responses("MOVE", 9, 90.0, 5.0)], "MOVE", "SRCH").verdict == "not comparable"


def test_different_slowest_type_differs_only_if_significant() -> None:
    types = [Responses("MOVE", 10, 90.0, 5.0), Responses("SRCH", 10, 2.0, 0.2)]
    near = extremes([*types, Responses("SELT", 10, 100.0, 5.0)], "MOVE", "SRCH")
    note = (
        "the slowest transaction is SELT, not MOVE; the difference of their mean response times is {}significant (95%)"
    )
    assert (near.verdict, near.note) == ("not comparable", note.format("not "))
    far = extremes([*types, Responses("SELT", 10, 104.0, 5.0)], "MOVE", "SRCH")
    assert (far.verdict, far.note) == ("differs", note.format(""))

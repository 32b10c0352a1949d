# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparison of two sides: observations, pairs, verdicts, refusals and the number of further replications."""

from __future__ import annotations

import pytest
from tests.analysis.comparison.sides import TESTED, USUAL, of_row, run, side

from s80lab.analysis.comparison.contrast import Comparison, Contrast
from s80lab.analysis.comparison.sides import other_programs
from s80lab.analysis.groups import Group
from s80lab.base.errors import UserError
from s80lab.config.differences import Changed, changes

MPKI = "l2_mpki.all"


def row(comparison: Comparison, name: str) -> Contrast:
    return next(one for one in (*comparison.tested, *comparison.further) if one.row.name == name)


def test_seeds_of_one_boot_are_one_observation() -> None:
    first = of_row("A", MPKI, {"b1": [0.50, 0.52, 0.54], "b2": [0.60]})
    second = of_row("B", MPKI, {"b3": [0.70], "b4": [0.72, 0.74]})
    found = row(Comparison(first, second), "l2_mpki")
    # Means of the boots: 0.52 and 0.60; 0.70 and 0.73.
    assert found.first == pytest.approx(0.56) and found.second == pytest.approx(0.715)
    assert found.difference.estimate == pytest.approx(0.155) and found.difference.counts == (2, 2)
    assert found.ratio == pytest.approx(0.715 / 0.56)


def test_difference_between_other_boots_is_that_of_samples() -> None:
    first = of_row("A", MPKI, {f"a{n}": [0.50 + n / 100] for n in range(6)})
    second = of_row("B", MPKI, {f"b{n}": [0.60 + n / 100] for n in range(6)})
    comparison = Comparison(first, second)
    found = row(comparison, "l2_mpki")
    assert not comparison.paired and comparison.unit == "boot" and comparison.counts == (6, 6)
    assert found.difference.degrees == 10 and found.verdict == "higher"


def test_live_runs_of_five_boots_in_common_are_pairs() -> None:
    boots = {f"b{n}": [0.50 + n / 10] for n in range(5)}
    first = of_row("A", MPKI, boots)
    second = of_row(
        "B", MPKI, {boot: [value - 0.01 - place / 1000] for place, (boot, (value,)) in enumerate(boots.items())}
    )
    comparison = Comparison(first, second)
    found = row(comparison, "l2_mpki")
    assert comparison.paired and found.difference.counts == (5,)
    assert found.difference.estimate == pytest.approx(-0.012) and found.verdict == "lower"


def test_live_runs_of_four_boots_in_common_are_samples() -> None:
    boots = {f"b{n}": [0.50 + n / 10] for n in range(4)}
    second = of_row("B", MPKI, {boot: [value - 0.01] for boot, (value,) in boots.items()})
    comparison = Comparison(of_row("A", MPKI, boots), second)
    assert comparison.shared and not comparison.paired
    assert row(comparison, "l2_mpki").verdict == "no difference shown"


def test_pairs_are_joined_by_boot_whatever_their_order() -> None:
    boots = {f"b{n}": [0.50 + n / 10] for n in range(5)}
    second = of_row("B", MPKI, {boot: [value + 0.25] for boot, (value,) in reversed(boots.items())})
    found = row(Comparison(of_row("A", MPKI, boots), second), "l2_mpki")
    assert found.difference.estimate == pytest.approx(0.25) and found.difference.error == pytest.approx(0, abs=1e-12)


def test_replays_of_two_captures_are_pairs() -> None:
    captures = {"c1": [0.50], "c2": [0.70]}
    first = of_row("A", MPKI, captures, engine="replay")
    second = of_row("B", MPKI, {"c1": [0.60], "c2": [0.81]}, engine="replay")
    comparison = Comparison(first, second)
    assert comparison.unit == "capture" and comparison.paired
    assert row(comparison, "l2_mpki").difference.counts == (2,)


def test_comparison_with_one_boot_per_side_is_not_tested() -> None:
    first = of_row("A", MPKI, {"b1": [0.50, 0.52, 0.54]})
    second = of_row("B", MPKI, {"b1": [0.70, 0.72, 0.74]})
    found = Comparison(first, second).tested
    assert [one.verdict for one in found] == ["not tested"] * len(TESTED)
    assert found[0].difference.estimate == pytest.approx(0.2) and found[0].difference.half_width is None
    assert found[0].detectable is None and found[0].further is None


def test_equal_values_on_both_sides_show_no_difference() -> None:
    first, second = (of_row(label, MPKI, {f"{label}{n}": [0.5] for n in range(3)}) for label in "AB")
    found = Comparison(first, second).tested
    assert {one.verdict for one in found} == {"no difference shown"}
    assert {(one.difference.estimate, one.difference.half_width) for one in found} == {(0.0, 0.0)}


def test_verdict_is_corrected_for_the_rows_of_the_headline() -> None:
    first = of_row("A", MPKI, {f"a{n}": [0.50 + n / 100] for n in range(4)})
    second = of_row("B", MPKI, {f"b{n}": [0.526 + n / 100] for n in range(4)})
    found = row(Comparison(first, second), "l2_mpki")
    assert found.difference.probability == pytest.approx(0.0294, abs=5e-4)
    # Of the five rows, the transfers per 1000 instructions are proportional to the misses: both have the same p-value.
    assert found.corrected == pytest.approx(5 * 0.0294, abs=3e-3) and found.verdict == "no difference shown"


def test_verdict_is_corrected_for_comparisons_made_together() -> None:
    first = of_row("A", "e_share", {f"a{n}": [0.30 + n / 100] for n in range(4)})
    second = of_row("B", "e_share", {f"b{n}": [0.35 + n / 100] for n in range(4)})
    alone, together = (row(Comparison(first, second, number), "e_share") for number in (1, 9))
    assert alone.corrected is not None and together.corrected == pytest.approx(9 * alone.corrected)
    assert (alone.verdict, together.verdict) == ("higher", "no difference shown")
    assert (alone.tests, together.tests) == (5, 45)


def test_row_that_a_run_lacks_is_left_out_and_not_counted() -> None:
    metrics = {**USUAL, "e_to_m_share": None}
    first, second = (side(label, {f"{label}{n}": [metrics] for n in range(3)}) for label in "AB")
    assert [one.row.name for one in Comparison(first, second).tested] == ["l2_mpki", "transfers_pki", "e_share", "cpi"]


@pytest.mark.parametrize(("llc", "transfers"), [({}, 0.3), ({"miss_source.all.llc": 0.5}, 0.05)])
def test_transfers_are_the_misses_that_another_private_cache_services(llc: dict[str, float], transfers: float) -> None:
    metrics = {**USUAL, MPKI: 0.5, "miss_source.all.memory": 0.4, **llc}
    first, second = (side(label, {f"{label}{n}": [metrics] for n in range(2)}) for label in "AB")
    assert row(Comparison(first, second), "transfers_pki").first == pytest.approx(transfers)


def test_further_rows_have_no_verdict() -> None:
    metrics = {**USUAL, "throughput": 250.0}
    other = {**USUAL, "throughput": 500.0}
    first, second = (
        side(label, {f"{label}{n}": [each] for n in range(3)}) for label, each in (("A", metrics), ("B", other))
    )
    found = row(Comparison(first, second), "throughput")
    assert found.difference.half_width == 0.0 and found.verdict == "not tested"


def test_further_replications_show_a_point_of_a_share() -> None:
    first = of_row("A", "e_share", {f"a{n}": [0.30 + n / 100] for n in range(3)})
    second = of_row("B", "e_share", {f"b{n}": [0.30 + n / 100] for n in range(3)})
    found = row(Comparison(first, second), "e_share")
    # A difference of one standard deviation (1 point), five rows: 25 boots a side; three are there.
    assert (found.needed, found.further) == (25, 22)


def test_further_replications_are_zero_if_the_difference_is_shown() -> None:
    first = of_row("A", "e_share", {f"a{n}": [0.30 + n / 1e5] for n in range(8)})
    second = of_row("B", "e_share", {f"b{n}": [0.30 + n / 1e5] for n in range(8)})
    assert row(Comparison(first, second), "e_share").further == 0


def test_sides_with_a_run_in_common_are_refused() -> None:
    same = of_row("imapb", MPKI, {"b1": [0.5]})
    with pytest.raises(UserError, match="imapb and again are the same design: both have 1 run \\(imapb-b1-s1\\)"):
        Comparison(same, Group("again", same.runs))


def test_replays_against_live_runs_are_refused() -> None:
    live, replays = of_row("live", MPKI, {"b1": [0.5]}), of_row("replays", MPKI, {"c1": [0.5]}, engine="replay")
    with pytest.raises(
        UserError, match="live has runs of the engine qemu and replays of replay, which count differently"
    ):
        Comparison(live, replays)


def test_changes_name_the_keys_of_manifest_and_design() -> None:
    before, after = {"protocol": "moesi", "l2.size": 8 << 20}, {"protocol": "mesi", "l2.size": 2 << 20}
    first = Group("A", (run("b1", 1, USUAL, design=before),))
    second = Group("B", (run("b1", 1, USUAL, protocol="mesi", design=after),))
    found = changes(first.manifest, second.manifest)
    assert found == [Changed("protocol", "moesi", "mesi"), Changed("l2.size", "8MiB", "2MiB")]
    assert str(found[1]) == "l2.size 8MiB -> 2MiB"


def test_different_plugin_of_one_side_is_listed() -> None:
    first, second = (Group(label, (run("b1", 1, USUAL, label, inputs={"plugin": label}),)) for label in "AB")
    assert other_programs(first, second) == ["plugin"]
    assert other_programs(first, Group("C", (run("b2", 1, USUAL, "C", inputs={"plugin": "A"}),))) == []


def test_different_image_that_is_named_is_not_listed() -> None:
    first, second = (
        Group(label, (run("b1", 1, USUAL, label, inputs={"initramfs": label}, image=label),)) for label in "AB"
    )
    assert other_programs(first, second) == []

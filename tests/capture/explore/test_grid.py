# SPDX-License-Identifier: GPL-2.0-or-later
"""The grid: what --vary means, and what it is refused for before anything is replayed."""

from __future__ import annotations

import pytest

from s80lab.base.errors import UserError
from s80lab.capture.explore.grid import resolve_points
from s80lab.capture.store import Capture
from s80lab.config.grid import Axis, Grid, ablation, check_size


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("protocol=msi,mesi", ("msi", "mesi")),
        ("l2.size=512KiB..4MiB", ("512KiB", "1MiB", "2MiB", "4MiB")),
        ("l2.size=1MiB,64KiB..128KiB", ("1MiB", "64KiB", "128KiB")),
        ("l2.size=1MiB..1MiB", ("1MiB",)),
        ("l2.ways=1..8", ("1", "2", "4", "8")),
        ("l2.size=65536..131072", ("65536", "131072")),
        ("l2.ways=2,2", ("2",)),
    ],
)
def test_lists_and_ranges(text: str, values: tuple[str, ...]) -> None:
    assert Grid.parse([text]).axes == (Axis(text.partition("=")[0], values),)


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ([], "explore needs at least one --vary option, for example --vary protocol=msi,mesi,moesi"),
        (["l2.size"], "--vary l2.size: expected KEY=VALUES"),
        (["=4"], "--vary =4: expected KEY=VALUES"),
        (["l2.size=1MiB,,2MiB"], "a value is empty; remove the extra comma"),
        (["l2.size=4MiB..1MiB"], "doubling never reaches 1MiB"),
        (["l2.size=1MiB..3MiB"], "the range 1MiB..3MiB stands for 1MiB, its double, and so on up to 3MiB"),
        (["l2.size=0..4"], "doubling never reaches 4"),
        (["l2.size=1MB..4MB"], "invalid range 1MB..4MB: `1MB` is no"),
        (["l2.ways=1", "l2.ways=2"], "--vary l2.ways is given 2 times; give all values in one option"),
    ],
)
def test_malformed_axis_is_refused(texts: list[str], sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        Grid.parse(texts)
    assert sentence in str(caught.value)


def test_points_are_every_combination_in_order(full: Capture) -> None:
    grid = Grid.parse(["protocol=msi,hammer", "l2.size=64KiB,128KiB"])
    found = resolve_points(full, grid, None, ["latency.memory=200"])
    assert [tuple(point.values.values()) for point in found] == [
        ("msi", "64KiB"),
        ("msi", "128KiB"),
        ("hammer", "64KiB"),
        ("hammer", "128KiB"),
    ]
    assert [point.design.machine.l2.size for point in found] == [65536, 131072] * 2
    assert {point.design.machine.latency.memory for point in found} == {200}
    # A protocol brings the organisation that it was made for.
    assert [point.design.machine.l2.inclusion for point in found] == ["inclusive"] * 2 + ["exclusive"] * 2
    assert found[0].design.varied == {"protocol": "msi", "latency.memory": "200"}
    assert found[3].design.label == "hammer, l2.size=128KiB, l2.inclusion=exclusive, latency.memory=200"


def test_user_setting_overrides_the_organisation_of_the_protocol(full: Capture) -> None:
    (point,) = resolve_points(full, Grid.parse(["protocol=hammer"]), None, ["l2.inclusion=inclusive"])
    assert point.design.machine.l2.inclusion == "inclusive"


def test_cores_share_the_recorded_threads(full: Capture) -> None:
    found = resolve_points(full, Grid.parse(["cores=4,2,1"]), None, [])
    assert [point.design.machine.processors.threads_per_core for point in found] == [1, 2, 4]
    assert {point.design.machine.processors.count for point in found} == {4}


@pytest.mark.parametrize(
    ("vary", "sentence"),
    [
        ("l2.sise=1MiB", "unknown key `l2.sise`: did you mean size? (allowed are inclusion, size, ways)"),
        ("l2.size=96KiB", "the number of sets must be a power of two"),
        ("l2.size=big", "`big` is not a size"),
        ("protocol=moesy", "there is no protocol `moesy` in configs/protocols"),
        ("machine=s81", "there is no machine `s81` in configs/machines"),
        ("cores=3", "the number of cores must divide 4, the number of hardware threads"),
        ("cores=0", "--vary cores=0"),
        ("processors.count=8", "with processors.count = 4 and cannot be replayed with 8; record a new capture"),
        ("translation.walks=hashed", "was recorded on a machine with another table [translation]"),
        ("line_bytes=64", "was recorded with line_bytes = 128 and cannot be replayed with 64; record a new capture"),
        (
            "clock.filter_instructions=100",
            "was recorded with clock.filter_instructions = 1000 and cannot be replayed with",
        ),
    ],
)
def test_impossible_design_is_refused(full: Capture, vary: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        resolve_points(full, Grid.parse([vary]), None, [])
    assert sentence in str(caught.value)


def test_capture_can_be_replayed_at_longer_quanta(full: Capture) -> None:
    found = resolve_points(full, Grid.parse(["clock.quantum_cycles=200,1000,1000000"]), None, [])
    assert [point.design.machine.clock.quantum_cycles for point in found] == [200, 1000, 1_000_000]


@pytest.mark.parametrize("vary", ["l1d.size=8KiB", "l1i.ways=1", "cores=2"])
def test_filtered_capture_is_refused_for_different_l1_caches(filtered: Capture, full: Capture, vary: str) -> None:
    assert resolve_points(full, Grid.parse([vary]), None, [])
    with pytest.raises(UserError, match=r"lacks the accesses that hit in these L1s, so .* record a full capture"):
        resolve_points(filtered, Grid.parse([vary]), None, [])


def test_curves_run_over_the_axis_with_most_numbers() -> None:
    grid = Grid.parse(["protocol=msi,mesi,moesi,mosi", "l2.ways=2,4", "l2.size=1MiB..4MiB"])
    protocol, ways, size = grid.axes
    assert grid.across() == size
    assert grid.without(size).across() == ways
    assert grid.without(size).without(ways).across() == protocol


def test_sweep_of_a_file_equals_the_same_grid_of_options() -> None:
    assert Grid.of_sweep({"protocol": ["msi", "mesi"], "l2.ways": [2, 4]}) == Grid.parse(
        ["protocol=msi,mesi", "l2.ways=2,4"]
    )
    assert Grid.of_sweep({}).points() == [{}]


def test_grid_of_points_has_their_keys_and_values_in_order() -> None:
    points = [{"protocol": "msi", "l2.size": "1MiB"}, {"protocol": "mesi", "l2.size": "1MiB"}]
    grid = Grid.of_points(points)
    assert str(grid) == "protocol = msi, mesi; l2.size = 1MiB"
    assert str(grid.varying()) == "protocol = msi, mesi"
    assert [grid.label(point) for point in points] == ["msi, l2.size 1MiB", "mesi, l2.size 1MiB"]
    assert grid.points() == points


def test_ablation_has_no_change_then_each_alone_then_all() -> None:
    assert ablation(["ticks", "zone"]) == {
        "none": [],
        "ticks alone": ["ticks"],
        "zone alone": ["zone"],
        "all": ["ticks", "zone"],
    }


def test_grid_of_millions_of_points_is_refused_before_its_points_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid.parse(
        [f"{key}={','.join(map(str, range(1, 300)))}" for key in ("latency.memory", "latency.upgrade", "x")]
    )
    assert grid.size == 299**3
    monkeypatch.setattr("itertools.product", None)
    with pytest.raises(UserError, match="the grid has 26,730,899 points, and the limit is 50,000: give fewer values"):
        grid.points()


def test_limit_of_a_list_counts_boots_and_seeds() -> None:
    check_size(50_000, "run")
    check_size(500, "run", 10, 10)
    with pytest.raises(UserError, match=r"the grid has 50,500 runs \(505 x 10 x 10\)"):
        check_size(505, "run", 10, 10)


def test_range_with_thousands_of_digits_is_one_short_sentence() -> None:
    with pytest.raises(UserError, match="has more than 30 digits: write a smaller number") as refused:
        Grid.parse(["l2.size=1.." + "9" * 5000])
    assert len(str(refused.value)) < 1000 and "sys." not in str(refused.value)

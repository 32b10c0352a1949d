# SPDX-License-Identifier: GPL-2.0-or-later
"""The grid: what --vary means, and what it is refused for before anything is replayed."""

from __future__ import annotations

import pytest

from s80lab.base.errors import UserError
from s80lab.capture.explore.grid import parse_axes, points
from s80lab.capture.store import Capture
from s80lab.config.axes import Axis, horizontal


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
    assert parse_axes([text]) == [Axis(text.partition("=")[0], values)]


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
def test_what_is_no_axis_is_refused(texts: list[str], sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_axes(texts)
    assert sentence in str(caught.value)


def test_points_are_every_combination_in_order(full: Capture) -> None:
    axes = parse_axes(["protocol=msi,hammer", "l2.size=64KiB,128KiB"])
    found = points(full, axes, None, ["latency.memory=200"])
    assert [point.values for point in found] == [
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


def test_what_the_user_sets_is_stronger_than_the_protocols_organisation(full: Capture) -> None:
    (point,) = points(full, parse_axes(["protocol=hammer"]), None, ["l2.inclusion=inclusive"])
    assert point.design.machine.l2.inclusion == "inclusive"


def test_cores_share_the_recorded_threads(full: Capture) -> None:
    found = points(full, parse_axes(["cores=4,2,1"]), None, [])
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
        ("clock.quantum_cycles=200,100", "more finely than they are recorded"),
        (
            "clock.filter_instructions=100",
            "was recorded with clock.filter_instructions = 200 and cannot be replayed with",
        ),
    ],
)
def test_a_design_that_cannot_be_is_refused(full: Capture, vary: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        points(full, parse_axes([vary]), None, [])
    assert sentence in str(caught.value)


def test_one_capture_can_be_replayed_at_longer_quanta(full: Capture) -> None:
    found = points(full, parse_axes(["clock.quantum_cycles=200,1000,1000000"]), None, [])
    assert [point.design.machine.clock.quantum_cycles for point in found] == [200, 1000, 1_000_000]


@pytest.mark.parametrize("vary", ["l1d.size=8KiB", "l1i.ways=1", "cores=2"])
def test_a_filtered_capture_holds_for_its_l1s_alone(filtered: Capture, full: Capture, vary: str) -> None:
    assert points(full, parse_axes([vary]), None, [])
    with pytest.raises(UserError, match=r"lacks the accesses that hit in these L1s, so .* record a full capture"):
        points(filtered, parse_axes([vary]), None, [])


def test_the_curves_run_over_the_axis_with_most_numbers() -> None:
    protocol, ways, size = parse_axes(["protocol=msi,mesi,moesi,mosi", "l2.ways=2,4", "l2.size=1MiB..4MiB"])
    assert horizontal([protocol, ways, size]) == size
    assert horizontal([protocol, ways]) == ways
    assert horizontal([protocol]) == protocol

# SPDX-License-Identifier: GPL-2.0-or-later
"""The grid: what --vary means, and what it is refused for before anything is replayed. Plan files: shards that read one
do what shards without one do, and a plan of other inputs is refused."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.capture.conftest import write_capture
from tests.lab import Lab

from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.shard import Shard
from s80lab.capture.design import Design
from s80lab.capture.explore import plan as plan_module
from s80lab.capture.explore.grid import resolve_points
from s80lab.capture.explore.plan import Varied, load_plan, make_list, read_plan, write_plan
from s80lab.capture.replay import design_key
from s80lab.capture.store import Capture, open_capture
from s80lab.commands.shards import Listed, Part, core_time, show_list, summary
from s80lab.config.grid import Axis, Grid, ablation, check_size
from s80lab.experiment.resources import Cost

GRID = ("--vary", "protocol=msi,moesi", "--vary", "l2.size=32KiB..64KiB")


def of_options(*vary: str) -> Varied:
    return Varied.of_options(Grid.parse(vary), None, [])


def test_shards_with_a_plan_make_the_runs_of_the_list(place: Lab, drawn_file: Path, tmp_path: Path) -> None:
    plan = tmp_path / "grid.json"
    before = place.answer("explore", str(drawn_file), *GRID, "--list")
    assert place.answer("explore", str(drawn_file), *GRID, "--plan", str(plan), "--list") == before
    for number in (1, 2):
        said = place.call("explore", str(drawn_file), "--plan", str(plan), "--shard", f"{number}/2")
        assert f"shard {number}/2: 2 of 4 runs" in said
    content = json.loads(plan.read_text())
    assert [folder.name for folder in place.runs()] == sorted(entry["run"] for entry in content["entries"])
    last = place.answer("explore", str(drawn_file), "--plan", str(plan), "--list").splitlines()[-1]
    assert last == "4 complete, 0 to do"


def test_page_needs_only_the_plan(place: Lab, drawn_file: Path, tmp_path: Path) -> None:
    plan = tmp_path / "grid.json"
    place.call("explore", str(drawn_file), *GRID, "--plan", str(plan), "--list")
    assert "4 designs, 0 of them replayed already" in place.call("explore", str(drawn_file), "--plan", str(plan))


def test_shard_of_a_plan_resolves_its_own_designs_only(
    full: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_plan(tmp_path / "p.json", make_list([full], of_options("protocol=msi,moesi", "latency.memory=100,200,300")))
    resolved: list[Design] = []

    def key_of(capture: Capture, design: Design) -> str:
        resolved.append(design)
        return design_key(capture, design)

    monkeypatch.setattr(plan_module, "design_key", key_of)
    replays = read_plan(tmp_path / "p.json", [full], None)
    assert len(resolved) == 2  # one of each protocol
    entries = list(replays.entries.values())
    ((_, design),) = replays.designs(entries[3:4])
    assert len(resolved) == 3 and design.label == entries[3].job


def test_plan_names_captures_and_grid_by_hash(full: Capture, tmp_path: Path) -> None:
    varied = of_options("protocol=msi,moesi", "l2.size=32KiB,64KiB")
    write_plan(tmp_path / "p.json", make_list([full], varied))
    content = json.loads((tmp_path / "p.json").read_text())
    assert content["captures"] == [{"name": "drawn", "form": "full", "sha256": full.sha256}]
    assert content["grid_sha256"] == of_options("l2.size=64KiB,32KiB", "protocol=moesi,msi").sha256
    assert read_plan(tmp_path / "p.json", [full], of_options("l2.size=64KiB,32KiB", "protocol=moesi,msi"))


def test_plan_of_another_grid_or_capture_is_refused(full: Capture, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    write_plan(path, make_list([full], of_options("protocol=msi,moesi")))
    with pytest.raises(UserError, match=r"the plan is of another grid .protocol = msi, moesi.; omit --vary"):
        read_plan(path, [full], of_options("protocol=msi,mesi"))
    other = open_capture(str(write_capture(tmp_path / "drawn.s80c", seed=2)))
    with pytest.raises(UserError, match=rf"is of the capture drawn .full, {full.sha256[:8]}., not of drawn .full, "):
        read_plan(path, [other], None)


def test_plan_is_refused_if_a_protocol_has_changed(full: Capture, tmp_path: Path) -> None:
    table = tmp_path / "mine.toml"
    shutil.copy("configs/protocols/msi.toml", table)
    path = tmp_path / "p.json"
    write_plan(path, make_list([full], of_options(f"protocol={table}", "latency.memory=100,200")))
    read_plan(path, [full], None)
    table.write_text(table.read_text() + "# changed\n")
    with pytest.raises(UserError, match="has another hash now, because s80-replay, a protocol or a machine file"):
        read_plan(path, [full], None)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda content: content["entries"].pop(), "the file has been changed since s80lab wrote it"),
        (lambda content: content["grid"]["vary"]["protocol"].append("mesi"), "the file has been changed since"),
        (lambda content: content.pop("captures"), "is not a plan of this version of s80lab .key `captures`."),
        (lambda content: content.update(schema_version=1), "is not a plan of this version of s80lab"),
        (lambda content: content["entries"][0].update(job="\x1b]0;evil\x07"), "the file has been changed since"),
        (lambda content: content["entries"][0].update(run="other"), "the file has been changed since"),
        (lambda content: content["entries"][0].update(capture=5), "the file has been changed since"),
    ],
)
def test_changed_plan_is_refused(full: Capture, tmp_path: Path, change: object, sentence: str) -> None:
    path = tmp_path / "p.json"
    write_plan(path, make_list([full], of_options("protocol=msi,moesi")))
    content = json.loads(path.read_text())
    assert callable(change)
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match=sentence):
        read_plan(path, [full], None)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"capture": 5}, "an entry of the plan contradicts the captures or the grid"),
        ({"capture": -7}, "an entry of the plan contradicts the captures or the grid"),
        ({"capture": 10**30}, "an entry of the plan contradicts the captures or the grid"),
        ({"capture": True}, "the file has been changed"),
        ({"run": "other"}, "an entry of the plan contradicts the captures or the grid"),
        ({"values": {"protocol": "mesi"}}, "an entry of the plan contradicts the captures or the grid"),
        ({"values": {}}, "an entry of the plan contradicts the captures or the grid"),
    ],
)
def test_changed_plan_with_fitting_hashes_is_refused(
    full: Capture, tmp_path: Path, change: dict[str, object], sentence: str
) -> None:
    path = tmp_path / "p.json"
    made = make_list([full], of_options("protocol=msi,moesi")).content
    content = made.model_dump(mode="json")
    content["entries"][0].update(change)
    content["sha256"] = value_hash({key: value for key, value in content.items() if key != "sha256"})
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match=sentence):
        load_plan(path)


def test_plan_without_entries_is_refused(full: Capture, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    content = make_list([full], of_options("protocol=msi,moesi")).content.model_dump(mode="json")
    content |= {"entries": [], "list": value_hash([])}
    content["sha256"] = value_hash({key: value for key, value in content.items() if key != "sha256"})
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match=r"is not a plan of this version of s80lab .key `entries`."):
        load_plan(path)


def test_pipe_device_and_huge_file_as_plan_are_refused_unread(tmp_path: Path) -> None:
    pipe, link, huge, numbers = (tmp_path / name for name in ("pipe", "zero", "huge", "numbers"))
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    with huge.open("wb") as file:
        file.truncate(1 << 40)
    numbers.write_text('{"entries": [' + "1," * 1_000_000 + "1]}")
    for path, reason in (
        (pipe, "is a pipe or a device"),
        (link, "is a pipe or a device"),
        (huge, "is larger than 32 MiB"),
        (numbers, "is not a plan of this version of s80lab"),
    ):
        with pytest.raises(UserError, match=f"--plan .*{path.name}: {reason}"):
            load_plan(path)


def test_list_prints_texts_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    entry = Listed("0123456789", "\x1b]0;evil\x07\nnext", False, Cost(1.0, 1))
    show_list(Part(Shard(), {entry.hash: entry}, 1, "key"), [entry], False)
    said = capsys.readouterr().out
    assert "01234567 \\x1b]0;evil\\x07\\nnext\n" in said and "\x1b" not in said


def test_last_line_states_counts_and_cost() -> None:
    assert summary(9600, 13_680, 2386, 512 << 20) == (
        "7,214 complete, 2,386 to do, about 3.8 core hours (0.5 GiB of memory per run)"
    )
    assert [core_time(seconds) for seconds in (42, 840)] == ["40 core seconds", "14 core minutes"]


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""The reader of snapshots.jsonl: sums, stretches, and one sentence for each malformed file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.results.lines import Line, change

from s80lab.base.errors import UserError
from s80lab.results.snapshots import Snapshots


def read(run_dir: Path) -> Snapshots:
    return Snapshots.read(run_dir / "snapshots.jsonl")


def test_delta_subtracts_and_sums_by_named_dimensions(run_dir: Path) -> None:
    region = read(run_dir).region()
    assert region.instructions == 9000
    assert region["miss_source"].shape == (4, 2, 6, 4, 5)
    table = region.by("miss_source", "source", "kind")
    assert table.shape == (5, 4)
    assert table.sum() == region.total("l2_misses") == 3218
    assert table[0, 1] == region.total("miss_source", kind="load", source="memory") == 1523


def test_intervals_are_the_stretches_with_instructions(run_dir: Path) -> None:
    intervals = read(run_dir).intervals()
    assert [interval.end.mark for interval in intervals] == ["sampling_interval", "sampling_interval", "measure_end"]
    assert [interval.instructions for interval in intervals] == [3000, 3000, 3000]


def test_gauge_statistic_gives_its_change(run_dir: Path) -> None:
    whole = read(run_dir).whole()
    assert whole.header.statistics["e_resident"].gauge
    before, after = whole.begin.values["e_resident"], whole.end.values["e_resident"]
    assert whole["e_resident"].tolist() == (after - before).tolist()


def refused(run_dir: Path, sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)) as caught:
        read(run_dir)
    assert str(caught.value).startswith(str(run_dir / "snapshots.jsonl"))
    assert "\n" not in str(caught.value)


def test_missing_snapshots_file_is_refused(run_dir: Path) -> None:
    (run_dir / "snapshots.jsonl").unlink()
    refused(run_dir, "snapshots.jsonl: cannot be read")


def test_snapshots_with_header_only_are_refused(run_dir: Path) -> None:
    path = run_dir / "snapshots.jsonl"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    refused(run_dir, "contains no snapshot")


def test_snapshots_truncated_within_a_line_are_refused(run_dir: Path) -> None:
    path = run_dir / "snapshots.jsonl"
    path.write_text(path.read_text()[:-500])
    refused(run_dir, "snapshots.jsonl, line 6: the line is incomplete because the run was interrupted")


def test_snapshot_line_that_is_not_json_is_refused(run_dir: Path) -> None:
    path = run_dir / "snapshots.jsonl"
    lines = path.read_text().splitlines()
    lines[2] = lines[2].replace('"values"', "values")
    path.write_text("\n".join(lines) + "\n")
    refused(run_dir, "snapshots.jsonl, line 3: is not valid JSON (")


def test_snapshots_of_unknown_schema_are_refused(run_dir: Path) -> None:
    change(run_dir, 1, lambda line: line.update(schema=3))
    refused(run_dir, "line 1: has schema 3, but this version of s80lab reads schema 2; build the plugin again")


def test_snapshot_with_undeclared_statistic_is_refused(run_dir: Path) -> None:
    def drop(line: Line) -> None:
        line["stats"] = [stat for stat in line["stats"] if stat["name"] != "upgrades"]

    change(run_dir, 1, drop)
    refused(run_dir, "line 1: does not declare the statistic `upgrades`")


def test_snapshot_with_wrong_dimensions_is_refused(run_dir: Path) -> None:
    def turn(line: Line) -> None:
        next(stat for stat in line["stats"] if stat["name"] == "fills")["dims"] = ["core", "state", "kind"]

    change(run_dir, 1, turn)
    refused(run_dir, "`fills` has the dimensions core, state, kind, but must have core, class, kind, state")


def test_snapshot_without_a_statistic_is_refused(run_dir: Path) -> None:
    change(run_dir, 4, lambda line: line["values"].pop("e_evicted"))
    refused(run_dir, "line 4: the statistic `e_evicted` is missing")


def test_snapshot_with_too_few_values_is_refused(run_dir: Path) -> None:
    change(run_dir, 4, lambda line: line["values"]["e_evicted"].pop())
    refused(run_dir, "line 4: statistic `e_evicted` has 23 values, but its dimensions need 24")


def test_snapshot_with_values_that_are_not_counts_is_refused(run_dir: Path) -> None:
    change(run_dir, 4, lambda line: line["values"].update(e_evicted=["a", 1, 2, 3]))
    refused(run_dir, "line 4: statistic `e_evicted` has values that are not 64-bit whole numbers")


def test_snapshot_without_a_key_is_refused(run_dir: Path) -> None:
    change(run_dir, 3, lambda line: line.pop("clock_ns"))
    refused(run_dir, "line 3: has no `clock_ns`")


def test_snapshot_with_unknown_mark_is_refused(run_dir: Path) -> None:
    change(run_dir, 3, lambda line: line.update(mark="pause"))
    refused(run_dir, "line 3: unknown mark `pause`, allowed are load_begin, sampling_interval")


def test_run_without_measure_end_has_no_region(run_dir: Path) -> None:
    change(run_dir, 5, lambda line: line.update(mark="sampling_interval"))
    with pytest.raises(UserError, match="no snapshot has the mark measure_end, because the run ended too early"):
        read(run_dir).region()


def test_region_restricted_to_one_label_sums_only_that_label(run_dir: Path) -> None:
    region = read(run_dir).region()
    kernel = region.only(privilege="kernel")
    assert 0 < kernel.total("l2_misses") == region.total("l2_misses", privilege="kernel")
    assert kernel.total("l2_misses", privilege="user") == 0
    assert kernel.total("busy_cycles") == region.total("busy_cycles")
    assert region.only(privilege="kernel", kind="load").total("miss_source") == region.total(
        "miss_source", privilege="kernel", kind="load"
    )

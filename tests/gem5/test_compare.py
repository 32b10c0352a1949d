# SPDX-License-Identifier: GPL-2.0-or-later
"""Sampling intervals of the same warm-up, and the refusal of others. The runs are those of the random machine of
tests/results."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.simulation import write_run

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.commands.gem5 import as_ruby
from s80lab.config.experiment import load_experiment
from s80lab.gem5.intervals import Side, compare, ends, lengths, model_side
from s80lab.gem5.runs import gem5_runs
from s80lab.protocol.proof import ensure_proven
from s80lab.report.gem5_comparison import comparison, table, write_files
from s80lab.results.database import insert_run
from s80lab.results.metrics.derive import write_stats
from s80lab.results.run_folder import RunFolder
from s80lab.results.snapshots import Snapshots

INTERVAL = 3000


@pytest.fixture
def cold(tmp_path: Path) -> Path:
    """A run that began with empty caches: the warm-up is part of it, and its counts begin with it."""
    run = write_run(tmp_path / "run", 7)
    warming, measured = tmp_path / "warm-run.jsonl", run / "snapshots.jsonl"
    header, _load_begin, *before = warming.read_text().splitlines()
    _, _measure_begin, *after = measured.read_text().splitlines()
    measured.write_text("".join(f"{line}\n" for line in (header, *before, *after)))
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {"warm_snapshots": None}))
    return run


def whole(run: Path) -> Side:
    return model_side("x", [run], [INTERVAL * number for number in range(1, 14)])


def test_cuts_at_its_own_intervals_are_its_intervals(cold: Path) -> None:
    snapshots = Snapshots.read(cold / "snapshots.jsonl")
    (intervals,) = whole(cold).intervals
    assert ends(whole(cold)) == [INTERVAL * number for number in range(1, 14)]
    for interval, own in zip(intervals[1:], snapshots.intervals(), strict=False):
        assert np.array_equal(interval["l2_misses"], own["l2_misses"])


def test_intervals_cut_at_half_length_sum_to_equal_totals(cold: Path) -> None:
    (intervals,) = whole(cold).intervals
    (halves,) = model_side("x", [cold], [INTERVAL // 2 * number for number in range(1, 27)]).intervals
    assert sum(half.total("fills") for half in halves) == sum(interval.total("fills") for interval in intervals)
    assert {half.instructions for half in halves} == {INTERVAL // 2}


def test_side_compared_with_itself_does_not_differ(cold: Path, tmp_path: Path) -> None:
    side = whole(cold)
    rows = compare(side, side, side, 3)
    assert [row.quantity.title for row in rows if row.gem5 is None or row.model is None] == []
    differences = [row.difference for row in rows if row.difference is not None]
    assert all(difference.mean == 0 and difference.n == 6 for difference in differences)
    content = comparison("x", rows, "moesi", True, "gem5 is slow.")
    write_files(tmp_path / "out", content, [side, side, side])
    text = (tmp_path / "out" / "compare.md").read_text()
    assert (
        "had not reached steady state. gem5 is slow." in " ".join(text.split())
        and "+0.00 ± 0.00" in text
        and " ! |" not in text
    )
    assert len(json.loads((tmp_path / "out" / "compare.json").read_text())["rows"]) == len(rows)


def test_large_difference_is_marked(cold: Path) -> None:
    side = whole(cold)
    values = [
        replace(
            interval,
            begin=replace(
                interval.begin, values={**interval.begin.values, "e_to_m": 0 * interval.begin.values["e_to_m"]}
            ),
            end=replace(interval.end, values={**interval.end.values, "e_to_m": 0 * interval.end.values["e_to_m"]}),
        )
        for interval in side.intervals[0]
    ]
    rows = compare(replace(side, intervals=(tuple(values),)), side, side, 0)
    label = "silent E-to-M upgrades per E fill"
    (marked,) = [row for row in table(comparison("x", rows, "moesi", False, "")).rows if row.label == label]
    assert marked.cells[3].text.startswith("-") and marked.cells[3].text.endswith("!")


@pytest.mark.parametrize(
    ("at", "warm_snapshots", "refusal"),
    [
        ([INTERVAL, 100 * INTERVAL], None, "has 39000 instructions, but gem5's runs end after 300000; record a longer"),
        ([INTERVAL], "warmup.jsonl", "began with the full caches of its checkpoint"),
    ],
)
def test_unlike_warm_up_is_refused(cold: Path, at: list[int], warm_snapshots: str | None, refusal: str) -> None:
    manifest = json.loads((cold / "manifest.json").read_text())
    (cold / "manifest.json").write_text(json.dumps(manifest | {"warm_snapshots": warm_snapshots}))
    with pytest.raises(UserError, match=refusal):
        model_side("x", [cold], at)


def test_runs_of_other_intervals_are_refused(cold: Path) -> None:
    side, other = whole(cold), model_side("x", [cold], [2 * INTERVAL, 4 * INTERVAL])
    with pytest.raises(
        UserError, match="sampling interval 1 ends after 3000 instructions in one run of gem5 and after 6000"
    ):
        ends(Side("gem5", side.intervals + other.intervals))


def test_hammer_table_with_ruby_names_is_proven(tmp_path: Path) -> None:
    table_of_ruby = as_ruby(tmp_path / "hammer-as-ruby.toml")
    own = (paths.PROTOCOLS / "hammer.toml").read_text().splitlines()
    changed = [pair for pair in zip(own, table_of_ruby.read_text().splitlines(), strict=True) if pair[0] != pair[1]]
    assert changed == [('name = "hammer"', 'name = "hammer-as-ruby"'), ('counts_as = "M"', 'counts_as = "E"')]
    ensure_proven(table_of_ruby)


def test_gem5_comparison_selects_runs_of_the_shipped_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs with --set over the machine are of other designs."""
    monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path))
    about = {"engine": "gem5", "experiment": "imapb", "machine": "m"}
    for number, size in enumerate((512, 1024, 2048), start=1):
        folder = write_run(tmp_path / "runs" / str(number), number)
        manifest = json.loads((folder / "manifest.json").read_text()) | about
        manifest |= {"run": str(number), "seed": 1, "scale": "s", "design": {"l2.size": size}}
        manifest["inputs"] = {"settle": "5", "run_lengths": "7", "other": "9"}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        write_stats(RunFolder(folder))
        insert_run(paths.database(), RunFolder(folder))
    lengths = {"settle": "5", "run_lengths": "7"}
    assert gem5_runs("imapb", "m", {"l2.size": 1024}, "s", lengths) == [tmp_path / "runs/2"]
    unlike = (
        r"contains no run of imapb on m in gem5 \(3 runs with other designs, scales or lengths left out\): make one"
    )
    for design, scale, wanted in (
        ({"l2.size": 4096}, "s", lengths),
        ({"l2.size": 1024}, "tiny", lengths),
        ({"l2.size": 1024}, "s", lengths | {"settle": "6"}),
    ):
        with pytest.raises(UserError, match=unlike):
            gem5_runs("imapb", "m", design, scale, wanted)


def test_experiment_with_unequal_warm_ups_or_loads_is_refused() -> None:
    shipped = load_experiment("imapb", {})
    assert lengths(shipped, "s80-sixteenth").measure == 300_000_000
    for key, value, refusal in (
        ("gem5.settle", 200_000_000, "warm-ups differ: gem5 executes 200000000 instructions"),
        ("gem5.think_ms", 5, "loads differ: think_ms is 5 in \\[gem5\\] but 0 in"),
    ):
        with pytest.raises(UserError, match=refusal):
            lengths(load_experiment("imapb", {key: value}), "s80-sixteenth")
    with pytest.raises(UserError, match="runs on machine classroom: add this table"):
        lengths(shipped, "classroom")

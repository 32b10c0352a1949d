# SPDX-License-Identifier: GPL-2.0-or-later
"""Derived metrics: golden numbers of one made run, formulas on tiny numbers, bytes of stats.json. Metrics of the
sessions alone, and of the probes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.results.lines import change
from tests.simulation import write_run

from s80lab.base.errors import UserError
from s80lab.results.metrics.derive import REGISTRY, find_metric, render, stats, warm_up, write_stats
from s80lab.results.metrics.registry import flatten, markdown
from s80lab.results.run_folder import RunFolder
from s80lab.results.snapshots import Snapshots


@pytest.fixture
def metrics(run_dir: Path) -> dict[str, Any]:
    content = json.loads((run_dir / "stats.json").read_text())
    return dict(content["metrics"])


# Of the random machine with seed 1.
GOLDEN = {
    "l2_mpki.user": 358.424934,
    "l2_mpki.kernel": 354.109211,
    "l2_mpki.all": 357.555556,
    "l1_mpki.store": 144.444444,
    "l1_miss_rate.store": 0.924608819,
    "l2_miss_rate.all": 0.586370262,
    "miss_source.ifetch.S": 0.315638451,
    "miss_source.load.memory": 0.941867656,
    "miss_source.store.M": 0.0197775031,
    "e_share": 0.605966439,
    "e_to_m_share": 0.163076923,
    "e_fate.e_evicted": 0.736275013,
    "stores_found_e_share": 0.231947484,
    "upgrade_pki.saved": 35.3333333,
    "cpi.all": 34.6144444,
    "cpi.cache": 3.91222222,
    "l2_stall.walk": 0.0300829876,
    "kernel_share.cycles": 0.199797772,
    "loadgen_share.machine": 0.017565563,
    "instruction_group.loads_and_stores": 0.435555556,
    "utilisation": 0.862171078,
    "throughput": 896682.276,
    "payload_mbit.sent": 1076.01873,  # throughput x 150 bytes
    "payload_mbit.received": 14346.9164,
    "payload_mbit.all": 15422.9351,
    "executed_mix.VIEW": 0.277777778,
}


@pytest.mark.parametrize("name", GOLDEN)
def test_metric_equals_its_golden_number(metrics: dict[str, Any], name: str) -> None:
    assert metrics[name] == pytest.approx(GOLDEN[name], rel=1e-6)


def test_parts_sum_to_their_whole(metrics: dict[str, Any]) -> None:
    for name in ("miss_source.all", "miss_source_at.kernel.load", "fill_state", "e_fate", "instruction_mix"):
        parts = [value for key, value in metrics.items() if key.rpartition(".")[0] == name]
        assert sum(parts) == pytest.approx(1)
    parts = [metrics[f"cpi.{part}"] for part in ("base", "l2", "memory", "cache", "upgrade")]
    assert sum(parts) == pytest.approx(metrics["cpi.all"])


def test_operational_laws_hold_for_the_generated_load(metrics: dict[str, Any]) -> None:
    assert metrics["interactive_law"] == pytest.approx(1)
    assert metrics["utilisation_law"] == pytest.approx(1)
    shares = [metrics[f"busy_share.{core:02d}"] for core in range(4)]
    assert metrics["utilisation"] == pytest.approx(sum(shares) / 4)
    assert metrics["busy_cores"] == sum(share > 0.5 for share in shares)


def test_metric_values_and_declarations_match(metrics: dict[str, Any]) -> None:
    """Except metrics of disks, scripts, mail transports, streams, fast machines, last-level caches and group caches,
    which this run does not have."""
    load = ("disk_", "iowait_", "command_", "request_", "queued_", "mail_", "stream_", "guest_clock_speed")
    others = (*load, "recalls_", "after_recall_", "llc_", "group_")
    there = {name for name in REGISTRY if not name.startswith(others)}
    assert {find_metric(name).name for name in metrics} == there


def test_metrics_page_holds_the_registry() -> None:
    assert all(markdown().count(f"| `{name}` |") == 1 for name in REGISTRY)
    docs = Path(__file__).resolve().parents[3] / "docs" / "reference" / "metrics.md"
    assert docs.read_text().endswith(markdown())


def test_guest_counters_become_rates_over_the_region(metrics: dict[str, Any], run_dir: Path) -> None:
    region = json.loads((run_dir / "stats.json").read_text())["region"]
    seconds = region["clock_ns"] / 1e9
    assert region["guest"]["interrupt.timer"] == 90  # of 9,000 instructions
    assert metrics["tick_hz"] == pytest.approx(90 / 4 / seconds)
    assert metrics["guest_rate.softirq.timer"] == pytest.approx(45 / seconds)
    assert metrics["guest_per_transaction.context_switches"] == pytest.approx(180 / 180)
    assert metrics["guest_per_transaction.migrations"] == pytest.approx((9 + 3) / 180)
    assert metrics["guest_time_share.imap"] == pytest.approx(6000 / (6000 + 3000 + 4 * 90))
    assert "guest_time_share.auth" not in metrics  # it did nothing
    assert metrics["run_queue"] == pytest.approx(4500 / (4 * region["clock_ns"]))
    assert "guest_clock_speed" not in metrics  # the guest's clock shows simulated time


def test_guest_clock_speed_is_listed_if_an_instruction_is_shorter_than_a_nanosecond(
    metrics: dict[str, Any], run_dir: Path
) -> None:
    path = run_dir / "snapshots.jsonl"
    header, *lines = path.read_text().splitlines(keepends=True)
    path.write_text(json.dumps(json.loads(header) | {"base_cpi": 0.2}) + "\n" + "".join(lines))
    faster = write_stats(RunFolder(run_dir))["metrics"]
    assert faster["guest_clock_speed"] == 4  # 0.2 cycles at 450 MHz are 0.44 ns
    assert faster["run_queue"] == pytest.approx(metrics["run_queue"] / 4)


def test_snapshots_without_the_guests_counters_have_none_of_their_metrics(run_dir: Path) -> None:
    path = run_dir / "snapshots.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({k: v for k, v in line.items() if k != "guest"}) + "\n" for line in lines))
    metrics = write_stats(RunFolder(run_dir))["metrics"]
    for name in ("tick_hz", "guest_rate", "guest_per_transaction", "guest_time_share", "run_queue"):
        assert metrics[name] is None


def test_flatten_joins_labels_with_dots() -> None:
    assert flatten("m", {"a": {"b": 1}, "c": None}) == {"m.a.b": 1, "m.c": None}


def test_metric_with_zero_denominator_is_null(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    path = run / "snapshots.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines[1:]:
        line["values"] = lines[1]["values"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert write_stats(RunFolder(run))["metrics"]["e_to_m_share"] is None


def test_stats_json_has_the_same_bytes_each_time_and_names_no_host(run_dir: Path, tmp_path: Path) -> None:
    first = (run_dir / "stats.json").read_bytes()
    elsewhere = Path(shutil.copytree(run_dir.parent, tmp_path / "elsewhere")) / run_dir.name
    write_stats(RunFolder(elsewhere))
    assert (elsewhere / "stats.json").read_bytes() == first
    assert str(tmp_path).encode() not in first
    assert not any(key in json.loads(first) for key in ("wall_s", "mips", "created"))


def test_stats_of_different_seeds_differ(runs: Path) -> None:
    assert (runs / "imapb-1/stats.json").read_bytes() != (runs / "imapb-2/stats.json").read_bytes()


def test_stats_of_incomplete_run_are_refused(run_dir: Path) -> None:
    path = run_dir / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "status": "interrupted"}))
    with pytest.raises(
        UserError, match=r"the run is incomplete \(status `interrupted` instead of `whole`\); repeat the run"
    ):
        write_stats(RunFolder(run_dir))


def test_render_rounds_to_nine_digits_and_sorts() -> None:
    assert render({"b": [1, 2], "a": 0.1 + 0.2}) == '{\n "a": 0.3,\n "b": [ 1, 2 ]\n}\n'


def test_warm_up_intervals_precede_the_measured_intervals(run_dir: Path) -> None:
    content = json.loads((run_dir / "stats.json").read_text())
    assert [entry["phase"] for entry in content["sampling_intervals"]] == ["warm-up"] * 10 + ["measured"] * 3
    assert [entry["end_instructions"] for entry in content["sampling_intervals"]][::6] == [3000, 21000, 39000]
    warm = warm_up(run_dir.parent / f"warm-{run_dir.name}.jsonl")
    assert content["warmup"]["verdict"] == warm.verdict
    assert content["warmup"]["instructions"] == warm.instructions == 30_000


def session_metrics(run_dir: Path, label: str) -> dict[str, float]:
    """Of the run whose first class is called `label`."""
    change(run_dir, 1, lambda line: line["dims"]["class"].__setitem__(0, label))
    load = json.loads((run_dir / "transactions.json").read_text())
    found: dict[str, float] = stats(Snapshots.read(run_dir / "snapshots.jsonl"), load, {}, None)["metrics"]
    return found


def test_counts_are_of_the_class_alone(run_dir: Path) -> None:
    found = session_metrics(run_dir, "session")
    region = Snapshots.read(run_dir / "snapshots.jsonl").region()
    of_class = {"class": "session"}
    misses = region.total("miss_source", **of_class)
    from_m = region.total("miss_source", **of_class, kind="store", source="M")
    assert 0 < misses < region.total("miss_source")
    assert found["session.store_from_m_share.all"] == pytest.approx(from_m / misses)
    stalls = {
        kind: sum(region.total("stall_cycles", **of_class, kind=kind, service=by) for by in ("memory", "cache"))
        for kind in ("ifetch", "load", "store", "walk")
    }
    assert found["session.l2_stall.walk"] == pytest.approx(stalls["walk"] / sum(stalls.values()))
    assert found["session.store_to_load_stall"] == pytest.approx(stalls["store"] / stalls["load"])
    assert found["session.store_to_load_stall"] != found["store_to_load_stall"]


def test_session_metrics_without_process_classes_are_null(run_dir: Path) -> None:
    assert session_metrics(run_dir, "servers")["session"] is None


def probe_metrics(run_dir: Path, load: dict[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = stats(Snapshots.read(run_dir / "snapshots.jsonl"), load, {}, None)["metrics"]
    return found


def test_work_is_set_against_processor_time(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    one = next(iter(load["transactions"].values()))
    types = {name: one | {"count": count} for name, count in (("COPY", 3), ("PASS", 4), ("KEEP", 5))}
    found = probe_metrics(run_dir, load | {"batch": 1000, "transactions": types})
    seconds = found["class_processors.session"] * Snapshots.read(run_dir / "snapshots.jsonl").region().clock_ns / 1e9
    assert found["copy_mb"] * seconds == pytest.approx(3 * 1000 * 4 / 1e6)
    assert found["token_ns"] * 9 * 1000 == pytest.approx(seconds * 1e9)


def test_miss_ratios_are_of_the_sessions_own_accesses(run_dir: Path) -> None:
    region = Snapshots.read(run_dir / "snapshots.jsonl").region()
    own = {"class": "session", "privilege": "user"}
    accesses = sum(region.total("accesses", kind=kind, **own) for kind in ("load", "store"))
    found = probe_metrics(run_dir, None)
    for level in ("l1", "l2"):
        missed = sum(region.total(f"{level}_misses", kind=kind, **own) for kind in ("load", "store"))
        assert 0 < missed <= accesses
        assert found[f"data_miss_ratio.{level}"] == pytest.approx(missed / accesses)


def test_probe_metrics_are_absent_for_other_loads_and_replays(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    for result in (load, None):
        found = probe_metrics(run_dir, result)
        assert found["copy_mb"] is found["token_ns"] is None

# SPDX-License-Identifier: GPL-2.0-or-later
"""One replay from the command line: a whole folder and its rows, or one sentence and nothing. What a replay is compared
with: the snapshots of the live run, less what captures lack."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.base.test_staging import flip_last_byte
from tests.capture.conftest import damaged
from tests.lab import Lab

from s80lab.analysis.groups import read_run
from s80lab.capture.design import resolve_design
from s80lab.capture.live import up_to_the_end
from s80lab.capture.replay import replay
from s80lab.capture.store import Capture
from s80lab.results.query import select
from s80lab.results.run_folder import RunFolder
from s80lab.results.snapshots import Snapshots


def ask(lab: Lab, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in select(lab.results / "s80lab.sqlite", sql)[1]]


@pytest.fixture(scope="module")
def replayed(drawn_file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, Path, str]:
    """The drawn capture on another design, and what was said."""
    root = tmp_path_factory.mktemp("replayed")
    lab = Lab(root / "checkpoints", root / "results")
    said = lab.call("replay", str(drawn_file), "--protocol", "mesi", "--set", "l2.size=32KiB")
    (folder,) = lab.runs()
    return lab, folder, said


def test_capture_in_the_format_of_an_older_version_is_refused(drawn_file: Path, tmp_path: Path) -> None:
    content = bytearray(drawn_file.read_bytes())
    content[8] = 3
    old = tmp_path / "old.s80c"
    old.write_bytes(content)
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    assert lab.call("replay", str(old), code=2) == (
        f"s80lab: the capture {old} has version 3 of the format, and this program reads version 4: record the capture "
        "again\n"
    )
    assert lab.runs() == []


def test_replay_folder_is_a_whole_run(replayed: tuple[Lab, Path, str]) -> None:
    _, folder, _ = replayed
    names = {path.name for path in folder.iterdir()}
    assert {"manifest.json", "stats.json", "snapshots.jsonl", "report.html", "machine.toml", "protocol.toml"} <= names
    assert not {"transactions.json", "snapshots.jsonl.partial"} & names
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["engine"], manifest["status"], manifest["protocol"]) == ("replay", "whole", "mesi")
    assert manifest["varied"] == {"protocol": "mesi", "l2.size": "32KiB"}
    assert manifest["instructions"] == manifest["accesses"] == 100_000
    assert "sources_sum_to_misses" in manifest["conservation_checks"]


def test_replay_rows_have_capture_design_and_traffic(replayed: tuple[Lab, Path, str]) -> None:
    lab, folder, _ = replayed
    sql = "SELECT id, engine, experiment, seed, capture, form, clients, think_ms FROM run"
    assert ask(lab, sql) == [(folder.name, "replay", "drawn", 7, "drawn", "full", None, None)]
    assert ask(lab, "SELECT value FROM design WHERE key = 'l2.size'") == [(32768,)]
    assert ask(lab, "SELECT protocol, l2_size, l2_inclusion, threads_per_core FROM v_design_all") == [
        ("mesi", 32768, "inclusive", 1)
    ]
    metrics = json.loads((folder / "stats.json").read_text())["metrics"]
    ((mpki, traffic),) = ask(lab, "SELECT l2_mpki, traffic_pki FROM v_design_all")
    assert (mpki, traffic) == (metrics["l2_mpki.all"], metrics["traffic_pki.all"])
    ((fills, writebacks, upgrades, pki),) = ask(
        lab, "SELECT fills, writebacks, upgrades, traffic_pki FROM v_traffic_all"
    )
    assert min(fills, writebacks, upgrades) > 0
    assert pki == pytest.approx((fills + writebacks + upgrades) / 100) == pytest.approx(traffic)


def test_replay_report_omits_response_times_and_throughput(replayed: tuple[Lab, Path, str]) -> None:
    lab, folder, said = replayed
    metrics = json.loads((folder / "stats.json").read_text())["metrics"]
    laws = ("interactive_law", "little_law", "utilisation_law")
    for name in ("throughput", "response_ms", "think_ms", *laws, "executed_mix"):
        assert metrics[name] is None
    assert ask(lab, "SELECT count(*) FROM latency") == [(0,)]
    page = " ".join((folder / "report.html").read_text().split())
    assert "the report has no response times, no throughput and no checks of the operational laws" in page
    assert "response" not in said.partition("Headline")[2]
    assert "Response times" not in page
    assert not (folder / "figures" / "latency.svg").exists()


def test_second_replay_call_reuses_the_existing_replay(replayed: tuple[Lab, Path, str], drawn_file: Path) -> None:
    lab, folder, _ = replayed
    before = folder.stat().st_mtime_ns
    assert "1 of them replayed already" in lab.call(
        "replay", str(drawn_file), "--protocol", "mesi", "--set", "l2.size=32KiB"
    )
    assert (folder.stat().st_mtime_ns, lab.runs()) == (before, [folder])


def test_replay_is_not_a_run_of_its_experiment(replayed: tuple[Lab, Path, str]) -> None:
    lab, folder, _ = replayed
    assert folder.name in lab.call("list")
    assert "contains no run of imapb with the design in the experiment's file" in lab.call("report", "imapb", code=2)


def refused(lab: Lab, *arguments: str) -> str:
    """The one sentence; nothing is left behind."""
    said = lab.call("replay", *arguments, code=2)
    assert "Traceback" not in said
    assert (lab.runs(), lab.partial()) == ([], [])
    return " ".join(said.split())


def test_corrupt_capture_is_refused_with_byte_offset(place: Lab, drawn_file: Path, tmp_path: Path) -> None:
    broken = damaged(drawn_file, tmp_path / "broken.s80c")
    assert "broken.s80c is corrupt: the checksum of a block does not match (byte " in refused(place, str(broken))


def test_truncated_capture_is_refused(place: Lab, drawn_file: Path, tmp_path: Path) -> None:
    short = damaged(drawn_file, tmp_path / "short.s80c", cut=100)
    assert "short.s80c is truncated" in refused(place, str(short))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missing.s80c"], "there is no capture file missing.s80c"),
        (["imapb"], "there is no capture in "),
        (["DRAWN", "--protocol", "missing.toml"], "there is no protocol file missing.toml"),
        (["DRAWN", "--set", "l2.size"], "--set l2.size: write KEY=VALUE"),
        (["DRAWN", "--set", "l2.ways=3"], "l2.size = 65536 bytes in 3 ways"),
    ],
)
def test_invalid_replay_arguments_are_refused(
    place: Lab, drawn_file: Path, arguments: list[str], sentence: str
) -> None:
    assert sentence in refused(place, *(str(drawn_file) if word == "DRAWN" else word for word in arguments))


def test_queues_keep_the_law_of_utilisation(drawn_file: Path, tmp_path: Path) -> None:
    """Busy is requests times service; a request is a miss, an upgrade, or a block written back."""
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    for settings in (["latency.memory=110"], ["bandwidth.bus=12", "bandwidth.memory=90", "bandwidth.banks=2"]):
        lab.call("replay", str(drawn_file), *(word for setting in settings for word in ("--set", setting)))
    runs = {"bandwidth.bus" in json.loads((run / "manifest.json").read_text())["design"]: run for run in lab.runs()}
    metrics = {queues: json.loads((run / "stats.json").read_text())["metrics"] for queues, run in runs.items()}
    assert metrics[False]["queue_utilisation.bus"] is metrics[False]["queue_wait.memory"] is None
    region = Snapshots.read(runs[True] / "snapshots.jsonl").region()
    misses, upgrades, writebacks = (region.total(name) for name in ("l2_misses", "upgrades", "l2_writebacks"))
    cycles = region.clock_ns * region.header.clock_hz / 1e9
    at_memory = region.total("miss_source", source="memory") + writebacks
    measured = metrics[True]
    assert measured["queue_utilisation.bus"] == pytest.approx((misses + upgrades + writebacks) * 12 / cycles, rel=0.01)
    assert measured["queue_utilisation.memory"] == pytest.approx(at_memory * 90 / (2 * cycles), rel=0.01)
    assert 0.3 < measured["queue_utilisation.memory"] <= 1 < measured["queue_wait.memory"]
    assert measured["cpi.memory"] > metrics[False]["cpi.memory"]


def test_throughput_ends_at_the_stated_bandwidth(drawn_file: Path, tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    lab.call("replay", str(drawn_file), "--set", "bandwidth.memory=2000")
    (folder,) = lab.runs()
    region = Snapshots.read(folder / "snapshots.jsonl").region()
    at_memory = region.total("miss_source", source="memory") + region.total("l2_writebacks")
    cycles = region.clock_ns * region.header.clock_hz / 1e9
    assert at_memory / cycles == pytest.approx(1 / 2000, rel=0.05)


@pytest.mark.parametrize("name", ["stats.json", "snapshots.jsonl", "machine.toml", "protocol.toml"])
def test_damaged_replay_is_replayed_again_with_a_sentence(drawn_file: Path, place: Lab, name: str) -> None:
    place.call("replay", str(drawn_file))
    (folder,) = place.runs()
    whole = (folder / name).read_bytes()
    flip_last_byte(folder / name)
    said = place.call("replay", str(drawn_file))
    assert f"{folder.name} is replayed again: " in said
    assert f"{folder.name}/{name}: the file differs from the file that s80lab wrote" in said
    assert (folder / name).read_bytes() == whole
    assert "again" not in place.call("replay", str(drawn_file))


def test_replay_prints_a_summary_or_one_section_or_all_tables(place: Lab, drawn_file: Path) -> None:
    summary = place.call("replay", str(drawn_file))
    assert "Headline" in summary and "--all prints them here" in summary
    assert "Fills of the L2 caches" not in summary
    section = place.call("replay", str(drawn_file), "--section", "fills")
    assert "Fills of the L2 caches" in section and "Headline" not in section
    assert "Kernel entry causes" in place.call("replay", str(drawn_file), "--all")


def test_replay_refuses_an_unknown_section_before_it_replays(place: Lab, drawn_file: Path) -> None:
    said = place.call("replay", str(drawn_file), "--section", "fils", code=2)
    assert "--section fils: the report has no such section: did you mean fills?" in said
    said = place.call("replay", str(drawn_file), "--section", "fills", "--all", code=2)
    assert "--all and --section exclude each other" in said
    assert place.runs() == []


def test_counters_of_the_guest_and_of_the_clients_are_left_out(tmp_path: Path) -> None:
    header = {"schema": 1}
    interval = {"mark": "sampling_interval", "values": {"l2_misses": [1]}}
    end = {"mark": "measure_end", "values": {"l2_misses": [2]}}
    live = [header, interval | {"guest": {"ticks": 3}, "clients_finished": 2}, end | {"clients_finished": 2}]
    path = tmp_path / "snapshots.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*live, {"mark": "exit", "values": {}}]))
    assert up_to_the_end(path) == [header, interval, end]


def test_stall_cycles_of_l2_misses_contain_those_for_the_last_level_cache(inside: Lab, full: Capture) -> None:
    design = resolve_design(full, None, "mesi-llc", {"llc.size": "96KiB", "llc.ways": 6, "latency.llc": 40})
    run = RunFolder(asyncio.run(replay(full, design, lambda done, total: None)))
    region = run.snapshots.region()
    stalls = {
        kind: sum(region.total("stall_cycles", kind=kind, service=one) for one in ("memory", "llc", "cache"))
        for kind in region.header.labels["kind"]
    }
    assert region.total("stall_cycles", kind="store", service="llc") > 0
    assert read_run(run).metrics["l2_stall.store"] == pytest.approx(stalls["store"] / sum(stalls.values()))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Every conservation check holds for a consistent run, and breaking one number fails it by its name."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.capture.conftest import write_capture
from tests.lab import Lab
from tests.results.lines import Line, change_from

from s80lab.results.conservation import CONSERVATION_CHECKS, ConservationError, check_run, check_snapshots
from s80lab.results.run_folder import RunFolder

CHECKED = [
    "counters_only_grow",
    "sources_sum_to_misses",
    "fills_sum_to_misses",
    "fate_of_e",
    "classes_sum_to_instructions",
    "cores_sum_to_instructions",
    "l1_misses_within_accesses",
    "l2_misses_within_accesses",
    "stores_found_e_went_to_m",
    "entries_sum_to_instructions",
    "entries_sum_to_miss_source",
    "entries_sum_to_upgrades",
    "entries_sum_to_stall_cycles",
    "cycles_sum_to_busy",
    "busy_within_time",
    "transactions_match_markers",
]

LAST_INTERVAL = 5  # the line of measure_end; every later line is changed with it


def bump(statistic: str, at: int = 0, by: int = 1) -> Callable[[Line], None]:
    def edit(line: Line) -> None:
        line["values"][statistic][at] += by

    return edit


def together(*edits: Callable[[Line], None]) -> Callable[[Line], None]:
    def edit(line: Line) -> None:
        for one in edits:
            one(line)

    return edit


def count_instruction(line: Line) -> None:
    line["instructions"] += 1


def test_consistent_run_passes_all_conservation_checks(run_dir: Path) -> None:
    assert check_run(RunFolder(run_dir)) == CHECKED
    assert {check.name for check in CONSERVATION_CHECKS if check.engine != "gem5"} < set(CHECKED)


# One number each, the smallest possible difference.
BREAKING = {
    "sources_sum_to_misses": bump("miss_source", 3),
    "fills_sum_to_misses": bump("fills", 0),
    "fate_of_e": bump("e_evicted", 2),
    "classes_sum_to_instructions": bump("instruction_class", 5),
    "cores_sum_to_instructions": count_instruction,
    "l1_misses_within_accesses": bump("l1_misses", 7, by=10_000),
    "l2_misses_within_accesses": together(
        bump("l2_misses", 0, by=10_000), bump("miss_source", 0, by=10_000), bump("fills", 0, by=10_000)
    ),
    "stores_found_e_went_to_m": bump("stores_found_e", 0),
    "cycles_sum_to_busy": bump("busy_cycles", 3),
    "busy_within_time": together(
        bump("busy_cycles", 0, by=10**9), bump("stall_cycles", 0, by=10**9), bump("entry_stall_cycles", 0, by=10**9)
    ),
    "entries_sum_to_instructions": bump("entry_instructions", 1),
    "entries_sum_to_miss_source": bump("entry_miss_source", 1),
    "entries_sum_to_upgrades": bump("entry_upgrades", 1),
    "entries_sum_to_stall_cycles": bump("entry_stall_cycles", 1),
    "counters_only_grow": bump("interventions", 1, by=-100_000),
}


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The snapshots of a replay on a machine with group caches, a last-level cache and a directory. Not to be written
    to."""
    folder = tmp_path_factory.mktemp("replayed")
    lab = Lab(folder / "checkpoints", folder / "results")
    sets = (
        *("group.cores=2", "group.size=4KiB", "group.ways=4", "latency.group=20"),
        *("llc.size=48KiB", "llc.ways=12", "llc.slices=4", "latency.llc=40"),
        *("directory.entries=256", "directory.ways=8"),
    )
    words = [word for setting in sets for word in ("--set", setting)]
    lab.call("replay", str(write_capture(folder / "drawn.s80c")), "--protocol", "mesif-snoop-filter", *words)
    (run,) = lab.runs()
    return run


END_OF_REPLAY = 4  # the line of measure_end
# The same for machines with a home of their own or group caches.
BREAKING_HOME = {
    "after_recall_within_recalled": bump("misses_after_recall", 0, by=10_000),
    "recalled_within_invalidations": bump("l2_invalidations", 0, by=-10_000),
    "group_misses_are_hits": bump("group_blocks", 6, by=-1),
    "group_left_after_it_entered": bump("group_blocks", 12, by=10_000),
}


@pytest.mark.parametrize("name", BREAKING_HOME)
def test_wrong_count_of_home_or_group_fails_its_check(replayed: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(replayed, run := tmp_path / "run")
    assert name in check_snapshots(RunFolder(run).snapshots)
    change_from(run, END_OF_REPLAY, BREAKING_HOME[name])
    with pytest.raises(ConservationError) as caught:
        check_snapshots(RunFolder(run).snapshots)
    assert caught.value.name == name


@pytest.mark.parametrize("name", BREAKING)
def test_wrong_count_fails_the_conservation_check_of_that_name(run_dir: Path, name: str) -> None:
    change_from(run_dir, LAST_INTERVAL, BREAKING[name])
    with pytest.raises(ConservationError) as caught:
        check_run(RunFolder(run_dir))
    assert caught.value.name == name
    assert f"conservation check {name} failed over the whole run" in str(caught.value)


def test_conservation_error_names_place_and_both_counts(run_dir: Path) -> None:
    change_from(run_dir, LAST_INTERVAL, bump("e_evicted", 2, by=7))
    place = r"fate_of_e .* \(core 0, class loadgen\): the counts are (\d+) and (\d+), but"
    with pytest.raises(ConservationError, match=place) as caught:
        check_run(RunFolder(run_dir))
    left, right = re.findall(r"the counts are (\d+) and (\d+), but", str(caught.value))[0]
    assert int(right) - int(left) == 7


def test_two_intervals_that_cancel_out_are_found(run_dir: Path) -> None:
    """Wrong in the middle, right at both ends: only the intervals show it."""
    path = run_dir / "snapshots.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[3]["values"]["e_evicted"][0] += 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ConservationError, match="fate_of_e failed over sampling interval 1"):
        check_run(RunFolder(run_dir))


def set_views(run_dir: Path, difference: int) -> None:
    path = run_dir / "transactions.json"
    load = json.loads(path.read_text())
    load["transactions"]["VIEW"]["count"] += difference
    path.write_text(json.dumps(load))


@pytest.mark.parametrize("difference", [40, -40])
def test_transaction_counts_may_differ_by_one_per_client(run_dir: Path, difference: int) -> None:
    set_views(run_dir, difference)
    check_run(RunFolder(run_dir))


@pytest.mark.parametrize("difference", [41, -41])
def test_transaction_counts_that_differ_by_more_than_one_per_client_are_refused(run_dir: Path, difference: int) -> None:
    set_views(run_dir, difference)
    with pytest.raises(
        ConservationError, match=r"transactions_match_markers .* \(VIEW, good\): the counts are \d+ and \d+"
    ):
        check_run(RunFolder(run_dir))

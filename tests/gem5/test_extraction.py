# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's own statistics in the laboratory's schema: recorded output (record.py) of gem5 24.0.0.1.

boot-one-processor: the first six million instructions of the kernel under Timing and Ruby on s80-sixteenth, from empty
caches, one of 18 processors up; three intervals. boot-single-core: two million on a machine of one. mail-restored:
below.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gem5.recorded import recording

from s80lab.base.errors import UserError
from s80lab.config.experiment import load_experiment
from s80lab.config.machine import load_machine
from s80lab.gem5.snapshots import write_snapshots
from s80lab.gem5.stats import read_dumps
from s80lab.results.conservation import check_snapshots
from s80lab.results.metrics.derive import compute
from s80lab.results.reference import unpacked
from s80lab.results.run_folder import renewed
from s80lab.results.snapshots import Snapshots

CACHES = "board.cache_hierarchy.ruby_system.L1Cache_Controller"
MACHINE = load_machine("s80-sixteenth", {"l2.inclusion": "exclusive"})


def recorded(name: str, folder: Path) -> Path:
    """The folder with a recorded run's statistics and facts in it."""
    return Path(shutil.copytree(recording("runs") / name, folder, dirs_exist_ok=True))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """gem5's output folder, as a run leaves it."""
    return recorded("boot-one-processor", tmp_path)


def extracted(out: Path, warm_up: int = 0) -> Snapshots:
    write_snapshots(out, MACHINE, warm_up, out / "snapshots.jsonl")
    return Snapshots.read(out / "snapshots.jsonl")


def test_extracted_counts_equal_the_recorded_gem5_statistics(out: Path) -> None:
    snapshots = extracted(out)
    first, second, third = snapshots.intervals()
    assert [interval.instructions for interval in (first, second, third)] == [2000064, 2000429, 2000381]
    assert first.clock_ns == 52095000
    assert {name: first.total(name) for name in ("l1_misses", "l2_misses", "l2_writebacks", "e_to_m")} == {
        "l1_misses": 51751,
        "l2_misses": 46761,
        "l2_writebacks": 42578,
        "e_to_m": 790,
    }
    assert first.total("miss_source", source="memory") == 46761
    assert first.by("l2_misses", "core").tolist() == [46761] + [0] * 17
    assert (second.total("l1_misses"), second.total("l2_misses")) == (4479, 0)
    # An L2 hit takes 8 cycles longer than one in the L1, as the machine file says.
    assert second.total("stall_cycles", service="l2") == 8 * 4479 == second.total("stall_cycles")
    assert snapshots.header.engine == "gem5"


def test_calls_that_the_script_counted_are_the_guests_counters(out: Path) -> None:
    """Of the last two intervals, which are the region."""
    facts = renewed(json.loads((out / "facts.json").read_text()))
    for interval, ticks in zip(facts["sampling_intervals"], (100, 20, 3), strict=True):
        interval["calls"] = {"interrupt.timer": ticks, "context_switches": 0}
    (out / "facts.json").write_text(json.dumps(facts))
    snapshots = extracted(out, warm_up=1_000_000)
    region = snapshots.region()
    assert region.guest == {"interrupt.timer": 23, "context_switches": 0}
    assert compute(snapshots, None)["tick_hz"] == pytest.approx(23 / (18 * region.clock_ns / 1e9))


def test_transactions_are_those_that_the_script_saw_end(out: Path) -> None:
    """By work item; one of 16 more than its type failed."""
    facts = renewed(json.loads((out / "facts.json").read_text()))
    for interval, ended in zip(facts["sampling_intervals"], ({"7": 2}, {"7": 1, "8": 3}, {"23": 1}), strict=True):
        interval["transactions"] = ended
    (out / "facts.json").write_text(json.dumps(facts))
    whole = extracted(out).whole()
    assert whole.total("transactions", transaction="VIEW", outcome="good") == 3
    assert whole.total("transactions", transaction="VIEW", outcome="failed") == 1
    assert whole.total("transactions", transaction="SEND") == 3 and whole.total("transactions") == 7


def test_conservation_checks_hold_for_gem5_counts(out: Path) -> None:
    names = check_snapshots(extracted(out))
    assert {"sources_sum_to_misses", "fills_sum_to_misses", "e_left_after_it_entered", "stalls_within_busy"} < set(
        names
    )


def test_extraction_of_single_processor_machine_has_all_counts(tmp_path: Path) -> None:
    """gem5 gives the only one no number, and its counts no columns."""
    recorded("boot-single-core", tmp_path)
    machine = load_machine("s80-sixteenth", {"l2.inclusion": "exclusive", "processors.count": 1})
    write_snapshots(tmp_path, machine, 0, tmp_path / "snapshots.jsonl")
    snapshots = Snapshots.read(tmp_path / "snapshots.jsonl")
    check_snapshots(snapshots)
    first, second = snapshots.intervals()
    assert (first.instructions, second.instructions) == (1000250, 1000634)
    # Nobody shares: all misses are memory's, all reads come alone.
    whole = snapshots.whole()
    assert whole.total("miss_source", source="memory") == whole.total("l2_misses") > 20000
    assert whole.total("fills", state="S") == whole.total("upgrades") == 0


def test_extraction_with_probe_filter_counts_invalidations(tmp_path: Path) -> None:
    """Six million instructions of the mix from empty caches with a filter for 1 MiB, a ninth of what the L2s hold."""
    recorded("probe-filter", tmp_path)
    snapshots = extracted(tmp_path, warm_up=2_000_000)
    check_snapshots(snapshots)
    whole = snapshots.whole()
    taken = sum(
        sum(values)
        for dump in read_dumps(tmp_path / "stats.txt")
        for values in dump.matching(f"({CACHES.replace('.', '[.]')}[.](?:S|O|M|MM)[.]Invalidate)").values()
    )
    assert whole.total("l2_invalidations") >= taken > 0.5 * whole.total("fills")
    # A block whose entry goes leaves the caches, so more of the misses come from memory than without.
    assert whole.total("miss_source", source="memory") > 0.5 * whole.total("l2_misses")


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    """The mix under way, restored under Timing and Ruby: four clients, three million instructions from empty caches."""
    return recorded("mail-restored", tmp_path)


def test_extraction_of_restored_mail_server_on_18_processors_has_known_counts(mail: Path) -> None:
    snapshots = extracted(mail, warm_up=1_000_000)
    check_snapshots(snapshots)
    whole = snapshots.whole()
    reads = whole.by("miss_source", "kind", "source")[whole.header.labels["kind"].index("read")]
    assert reads.tolist() == [18587 + 5078, 1003 + 19, 12959 + 147 + 1 + 41, 5670 + 15, 0]
    assert whole.total("l2_misses") - whole.total("l2_misses", kind="store") == reads.sum() == 43520
    # Of 262 stores that held S none more than 25 can have had its data from memory: so often did the directory know of
    # copies without an owner. The other 237 were sent theirs by owners in O, who answered 249 stores.
    stores = whole.by("miss_source", "kind", "source")[whole.header.labels["kind"].index("store")]
    assert whole.total("l2_misses", kind="store") == stores.sum()
    assert stores.tolist() == [6363, 437, 11, 58, 0]
    assert whole.instructions == 3001087


def with_stores_that_lost(dump: str) -> str:
    """As many stores in O as it has in S, whose blocks a probe filter takes back meanwhile: memory sends them after
    all."""
    stores, memory = f"{CACHES}.S.Store ", f"{CACHES.replace('L1Cache', 'Directory')}.E.GETX "
    (asked,) = (line for line in dump.splitlines() if line.startswith(stores))
    (answered,) = (line for line in dump.splitlines() if line.startswith(memory))
    lost = sum(int(word) for word in asked.split()[2::2])
    return dump.replace(answered, f"{memory}{int(answered.split()[1]) + lost}").replace(
        asked, f"{asked}\n{asked.replace(stores, f'{CACHES}.OM.Invalidate ')}"
    )


def test_store_that_loses_its_copy_while_waiting_is_a_miss(mail: Path) -> None:
    before = extracted(mail).whole()
    end = "---------- End"
    *dumps, rest = (mail / "stats.txt").read_text().split(end)
    (mail / "stats.txt").write_text(end.join([*map(with_stores_that_lost, dumps), rest]))
    snapshots = extracted(mail)
    check_snapshots(snapshots)
    after = snapshots.whole()
    lost = after.total("l2_misses") - before.total("l2_misses")
    assert lost == before.total("upgrades") - after.total("upgrades") == 240
    assert after.total("fills", state="M") == before.total("fills", state="M") + lost


@pytest.mark.parametrize("name", ["imapb-s80", "imape-s80", "imapb-s80-sixteenth", "imape-s80-sixteenth"])
def test_kept_gem5_runs_give_the_kept_metrics(name: str, tmp_path: Path) -> None:
    """18 busy processors, up to 36 dumps: what the extraction makes of them is what stands beside them."""
    kept = unpacked("gem5") / name
    for file in ("stats.txt", "facts.json"):
        shutil.copyfile(kept / file, tmp_path / file)
    mix, _, machine = name.partition("-")
    part = load_experiment(mix, {}).gem5
    assert part is not None
    design = load_machine(machine, {"l2.inclusion": "exclusive"})
    write_snapshots(tmp_path, design, part.phases[machine].warmup, tmp_path / "snapshots.jsonl")
    snapshots = Snapshots.read(tmp_path / "snapshots.jsonl")
    check_snapshots(snapshots)
    assert snapshots.region().instructions >= part.phases[machine].measure
    metrics = renewed(json.loads((kept / "stats.json").read_text()))["metrics"]
    known = {key: value for key, value in compute(snapshots, None).items() if value is not None}
    # What is wanted of the guest stands in the machine file, and was not asked for when the older runs were made.
    kept_ones = {key: value for key, value in metrics.items() if value is not None and not key.endswith("_wanted")}
    # Nor were metrics that were declared later.
    assert {key: known.get(key) for key in kept_ones} == pytest.approx(kept_ones, rel=1e-8)


def test_warm_up_is_left_out_of_the_gem5_region(out: Path) -> None:
    assert extracted(out, warm_up=2_000_000).region().instructions == 2000429 + 2000381
    with pytest.raises(UserError, match="ended after 6000874 instructions, before the end of its warm-up of 10000000"):
        extracted(out, warm_up=10_000_000)


def without(row: str) -> Callable[[str], str]:
    """The same text without a row that must be there."""

    def change(text: str) -> str:
        assert f"{row} " in text
        return "\n".join(line for line in text.splitlines() if not line.startswith(f"{row} ")) + "\n"

    return change


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (
            lambda text: text[: len(text) // 2],
            r"stats.txt, dump 2: the end line is missing, because gem5 ended early or the file is truncated",
        ),
        (lambda text: "", "the file contains no statistics"),
        (
            lambda text: text[: text.index("---------- End")] + "---------- End Simulation Statistics   ----------\n",
            "the file has 1 dumps of statistics instead of 3",
        ),
        (
            without(f"{CACHES}.I.Load"),
            r"the rows STATE.Load do not add up to the row `.*Load`, so one of them is missing",
        ),
        (without(f"{CACHES}.Store"), r"the row `.*L1Cache_Controller.Store` is missing"),
        (without("simTicks"), "the row `simTicks` is missing"),
        (without("board.processor.cores7.core.commitStats0.numOps"), "for 17 processors instead of 18"),
        (
            lambda text: text.replace(f"{CACHES}.I.Load ", f"{CACHES}.X.Load "),
            "add the state to scripts/s80lab/gem5/table.py",
        ),
        (lambda text: text.replace("simTicks 5", "simTicks x5", 1), "contains a value that is not a number"),
    ],
)
def test_malformed_gem5_statistics_are_refused(out: Path, change: Callable[[str], str], refusal: str) -> None:
    stats = out / "stats.txt"
    stats.write_text(change(stats.read_text()))
    with pytest.raises(UserError, match=refusal):
        extracted(out)
    assert not (out / "snapshots.jsonl").exists()


def test_extraction_refuses_another_protocol(out: Path) -> None:
    facts = renewed(json.loads((out / "facts.json").read_text()))
    (out / "facts.json").write_text(json.dumps(facts | {"protocol": "MESI_Two_Level"}))
    with pytest.raises(UserError, match="protocol MESI_Two_Level, but s80lab supports only MOESI_hammer"):
        extracted(out)


def test_extraction_renames_rows_of_another_release(out: Path) -> None:
    """The facts of the run say how its release names the rows."""
    expected = extracted(out).whole().total("l2_misses")
    stats, facts = out / "stats.txt", renewed(json.loads((out / "facts.json").read_text()))
    stats.write_text(stats.read_text().replace(f"{CACHES}.", "board.ruby.hammer_L1."))
    (out / "facts.json").write_text(json.dumps(facts | {"rows": {"board.ruby.hammer_L1.": f"{CACHES}."}}))
    assert extracted(out).whole().total("l2_misses") == expected > 0


def test_metrics_without_gem5_statistics_are_null(out: Path) -> None:
    """Shares of the kernel and of the load generator are unknown, not zero; classes are of the micro-operations."""
    metrics = compute(extracted(out), None)
    assert metrics["kernel_share.instructions"] is None and metrics["loadgen_share.machine"] is None
    assert metrics["l2_mpki.user"] is None and metrics["miss_source.load.memory"] is None
    memory = sum(metrics[f"instruction_mix.{name}"] or 0 for name in ("load", "store", "load_store"))
    assert metrics["instruction_group.loads_and_stores"] == pytest.approx(memory) and 0 < memory < 1
    assert metrics["throughput"] == 0 and metrics["response_ms"] is None

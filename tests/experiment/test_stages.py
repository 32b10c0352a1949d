# SPDX-License-Identifier: GPL-2.0-or-later
"""The order of the stages over seeds, with guests that only take their time."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from s80lab.base.errors import UserError
from s80lab.base.progress import Board
from s80lab.commands.cli import leaves
from s80lab.config.experiment import Phases, load_scale
from s80lab.experiment import checkpoint, resources
from s80lab.experiment import stages as experiment_pipeline
from s80lab.experiment.checkpoint import Keys, Wanted
from s80lab.experiment.plan import Plan, Until
from s80lab.experiment.stages import Drop, Pipeline
from s80lab.results.run_folder import RunFolder


def plans(seeds: Sequence[int], points: Sequence[str] = ("",), title: str = "mix") -> list[Plan]:
    """Of each point of a sweep, which has a ready guest of its own."""
    scale = load_scale("tiny")
    phases = Phases(warmup_min=9, warmup_max=9, sampling_interval=1, measure=1)
    return [
        cast(
            Plan,
            SimpleNamespace(
                name="mix",
                plugin="plugin",
                qemu="QEMU",
                title=title,
                varied={},
                scale_name="tiny",
                seed=seed,
                boot_number=1,
                numbers=f"seed {seed}",
                scale=scale,
                phases=phases,
                keys=Keys(
                    Wanted("ready", f"ready{point}", f"key{point}", {}),
                    Wanted("warm", f"warm{point}-{seed}", f"key{point}-{seed}", {}),
                    {},
                ),
            ),
        )
        for point in points
        for seed in seeds
    ]


@pytest.fixture(autouse=True)
def titled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plans of these tests have a title instead of an experiment."""
    monkeypatch.setattr(experiment_pipeline, "title", lambda plan: plan.title)


def existing(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make the store contain checkpoints of these names."""
    monkeypatch.setattr(checkpoint, "exists", lambda name, key: name in names)


class Stages:
    """Stands for the guests: each stage is noted when it begins."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path / "checkpoints"))
        monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path / "results"))
        self.log: list[str] = []
        self.there: list[int] = []
        self.whole: dict[int, Path] = {}
        self.most_there = 0
        self.ready: list[str] = []
        self.most_ready = 0
        self.entered: list[Path] = []
        self.plugin_fails = False
        self.began_at: dict[int, str | None] = {}
        self.broken: tuple[str, ...] = ()
        self.cold: tuple[str, ...] = ()
        for name in ("build_ready", "build_warm", "measure", "measured", "insert_run", "check_plugin"):
            monkeypatch.setattr(experiment_pipeline, name, getattr(self, name))
        monkeypatch.setattr(experiment_pipeline, "RunFolder", self.run_folder)
        monkeypatch.setattr(checkpoint, "drop", self.drop)

    def run(
        self,
        seeds: Sequence[int],
        jobs: int = 2,
        until: Until = "run",
        points: Sequence[str] = ("",),
        title: str = "mix",
        **options: Any,
    ) -> list[Path]:
        self.said = io.StringIO()
        board = Board(Console(file=self.said))
        runs = asyncio.run(Pipeline(board, jobs, **options).go(plans(seeds, points, title), until))
        return [run.path for run in runs]

    def drop(self, one: Any) -> None:
        if isinstance(one.seed, str):
            self.ready.remove(one.seed)
        else:
            self.there.remove(one.seed)

    async def build_ready(self, plan: Plan, slots: asyncio.Semaphore, job: object) -> Any:
        self.log.append(plan.keys.ready.name)
        if plan.keys.ready.name in self.broken:
            raise UserError(f"boot of {plan.keys.ready.name}: the guest gave up")
        self.ready.append(plan.keys.ready.name)
        self.most_ready = max(self.most_ready, len(self.ready))
        return SimpleNamespace(seed=plan.keys.ready.name, disk_bytes=lambda: 0, manifest=SimpleNamespace(wall_s=0.0))

    async def build_warm(self, plan: Plan, ready: Any, job: object) -> Any:
        self.log.append(f"warm {plan.seed}")
        self.began_at[plan.seed] = ready and ready.seed
        await asyncio.sleep(0.01)
        self.there.append(plan.seed)
        self.most_there = max(self.most_there, len(self.there))
        record = SimpleNamespace(verdict="steady", instructions=1, mips=1.0)
        return SimpleNamespace(seed=plan.seed, manifest=SimpleNamespace(warmup=record, wall_s=0.0))

    async def measure(self, plan: Plan, warm: Any, job: object) -> Path:
        assert warm.seed == plan.seed
        self.log.append(f"run {plan.seed}")
        await asyncio.sleep(0.01)
        return Path(f"run-{plan.seed}")

    def measured(self, plan: Plan) -> Path | None:
        return self.whole.get(plan.seed)

    def check_plugin(self, plugin: str, qemu: str) -> None:
        if self.plugin_fails:
            raise UserError(f"{qemu} does not load {plugin}")

    def insert_run(self, database: Path, run: RunFolder) -> None:
        self.entered.append(run.path)

    def run_folder(self, folder: Path) -> Any:
        reasons = ("not in steady state",) if folder.name in self.cold else ()
        return SimpleNamespace(path=folder, reasons=reasons)


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stages:
    return Stages(monkeypatch, tmp_path)


def test_seeds_have_own_warm_ups_and_share_one_ready_guest(stages: Stages) -> None:
    assert stages.run([1, 2, 3]) == [Path("run-1"), Path("run-2"), Path("run-3")]
    assert stages.log.count("ready") == 1
    assert sorted(stages.log) == ["ready", "run 1", "run 2", "run 3", "warm 1", "warm 2", "warm 3"]


def test_run_starts_as_soon_as_its_checkpoint_is_warm(stages: Stages) -> None:
    """Not after the other seeds' warm-ups, which wait for a core."""
    stages.run([1, 2], jobs=1)
    assert stages.log == ["ready", "warm 1", "run 1", "warm 2", "run 2"]


def test_number_of_finished_runs_is_printed_with_the_time_left(stages: Stages) -> None:
    stages.whole = {1: Path("old-1")}
    stages.run([1, 2, 3, 4], jobs=1)
    printed = [line.split("] ")[1] for line in stages.said.getvalue().splitlines() if " of 3 runs" in line]
    assert printed == [
        "0 of 3 runs, about 4 min left",
        "1 of 3 runs, about 10 s left",
        "2 of 3 runs, about 10 s left",
    ]


def test_stages_of_a_run_have_readable_names_in_the_log(stages: Stages) -> None:
    stages.run([3], jobs=1)
    printed = [line.split("] ")[1] for line in stages.said.getvalue().splitlines() if "scale" in line or "seed" in line]
    assert printed == [
        "scale tiny: ready is complete (0 MB, built in 0 s)",
        "mix seed 3: warm-3 is complete (steady state after 0 M instructions, 1 MIPS, built in 0 s)",
        "mix seed 3: complete: run-3",
    ]


def test_stages_of_a_changed_design_name_the_design_in_the_log(stages: Stages) -> None:
    stages.run([3], jobs=1, title="mix · mesi · l2.size=2MiB")
    printed = [line.split("] ")[1] for line in stages.said.getvalue().splitlines() if "seed" in line]
    assert [line.partition(": ")[0] for line in printed] == ["mix · mesi · l2.size=2MiB, seed 3"] * 2


def test_complete_runs_are_reused_without_guest(stages: Stages) -> None:
    stages.whole = {1: Path("old-1"), 2: Path("old-2")}
    assert stages.run([1, 2]) == [Path("old-1"), Path("old-2")]
    assert stages.log == []
    assert stages.run([1, 3, 2]) == [Path("old-1"), Path("run-3"), Path("old-2")]
    assert stages.run([1], again=True) == [Path("run-1")]


def test_invalid_run_is_reported_as_soon_as_known(stages: Stages) -> None:
    stages.whole = {1: Path("old-1"), 2: Path("old-2")}
    stages.cold = ("old-2", "run-3")
    stages.run([1, 2, 3, 4], jobs=1)
    said = [line.split("] ")[1] for line in stages.said.getvalue().splitlines() if "old" in line or "run-" in line]
    assert said == [
        "old-2: this run exists already, invalid: not in steady state",
        "mix seed 3: complete: run-3, invalid: not in steady state",
        "mix seed 4: complete: run-4",
    ]


def test_runs_are_entered_into_the_database_unless_disabled(stages: Stages) -> None:
    stages.whole = {1: Path("old-1")}
    stages.run([1, 2])
    assert stages.entered == [Path("old-1"), Path("run-2")]
    stages.run([1, 2], enter=False)
    assert len(stages.entered) == 2


def test_dropped_checkpoints_are_no_more_than_guests_at_once(stages: Stages) -> None:
    stages.run([1, 2, 3, 4, 5], jobs=2, drop="warm")
    assert stages.there == []
    assert stages.ready == ["ready"]
    assert stages.most_there <= 2


POINTS = ["-a", "-b", "-c", "-d", "-e", "-f"]


def test_first_sweep_runs_end_before_the_last_points_begin(stages: Stages) -> None:
    assert len(stages.run([1, 2], points=POINTS)) == 2 * len(POINTS)
    assert stages.log.index("run 1") < stages.log.index("ready-d") < stages.log.index("ready-f")
    assert stages.ready == [f"ready{point}" for point in POINTS]


@pytest.mark.parametrize("broken", [("ready-a",), ("ready-c", "ready-f")])
def test_failed_sweep_point_does_not_stop_the_other_points(stages: Stages, broken: tuple[str, ...]) -> None:
    stages.broken = broken
    with pytest.raises(ExceptionGroup) as failed:
        stages.run([1], points=POINTS)
    there = len(POINTS) - len(broken)
    assert [str(error) for error in leaves(failed.value)] == [
        *(f"boot of {name}: the guest gave up" for name in broken),
        f"the runs from {len(broken)} of 6 ready checkpoints failed, all other runs are complete: repeat the command",
    ]
    assert stages.log.count("run 1") == len(stages.entered) == there


def test_failure_of_the_only_point_gives_its_own_error(stages: Stages) -> None:
    stages.broken = ("ready",)
    with pytest.raises(ExceptionGroup) as caught:
        stages.run([1, 2])
    assert [str(error) for error in leaves(caught.value)] == ["boot of ready: the guest gave up"]


def test_plugin_that_does_not_load_is_found_before_the_boot(stages: Stages) -> None:
    stages.plugin_fails = True
    with pytest.raises(UserError, match=r"^QEMU does not load plugin$"):
        stages.run([1])
    assert stages.log == []
    stages.run([1], until="ready")
    assert stages.log == ["ready"]


def test_ready_checkpoints_that_were_built_here_are_dropped_too(stages: Stages) -> None:
    stages.run([1, 2], jobs=2, points=POINTS, drop="built")
    assert (stages.ready, stages.there) == ([], [])
    assert stages.most_ready <= 3


def test_checkpoints_that_existed_before_are_kept(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    existing(monkeypatch, "ready-a", "warm-a-1")
    stages.run([1, 2], points=["-a"], drop="built")
    assert (stages.ready, stages.there) == (["ready-a"], [1])


def test_run_with_its_warm_checkpoint_boots_no_guest(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[resources.Need] = []
    monkeypatch.setattr(resources, "require", lambda needed, folder: asked.append(needed))
    existing(monkeypatch, "warm-1", "warm-2")
    assert stages.run([1, 2], jobs=1) == [Path("run-1"), Path("run-2")]
    assert stages.log == ["warm 1", "run 1", "warm 2", "run 2"]
    assert [one.disk for one in asked] == [0]
    stages.run([1], until="ready")
    assert stages.log[4:] == ["ready"]


def test_run_with_its_warm_checkpoint_does_not_wait_for_the_boot_of_another(
    stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    existing(monkeypatch, "warm-2")
    assert stages.run([1, 2], jobs=1) == [Path("run-1"), Path("run-2")]
    assert sorted(stages.log) == ["ready", "run 1", "run 2", "warm 1", "warm 2"]
    assert stages.began_at == {1: "ready", 2: None}


def test_sweep_disk_need_counts_the_points_under_way(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[resources.Need] = []
    monkeypatch.setattr(resources, "require", lambda needed, folder: asked.append(needed))
    for drop in ("nothing", "warm", "built"):
        stages.run([1, 2, 3], jobs=2, points=POINTS, drop=drop)
    size = resources.checkpoint_bytes(load_scale("tiny"))
    assert [one.disk // size for one in asked] == [6 + 18, 6 + 2, 3 + 2]


def test_kept_ones_are_all_there(stages: Stages) -> None:
    stages.run([1, 2, 3], until="warm")
    assert sorted(stages.there) == [1, 2, 3]
    assert not any(line.startswith("run") for line in stages.log)


@pytest.mark.parametrize(("drop", "checkpoints"), [("nothing", 6), ("warm", 3), ("built", 3)])
def test_disk_need_counts_the_checkpoints_of_all_seeds(
    stages: Stages, monkeypatch: pytest.MonkeyPatch, drop: Drop, checkpoints: int
) -> None:
    """A ready guest and five warm ones; dropped, a ready one and as many as run at once."""
    asked: list[resources.Need] = []
    monkeypatch.setattr(resources, "require", lambda needed, folder: asked.append(needed))
    stages.run([1, 2, 3, 4, 5], jobs=2, drop=drop)
    assert asked[0].disk == checkpoints * resources.checkpoint_bytes(load_scale("tiny"))

# SPDX-License-Identifier: GPL-2.0-or-later
"""An estimate of what runs will take, before they start: instructions, time and disk space.

Lengths and speed come from former runs of this lab if there are any. Without former runs, the estimate takes the
lengths of the experiment's phases and the documented speed (experiment/resources.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.progress import rough
from s80lab.base.terminal import counted, disk_size
from s80lab.experiment import checkpoint, resources
from s80lab.experiment.plan import Plan, missing_ready, missing_warm
from s80lab.experiment.ready import boot_cost
from s80lab.experiment.run import measured
from s80lab.results.run_folder import MANIFEST, RunFolder

MOST_FORMER = 60
"""Latest run folders that are read."""
# A run's folder: 2.5 MB, and 50 KB for each sampling interval (docs/guides/clusters.md).
RUN_BYTES, INTERVAL_BYTES = 2_500_000, 50_000


@dataclass(frozen=True)
class Former:
    """What former live runs of this lab took. lengths: instructions of warm-up and measured region, by experiment and
    scale. mips: million instructions per second of each run, by scale."""

    lengths: Mapping[tuple[str, str], Sequence[tuple[int, int]]]
    mips: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Estimate:
    """The cost of the runs of a command that are not complete.

    complete, runs, boots, warm_ups: complete runs; runs, ready checkpoints and warm checkpoints to make.
    warm_instructions, region_instructions: of all runs to do. mips: speed; former: number of runs behind the speed.
    core_s: seconds of one core. wall_s: seconds with `at_once` guests in parallel.
    checkpoint_bytes, run_bytes: disk space of new checkpoints and of run folders. known_size: whether a checkpoint of
        each scale exists, whose size is then expected of new ones.
    """

    complete: int
    runs: int
    boots: int
    warm_ups: int
    warm_instructions: float
    region_instructions: float
    mips: float
    former: int
    core_s: float
    wall_s: float
    at_once: int
    checkpoint_bytes: int
    run_bytes: int
    known_size: bool

    def lines(self) -> list[str]:
        """The estimate in sentences."""
        if not self.runs:
            return [f"estimate: {counted(self.complete, 'run')}, all complete"]
        total = self.warm_instructions + self.region_instructions
        most = "" if self.known_size else "at most "
        disk = f"{most}{disk_size(self.checkpoint_bytes)} of checkpoints, {disk_size(self.run_bytes)} of results"
        source = f"mean of {counted(self.former, 'former run')}" if self.former else "documented speed, no former run"
        return [
            f"estimate: {counted(self.runs, 'run')} to do, {self.complete} complete; {counted(self.boots, 'boot')} and "
            f"{counted(self.warm_ups, 'warm-up')}",
            f"  instructions  {_giga(total)} (warm-ups {_giga(self.warm_instructions)}, measured regions "
            f"{_giga(self.region_instructions)})",
            f"  time          about {rough(self.wall_s)} with {counted(self.at_once, 'guest')} in parallel, "
            f"{rough(self.core_s)} of one core ({self.mips:.0f} MIPS, {source})",
            f"  disk          {disk}",
        ]

    def record(self) -> dict[str, object]:
        """The estimate for JSON."""
        return {
            "complete": self.complete,
            "to_do": self.runs,
            "boots": self.boots,
            "warm_ups": self.warm_ups,
            "warm_up_instructions": round(self.warm_instructions),
            "region_instructions": round(self.region_instructions),
            "mips": round(self.mips, 1),
            "former_runs": self.former,
            "core_seconds": round(self.core_s),
            "seconds": round(self.wall_s),
            "guests_in_parallel": self.at_once,
            "checkpoint_bytes": self.checkpoint_bytes,
            "result_bytes": self.run_bytes,
        }


def estimate(plans: Sequence[Plan], jobs: int, former: Former | None = None, again: bool = False) -> Estimate:
    """The cost of the runs of these plans. jobs: guests in parallel. again: also of the runs that are complete."""
    former = former_runs() if former is None else former
    to_do = [plan for plan in plans if again or measured(plan) is None]
    boots, warm_ups = missing_ready(to_do), missing_warm(to_do)
    absent = boots | warm_ups
    speeds = [_mips(plan, former) for plan in to_do]
    lengths = [_lengths(plan, former) for plan in to_do]
    warm = [length if plan.keys.warm.name in absent else 0.0 for plan, (length, _) in zip(to_do, lengths, strict=True)]
    regions = [region for _, region in lengths]
    costs = [
        resources.START_S + (first + region) / (1e6 * mips)
        for first, region, mips in zip(warm, regions, speeds, strict=True)
    ]
    booting = {name: boot_cost(plan) for name, plan in boots.items()}
    at_once = max(1, min(jobs, len(to_do)))
    folders = sum(
        RUN_BYTES + INTERVAL_BYTES * (length + region) / plan.phases.sampling_interval
        for plan, (length, region) in zip(to_do, lengths, strict=True)
    )
    sizes = {plan.scale_name: _known_bytes(plan.scale_name) for plan in absent.values()}
    return Estimate(
        complete=len(plans) - len(to_do),
        runs=len(to_do),
        boots=len(boots),
        warm_ups=len(warm_ups),
        warm_instructions=sum(warm),
        region_instructions=sum(regions),
        mips=mean(speeds) if speeds else resources.TYPICAL_RUN / 1e6,
        former=max((len(former.mips.get(plan.scale_name, ())) for plan in to_do), default=0),
        core_s=sum(costs) + sum(booting.values()),
        wall_s=_wall_s(to_do, costs, booting, at_once),
        at_once=at_once,
        checkpoint_bytes=sum(
            sizes[plan.scale_name] or resources.checkpoint_bytes(plan.scale) for plan in absent.values()
        ),
        run_bytes=round(folders),
        known_size=all(sizes.values()),
    )


def former_runs() -> Former:
    """What the latest live runs in this lab's folder of runs took. Replays and gem5's runs are left out, and so are
    runs of which a file cannot be read."""
    manifests = [path for path in paths.runs().glob("[!.]*/" + MANIFEST) if not path.parent.name.startswith("replay-")]
    lengths: dict[tuple[str, str], list[tuple[int, int]]] = {}
    mips: dict[str, list[float]] = {}
    for path in sorted(manifests, key=lambda path: path.stat().st_mtime)[-MOST_FORMER:]:
        try:
            run = RunFolder(path.parent)
            manifest = run.manifest
            if manifest["engine"] != "qemu":
                continue
            pair = int(run.stats["warmup"]["instructions"]), int(manifest["instructions"])
        except (UserError, LookupError, TypeError, ValueError):
            continue
        lengths.setdefault((manifest["experiment"], manifest["scale"]), []).append(pair)
        mips.setdefault(manifest["scale"], []).append(float(manifest["mips"]))
    return Former(lengths, mips)


def _giga(instructions: float) -> str:
    return f"{instructions / 1e9:.1f} G"


def _lengths(plan: Plan, former: Former) -> tuple[float, float]:
    """Expected instructions of the warm-up and of the measured region: the medians of former runs of the experiment at
    this scale, within the limits of the plan's phases."""
    phases = plan.phases
    known = former.lengths.get((plan.name, plan.scale_name), ())
    if not known:
        return resources.TYPICAL_WARM_UP * phases.warmup_min, phases.skip + resources.TYPICAL_REGION * phases.measure
    warm, region = median(pair[0] for pair in known), median(pair[1] for pair in known)
    return min(max(warm, phases.warmup_min), phases.warmup_max), phases.skip + max(region, phases.measure)


def _mips(plan: Plan, former: Former) -> float:
    known = former.mips.get(plan.scale_name, ())
    return mean(known) if known else resources.TYPICAL_RUN / 1e6


def _wall_s(plans: Sequence[Plan], costs: Sequence[float], booting: Mapping[str, float], at_once: int) -> float:
    """Seconds until the last run is complete, if each run starts on the first free slot after its boot."""
    free = [0.0] * at_once
    ready: dict[str, float] = {}
    for plan, cost in zip(plans, costs, strict=True):
        if plan.keys.ready.name in booting and plan.keys.ready.name not in ready:
            slot = free.index(min(free))
            free[slot] += booting[plan.keys.ready.name]
            ready[plan.keys.ready.name] = free[slot]
        slot = free.index(min(free))
        free[slot] = max(free[slot], ready.get(plan.keys.ready.name, 0.0)) + cost
    return max(free)


def _known_bytes(scale: str) -> int:
    """Disk space of the largest checkpoint of a scale; 0 if there is none."""
    store = checkpoint.STORE
    present = [one.name for one in store.all() if one.engine == "qemu" and store.present(one)]
    return max((store.disk_bytes(name) for name in present if _is_of(name, scale)), default=0)


def _is_of(name: str, scale: str) -> bool:
    return name.startswith(f"ready-{scale}-") or (name.startswith("warm-") and f"-{scale}-s" in name)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Recording of captures: a live run with a recorder next to the model, and a replay compared with the live run."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.progress import WAITING, Job
from s80lab.base.staging import exclusive, staging, sweep
from s80lab.base.store import now
from s80lab.base.terminal import disk_size
from s80lab.base.threads import to_its_end
from s80lab.capture.error import differences
from s80lab.capture.process import play
from s80lab.capture.store import STORE, SUFFIX, Form, Manifest, Totals
from s80lab.config.experiment import FEWEST_INTERVALS, Phases
from s80lab.experiment import resources
from s80lab.experiment.checkpoint import Checkpoint, Inputs
from s80lab.experiment.plan import Plan
from s80lab.experiment.run import finish, live, versions
from s80lab.results.metrics.derive import compute
from s80lab.results.products import PRODUCTS
from s80lab.results.run_folder import MACHINE, MANIFEST, PROTOCOL, SNAPSHOTS, WARM_SNAPSHOTS, RunFolder
from s80lab.results.snapshots import Snapshots
from s80lab.trace.tool import capture_info

ORIGIN = "origin.json"
# Of a snapshot's line: counters of the guest and of the load generator's clients.
LIVE_ONLY = ("guest", "clients_finished")
SHORTEST_INTERVAL = 10_000_000
# Instructions a second of a replay: 100 to 600 M were measured (docs/guides/captures.md).
TYPICAL_REPLAY = 200_000_000
# Bytes a million instructions, at most, for a look at the disk before the guest starts.
_ROOM: dict[Form, int] = {"filtered": 50_000, "full": 700_000}


class Recording(Protocol):
    """A run to be recorded. skip, measure: instructions before and in the measured region, as far as they are known
    before."""

    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> Inputs: ...
    @property
    def forms(self) -> tuple[Form, ...]: ...
    @property
    def experiment(self) -> str: ...
    @property
    def scale(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def start(self) -> Checkpoint: ...
    @property
    def skip(self) -> int: ...
    @property
    def measure(self) -> int: ...

    def origin(self) -> str:
        """The origin for the capture's header, as JSON."""

    async def record(self, folder: Path, job: Job, extra: Mapping[str, object]) -> None:
        """Make the run with these further plugin arguments, and complete its folder."""


@dataclass(frozen=True)
class Recipe:
    """Parameters of a recording. skip, measure: instructions before and in the measured region."""

    plan: Plan
    forms: tuple[Form, ...]
    start: Checkpoint
    skip: int
    measure: int

    @property
    def experiment(self) -> str:
        return self.plan.name

    @property
    def scale(self) -> str:
        return self.plan.scale_name

    @property
    def seed(self) -> int:
        return self.plan.seed

    @property
    def sampling_interval(self) -> int:
        """The sampling interval: short enough that the warm-up has enough intervals to be judged."""
        return min(self.plan.phases.sampling_interval, max(self.skip // FEWEST_INTERVALS, SHORTEST_INTERVAL))

    @property
    def inputs(self) -> Inputs:
        """All inputs that determine the contents of the capture."""
        shape = {
            "forms": self.forms,
            "skip": self.skip,
            "measure": self.measure,
            "sampling_interval": self.sampling_interval,
        }
        return {
            **self.plan.keys.warm.inputs,
            "start": self.start.manifest.content,
            "capture": value_hash(shape),
        }

    @property
    def name(self) -> str:
        forms = "both" if len(self.forms) > 1 else self.forms[0]
        return f"{self.plan.name}-{self.plan.scale_name}-s{self.plan.seed}-{forms}-{value_hash(self.inputs)[:8]}"

    def origin(self) -> str:
        """The origin for the capture's header, as JSON."""
        job = dict(line.split("=", 1) for line in self.plan.job().splitlines())
        content = {
            "capture": self.name,
            "experiment": self.plan.name,
            "workload": self.plan.experiment.workload,
            "image": self.plan.experiment.image,
            "server": self.plan.experiment.server,
            "scale": self.plan.scale_name,
            "seed": self.plan.seed,
            "clients": self.plan.clients,
            "think_ms": float(job.get("think_ms", 0)),  # scripts have none
            "start": self.start.manifest.stage,
            "skip": self.skip,
            "measure": self.measure,
            "inputs": self.inputs,
            "versions": versions(self.plan),
        }
        return json.dumps(content, sort_keys=True)

    async def record(self, folder: Path, job: Job, extra: Mapping[str, object]) -> None:
        """Make the run with these further plugin arguments, and complete its folder."""
        shape = {"skip": self.skip, "measure": self.measure, "sampling_interval": self.sampling_interval}
        plan = replace(self.plan, phases=self.plan.phases.model_copy(update=shape))
        timing = await live(plan, self.start, folder, job, extra)
        job.update("statistics")
        await to_its_end(finish, plan, self.start, self.name, self.inputs, timing, folder)


def lengths(
    phases: Phases, stage: str, forms: Sequence[Form], instructions: int | None, warm_up: int | None
) -> tuple[int, int]:
    """The lengths (skip, measure) of a capture: warm-up and measured region, in instructions of all processors.

    The values `warm_up` and `instructions` apply if they are given. The defaults depend on the checkpoint (`stage`):
    - ready, only the filtered form: measure is a run's measured region. skip + measure is the experiment's minimum
      warm-up, but skip is at least nine sampling intervals.
    - ready, with the full form: measure is a third of a run's measured region, skip two thirds of it.
    - warm: measure is a fifteenth of a run's measured region. skip is 0, because the capture contains the caches.
    """
    if stage == "warm":
        measure = instructions or phases.measure // 15
        usual = 0
    elif "full" in forms:
        measure = instructions or phases.measure // 3
        usual = 2 * phases.measure // 3
    else:
        measure = instructions or phases.measure
        usual = max(phases.warmup_min - measure, FEWEST_INTERVALS * phases.sampling_interval)
    return (usual if warm_up is None else warm_up), measure


def capture_s(recipe: Recipe) -> float:
    """Expected seconds of the recording and of the replays that are compared with it, for progress lines."""
    length = recipe.skip + recipe.measure
    return resources.START_S + length * (1 / resources.TYPICAL_RUN + len(recipe.forms) / TYPICAL_REPLAY)


async def make(recipe: Recording, slots: asyncio.Semaphore, job: Job, again: bool) -> Manifest:
    """Record the capture of the recipe, unless it exists. again: record it in any case."""
    name, key = recipe.name, value_hash(recipe.inputs)
    async with exclusive(paths.captures() / f".{name}.lock", lambda: job.update(WAITING)):
        sweep(paths.captures())
        if not again:
            found = await asyncio.to_thread(STORE.find, name, key)
            if found is not None:
                return found
            if why := STORE.why_built_again(name):
                job.say(f"this capture is recorded again: {why}")
        total = (recipe.skip + recipe.measure) // 1_000_000
        room = sum(_ROOM[form] * total for form in recipe.forms)
        job.say(f"the capture needs {disk_size(room)} of disk at most")
        resources.require(resources.Need(room, resources.RUN_MEMORY), paths.captures())
        async with slots:
            began = time.monotonic()
            folder = STORE.folder(name)
            with staging(folder) as partial:
                await _record(recipe, partial, job)
                forms = {form: await _verify(recipe, form, partial, job) for form in recipe.forms}
                job.update("hashing")
                captured = (f"{form}{SUFFIX}" for form in recipe.forms)
                names = (*captured, ORIGIN, MANIFEST, *PRODUCTS, WARM_SNAPSHOTS)
                files = await asyncio.to_thread(STORE.hash_files, partial, names)
                live = RunFolder(partial).manifest
            manifest = Manifest(
                name=name,
                key=key,
                inputs=recipe.inputs,
                files=files,
                wall_s=round(time.monotonic() - began, 1),
                created=now(),
                experiment=recipe.experiment,
                scale=recipe.scale,
                seed=recipe.seed,
                start=recipe.start.manifest.stage,
                skip=recipe.skip,
                measure=live["instructions"] if "program" in live else recipe.measure,
                live_mips=live["mips"],
                forms=forms,
            )
            STORE.record(manifest)
            return manifest


async def _record(recipe: Recording, folder: Path, job: Job) -> None:
    (folder / ORIGIN).write_text(recipe.origin())
    files = {f"capture_{form}": folder / f"{form}{SUFFIX}" for form in recipe.forms}
    await recipe.record(folder, job, {**files, "capture_origin": folder / ORIGIN})
    for path in files.values():
        if not path.is_file():
            raise UserError(
                f"recording {recipe.name}: the plugin did not write the capture file {path.name}; repeat the command"
            )


async def _verify(recipe: Recording, form: Form, folder: Path, job: Job) -> Totals:
    """Replay the capture on its own machine and protocol. A full one must reproduce the live run byte for byte."""
    path, out = folder / f"{form}{SUFFIX}", folder / f"replay-{form}"
    out.mkdir()
    played = await play(
        path, folder / MACHINE, folder / PROTOCOL, out, lambda done, total: job.update(f"replaying {form}", done, total)
    )
    snapshots = await asyncio.to_thread(Snapshots.read, out / SNAPSHOTS)
    identical = up_to_the_end(out / SNAPSHOTS) == up_to_the_end(folder / SNAPSHOTS)
    if form == "full" and not identical:
        raise UserError(
            f"{recipe.name}: the replay of the full capture differs from the live run, which is a defect of "
            "s80lab; the capture was discarded: report this defect"
        )
    content, run = capture_info(path), RunFolder(folder)
    (out / SNAPSHOTS).unlink()
    out.rmdir()
    return Totals(
        bytes=path.stat().st_size,
        events=content["events"],
        accesses=content["accesses"],
        instructions=content["instructions"],
        replay_mips=round(played.mips, 1),
        identical=identical,
        differences=differences(run.stats["metrics"], compute(snapshots, None, program="program" in run.manifest)),
    )


def up_to_the_end(path: Path) -> list[dict[str, Any]]:
    """Snapshots up to measure_end, where captures end, without the counters that captures do not contain."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    end = next(number for number, line in enumerate(lines) if line.get("mark") == "measure_end")
    return [{key: value for key, value in line.items() if key not in LIVE_ONLY} for line in lines[: end + 1]]

# SPDX-License-Identifier: GPL-2.0-or-later
"""The stages of an experiment in gem5: boot and warm-up without caches, saved as checkpoints, and the measured run
under Ruby, which fills the same tables as the engine `qemu`."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.progress import WAITING, Board, Job, Tally
from s80lab.base.staging import PARTIAL, exclusive, staging, tidy
from s80lab.base.terminal import counted
from s80lab.base.threads import to_its_end
from s80lab.base.version import __version__
from s80lab.config.differences import slug
from s80lab.config.experiment import Gem5Phases
from s80lab.experiment import checkpoint, resources
from s80lab.experiment.checkpoint import GEM5_STATE, Checkpoint, Inputs
from s80lab.experiment.entries import manifest_entries, plan_differences
from s80lab.experiment.host_inputs import unused
from s80lab.experiment.plan import Until, missing, missing_warm
from s80lab.gem5 import table
from s80lab.gem5.boot import SAVED, boot, remaining_instructions, remove_date, remove_segments, take_saved
from s80lab.gem5.plan import Gem5Plan
from s80lab.gem5.process import CONSOLE, simulate
from s80lab.gem5.snapshots import write_snapshots
from s80lab.guest.command import CONSOLE as LOG
from s80lab.guest.kernel.facts import load_kernel
from s80lab.image.bzimage import unpack_kernel
from s80lab.results.conservation import check_snapshots
from s80lab.results.database import insert_run
from s80lab.results.metrics.derive import write_stats
from s80lab.results.products import is_whole, record_products, why_not_whole
from s80lab.results.run_folder import MACHINE, SCHEMA, SNAPSHOTS, RunFolder
from s80lab.results.snapshots import Delta

JOB, KERNEL = "job.txt", "vmlinux"
OUT = "gem5"
# What is kept of gem5's own output beside its statistics.
KEPT = (CONSOLE, "config.ini", "config.json", "facts.json", "stats.txt")


class Gem5Pipeline:
    """Runs experiments in gem5. jobs: number of parallel simulations (0: one per host core). again: repeat runs that
    exist already."""

    def __init__(self, board: Board, jobs: int = 0, again: bool = False) -> None:
        self._board = board
        self._jobs = jobs or host.cores()
        self._slots = asyncio.Semaphore(self._jobs)
        self._again = again
        self._ready: dict[str, asyncio.Task[Checkpoint]] = {}
        self._tally = Tally(board, "", [])

    async def go(self, plans: Sequence[Gem5Plan], until: Until = "run") -> list[Path]:
        """Run the experiments up to a stage. Return the folders of all measured runs (none before the last stage)."""
        tidy(self._board.say, paths.checkpoints(), paths.runs())
        whole = [None if until != "run" or self._again else measured(plan) for plan in plans]
        for folder in filter(None, whole):
            insert_run(paths.database(), RunFolder(folder))
            self._board.say(f"{folder.name}: this run exists already")
        lacking = [plan for plan, folder in zip(plans, whole, strict=True) if folder is None]
        if lacking:
            self._check_needs(lacking, until)
            for why in unused(lacking, until):
                self._board.say(why)
        if until == "run":
            costs, first = [_cost(plan) for plan in lacking], _checkpoint_costs(lacking)
            self._tally = Tally(self._board, "runs", costs, self._jobs, first=first)
        async with asyncio.TaskGroup() as group:
            fresh = iter([group.create_task(self._experiment(plan, until, group)) for plan in lacking])
        folders = [folder or next(fresh).result() for folder in whole]
        return [folder for folder in folders if folder is not None]

    def _check_needs(self, plans: Sequence[Gem5Plan], until: Until) -> None:
        absent = missing(plans, until)
        at_once = min(self._jobs, len(plans))
        disk = sum(resources.checkpoint_bytes(plan.scale) for plan in absent.values())
        ram = max(plan.scale.ram for plan in plans)
        boots = sum(name in absent for name in {plan.keys.ready.name for plan in plans})
        booting = min(self._jobs, boots) * resources.GEM5_LIMIT
        needed = resources.Need(disk, max(booting, at_once * (ram + resources.GEM5_MEMORY)))
        self._board.say(
            f"this command needs {needed} ({counted(len(absent), 'checkpoint')} to build, "
            f"{counted(at_once, 'simulation')} in parallel)"
        )
        resources.require(needed, paths.checkpoints())

    async def _experiment(self, plan: Gem5Plan, until: Until, group: asyncio.TaskGroup) -> Path | None:
        ready = None
        if until == "ready" or missing_warm([plan]):
            if plan.keys.ready.key not in self._ready:
                self._ready[plan.keys.ready.key] = group.create_task(self._build(plan, "ready", None))
            ready = await self._ready[plan.keys.ready.key]
        if until == "ready":
            return None
        warm = await self._build(plan, "warm", ready)
        if until == "warm":
            return None
        async with self._slots:
            with self._tally.piece(_cost(plan)):
                return await self._measure(plan, warm)

    async def _build(self, plan: Gem5Plan, stage: checkpoint.Stage, ready: Checkpoint | None) -> Checkpoint:
        name = f"scale {plan.scale_name}" if stage == "ready" else f"{plan.name} seed {plan.seed}"
        job = self._board.job(f"{name} in gem5")

        async def make(folder: Path) -> dict[str, object]:
            if stage == "warm" and ready is None:
                raise checkpoint.removed(plan.keys.warm.name)
            return await _simulate(plan, ready, folder, job)

        wanted = plan.keys.wanted(stage)
        with self._tally.before(wanted.name):
            built = await checkpoint.build(wanted, job, make, self._slots)
        if stage == "ready":
            remove_segments(plan)
        job.done(
            f"{built.manifest.name} is complete ({built.disk_bytes() / 1e9:.1f} GB, built in "
            f"{_boot_text(built) or f'{built.manifest.wall_s:.0f} s'})"
        )
        return built

    async def _measure(self, plan: Gem5Plan, warm: Checkpoint) -> Path:
        inputs = plan.keys.run_inputs(warm.manifest.content)
        folder = run_folder(plan, warm.manifest.content)
        run_id = folder.name
        label = f", {plan.label}" if plan.label else ""
        job = self._board.job(f"{plan.name} on {plan.machine.name} in gem5{label}, seed {plan.seed}")
        lock = paths.runs() / f".{run_id}.lock"
        async with exclusive(lock, lambda: job.update(WAITING)) as waited:
            if (self._again and not waited) or not is_whole(folder):
                if folder.is_dir() and (why := why_not_whole(folder)):
                    job.say(f"this run is measured again: {why}")
                with staging(folder) as partial:
                    await self._live(plan, warm, run_id, inputs, partial, job)
        insert_run(paths.database(), RunFolder(folder))
        job.done(f"complete: {folder.name}")
        return folder

    async def _live(
        self, plan: Gem5Plan, warm: Checkpoint, run_id: str, inputs: Inputs, folder: Path, job: Job
    ) -> None:
        began = time.monotonic()
        out = folder / OUT
        await asyncio.to_thread(checkpoint.check, warm)
        total = plan.phases.warmup + plan.phases.measure
        arguments = stage_arguments(plan, folder, plan.job())
        arguments |= {
            "restore": warm.folder,
            "interval": plan.phases.sampling_interval,
            "intervals": -(-total // plan.phases.sampling_interval),
            "warm-intervals": -(-plan.phases.warmup // plan.phases.sampling_interval),
            "transactions": plan.phases.transactions,
            "calls": counted_calls(plan.image),
        }
        facts = await simulate(plan.gem5, "measure", arguments, out, job, total)
        (folder / KERNEL).unlink()
        for path in out.iterdir():
            if path.name not in KEPT:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        wall_s = time.monotonic() - began
        try:
            await to_its_end(finish, plan, warm, run_id, inputs, facts, folder, wall_s)
        except UserError as error:
            raise UserError(f"{error} (gem5's output is kept in {_keep(folder)})") from None


def run_folder(plan: Gem5Plan, warm_content: str) -> Path:
    """The folder of the run from a warm checkpoint. Its name contains a hash of all inputs of the run."""
    key = value_hash(plan.keys.run_inputs(warm_content))[:8]
    changed = slug(plan_differences(plan), without=("machine", "scale"))
    return paths.runs() / f"gem5-{plan.name}-{plan.machine.name}{changed}-s{plan.seed}-{key}"


def measured(plan: Gem5Plan) -> Path | None:
    """The folder of the plan's run if the run is complete, even if its warm checkpoint has been removed since."""
    warm = checkpoint.known(plan.keys.warm.name, plan.keys.warm.key)
    if warm is None or not is_whole(folder := run_folder(plan, warm.content)):
        return None
    return folder


def _cost(plan: Gem5Plan) -> float:
    return resources.gem5_run_s(plan.phases)


def _checkpoint_costs(plans: Sequence[Gem5Plan]) -> dict[str, float]:
    """Expected seconds of each missing checkpoint of these plans, by name."""
    absent = missing(plans)
    booting = {name: remaining_instructions(plan) for name, plan in absent.items() if name == plan.keys.ready.name}
    settling = {name: plan.settle for name, plan in absent.items() if name == plan.keys.warm.name}
    return {name: count / resources.GEM5_ATOMIC for name, count in {**booting, **settling}.items()}


async def _simulate(plan: Gem5Plan, ready: Checkpoint | None, folder: Path, job: Job) -> dict[str, object]:
    """Boot, or continue from the ready checkpoint, and save the guest in the folder. Return the entries of the
    manifest."""
    arguments = stage_arguments(plan, folder, plan.login_job() if ready is None else plan.job())
    if ready is None:
        entries = await boot(plan, arguments, folder, job)
    else:
        await asyncio.to_thread(checkpoint.check, ready)
        out = folder / OUT
        arguments |= {"save": folder / SAVED, "restore": ready.folder, "instructions": plan.settle}
        facts = await simulate(plan.gem5, "warm", arguments, out, job, plan.settle)
        entries = {"engine": plan.engine, "gem5_version": facts["gem5"]}
        remove_date(folder / SAVED / GEM5_STATE)
        take_saved(folder)
        shutil.copyfile(out / CONSOLE, folder / LOG)
        shutil.rmtree(out)
    (folder / KERNEL).unlink()
    return entries


def _boot_text(built: Checkpoint) -> str:
    """Length and memory of the boot of a ready checkpoint, for a remark."""
    record = built.manifest.boot
    if record is None:
        return ""
    peak = f", peak {record.resident_peak / 1e9:.1f} GB resident" if record.resident_peak else ""
    length = f"{record.instructions / 1e6:.0f} M instructions in {counted(record.segments, 'segment')}"
    return f"{record.wall_s:.0f} s; {length}{peak}"


def stage_arguments(plan: Gem5Plan, folder: Path, job_text: str) -> dict[str, object]:
    """Write machine, job and kernel into the folder. Return the arguments of mail_server.py that name them."""
    (folder / MACHINE).write_text(plan.machine_text())
    (folder / JOB).write_text(job_text)
    unpack_kernel(plan.image / "vmlinuz", folder / KERNEL)
    return {
        "machine": folder / MACHINE,
        "job": folder / JOB,
        "memory": plan.scale.ram,
        "kernel": folder / KERNEL,
        "initramfs": plan.image / "initramfs.cpio",
        "command-line": plan.command_line(),
    }


def counted_calls(image: Path) -> str:
    """The kernel functions whose calls mail_server.py counts. The names of the counters are those of
    guest/counters.py."""
    symbols = load_kernel(image).symbols
    return ",".join(f"{name}={symbols.address(function):#x}" for name, function in table.CALLS.items())


def _keep(folder: Path) -> Path:
    """Move the folder of an invalid run to results/refused, where nothing deletes it: it may hold hours of
    simulation."""
    kept = paths.results() / "refused" / folder.name.removeprefix(PARTIAL)
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(folder, kept)
    return kept


def _refuse_short(run_id: str, phases: Gem5Phases, region: Delta) -> None:
    """Raise UserError if the region is shorter than the experiment asks for."""
    ended = region.total("transactions")
    if ended < phases.transactions:
        raise UserError(
            f"{run_id}: only {ended} of {phases.transactions} transactions ended within {region.instructions} "
            "instructions; lower `transactions` or raise `measure` in the experiment's table [gem5.phases]"
        )
    if not phases.transactions and region.instructions < phases.measure:
        raise UserError(
            f"{run_id}: gem5 ended after {region.instructions} of the {phases.measure} instructions of the "
            "measured region: repeat the run"
        )


def finish(
    plan: Gem5Plan,
    warm: Checkpoint,
    run_id: str,
    inputs: Inputs,
    facts: dict[str, Any],
    folder: Path,
    wall_s: float,
) -> None:
    """Write the statistics in s80lab's format, check them, and write the manifest of a completed run."""
    write_snapshots(folder / OUT, plan.machine, plan.phases.warmup, folder / SNAPSHOTS)
    run = RunFolder(folder)
    checks = check_snapshots(run.snapshots)
    region = run.snapshots.region()
    _refuse_short(run_id, plan.phases, region)
    simulated = run.snapshots.whole().instructions
    manifest = {
        "schema": SCHEMA,
        "run": run_id,
        **manifest_entries(plan),
        "instructions": region.instructions,
        "simulated_ns": region.clock_ns,
        "drift_points": plan.phases.drift_points,
        "wall_s": round(wall_s, 2),
        "mips": round(simulated / facts["seconds"] / 1e6, 3),
        "inputs": inputs,
        "warm_snapshots": None,
        "checkpoint": warm.manifest.name,
        "notes": facts["notes"],
        "conservation_checks": checks,
        "versions": {
            "s80lab": __version__,
            "gem5": facts["gem5"],
            "kernel": plan.image_manifest.kernel_version,
            **plan.image_manifest.packages,
        },
    }
    run.write_manifest(manifest)
    write_stats(run)
    record_products(run)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of programs under `s80lab run`, `sweep`, `compare`, `estimate`, `report` and `checkpoint build`: the runs
of their plans (program_plans.py), by the functions of `s80lab exec`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from s80lab.analysis.groups import read_runs
from s80lab.analysis.sweep import sweep_groups
from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.progress import WAITING, Board, Job, rough
from s80lab.base.shard import by_hash
from s80lab.base.staging import exclusive, staging, tidy
from s80lab.base.strict import short_path
from s80lab.base.terminal import counted, disk_size, say
from s80lab.base.threads import to_its_end
from s80lab.base.version import __version__
from s80lab.commands.changes import Changes
from s80lab.commands.exec import HandedOver, arguments, keep_run, why_ended, write_names
from s80lab.commands.line.compare import SweepArguments
from s80lab.commands.line.measure import RunArguments
from s80lab.commands.numbers import parse_boots, parse_seeds
from s80lab.commands.output import print_json
from s80lab.commands.pipeline import on_board
from s80lab.commands.program_plans import ENGINE, Images, ProgramPlan, images, plans_of
from s80lab.commands.shards import Listed, part, show_list, tell_shard
from s80lab.config.grid import Grid
from s80lab.exec.compare import ExecComparison
from s80lab.exec.folder import ExecRun
from s80lab.exec.image import build_plain, plain_folder
from s80lab.exec.run import execute
from s80lab.exec.shape import FILES, STREAMS, ready
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import Checkpoint
from s80lab.experiment.resources import Cost
from s80lab.guest.command import OUTPUT
from s80lab.guest.process import STDERR
from s80lab.guest.qemu import Qemu, find_qemu
from s80lab.image.build import load_image
from s80lab.report.program import program_text, several_text, sweep_text
from s80lab.report.program_page import program_page
from s80lab.report.sweep import sweep_name, write_sweep
from s80lab.results.conservation import check_snapshots
from s80lab.results.database import insert_run
from s80lab.results.metrics.derive import write_stats
from s80lab.results.products import is_whole, record_products
from s80lab.results.run_folder import MANIFEST, REPORT, SCHEMA, RunFolder

UNKNOWN_S = 60.0
"""Seconds of a run for batch systems, if this lab has not run the program before."""
OWN_MEMORY = 1 << 30
"""Bytes that a run takes beside the guest's memory and the files handed over (docs/guides/exec.md)."""


async def measure(plan: ProgramPlan, built: Images, again: bool, job: Job) -> Path:
    """Run the program unless the run is complete; return the folder of the run, which is complete or absent.

    UserError: the program did not end by itself, or nothing was measured."""
    files, inputs = built.files(plan), built.inputs(plan)
    folder = plan.folder(inputs)
    async with exclusive(paths.runs() / f".{folder.name}.lock", lambda: job.update(WAITING)) as waited:
        if (again and not waited) or not is_whole(folder):
            start = await ready(plan.design.shape, built.qemu, job)
            job.update("run")
            with staging(folder) as partial:
                await record(plan, files, built.qemu, start, inputs, folder.name, partial)
    return folder


async def record(
    plan: ProgramPlan,
    files: HandedOver,
    qemu: Qemu,
    start: Checkpoint,
    inputs: Mapping[str, str],
    run_id: str,
    folder: Path,
    extra: Mapping[str, object] | None = None,
) -> None:
    """Run the program from its checkpoint into the folder. extra: further plugin arguments."""
    request, design = plan.request, plan.design
    points = arguments(request, files, folder) | dict(extra or {})
    with Path(os.devnull).open("wb") as nowhere:
        streams = dict.fromkeys(STREAMS, nowhere)
        ended = await execute(
            *(design.shape, start, qemu, files.image, design.protocol, folder, streams, request.timeout),
            asyncio.Event(),
            points,
        )
    if ended.missing or not ended.complete or not ended.in_time:
        raise UserError(f"{plan.text}: {why_ended(ended, request)}")

    def finish() -> None:
        keep_run(request, design, files.tree, inputs, ended, plan.boot, plan.seed, folder, {})
        run = RunFolder(folder)
        region = run.snapshots.region()
        image = load_image(plain_folder())
        manifest = {
            **{"schema": SCHEMA, "run": run_id, **plan.entries},
            **{"instructions": region.instructions, "simulated_ns": region.clock_ns},
            **{"wall_s": round(ended.wall_s, 2), "mips": round(region.instructions / ended.wall_s / 1e6, 2)},
            **{"inputs": dict(inputs), "checkpoint": start.manifest.name},
            "conservation_checks": check_snapshots(run.snapshots),
            "versions": {
                **{"s80lab": __version__, "qemu": qemu.version, "kernel": image.kernel_version},
                **image.packages,
            },
        }
        run.write_manifest(manifest)
        write_stats(run)
        record_products(run)
        of_exec = ExecRun(folder)
        write_names(of_exec)
        (folder / REPORT).write_text(program_page(of_exec), encoding="utf-8")
        for name in (OUTPUT, STDERR, FILES):
            (folder / name).unlink(missing_ok=True)

    await to_its_end(finish)


def measure_all(
    plans: Sequence[ProgramPlan], built: Images, jobs: int, again: bool = False, enter: bool = True
) -> list[ExecRun]:
    """All runs, as many at once as the host has cores unless `jobs` says otherwise. enter: into the database."""

    async def work(board: Board) -> list[Path]:
        tidy(board.say, paths.runs())
        slots = asyncio.Semaphore(jobs or host.cores())

        async def one(plan: ProgramPlan) -> Path:
            async with slots:
                job = board.job(plan.text)
                folder = await measure(plan, built, again, job)
                job.done(f"complete: {folder.name}")
                return folder

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(plan)) for plan in plans]
        return [task.result() for task in tasks]

    for plan in plans:  # the first mistake is found before the first run
        built.files(plan)
    folders = on_board(work)
    for folder in folders if enter else ():
        insert_run(paths.database(), RunFolder(folder))
    return [ExecRun(folder) for folder in folders]


def run_files(
    files: Sequence[Path], changes: Changes, args: RunArguments | SweepArguments, again: bool, grid: Grid | None = None
) -> None:
    """`s80lab run` and, with a grid, `s80lab sweep`: make the runs, and print what they measured."""
    seeds, boots = parse_seeds(args.seeds), parse_boots(args.boots)
    plans = [plan for file in files for plan in plans_of(file, changes, seeds, boots, grid)]
    with images() as built:
        if args.shard or args.listed:
            _run_shard(plans, built, args, again)
            return
        show(plans, measure_all(plans, built, args.jobs, again), args.as_json)


def report_files(
    files: Sequence[Path], changes: Changes, seeds: Sequence[int], boots: Sequence[int], as_json: bool
) -> None:
    """`s80lab report`: what the existing runs measured."""
    plans = [plan for file in files for plan in plans_of(file, changes, seeds, boots)]
    with images() as built:
        show(plans, existing(plans, built), as_json)


def existing(plans: Sequence[ProgramPlan], built: Images) -> list[ExecRun]:
    """The runs of the plans. UserError if one is not complete."""
    absent = [plan for plan in plans if not built.complete(plan)]
    if absent:
        raise UserError(
            f"{paths.runs()} has no run of {absent[0].text} with the present program and machine: make it with `s80lab "
            "run` (for a comparison: add --run)"
        )
    return [ExecRun(built.folder(plan)) for plan in plans]


def show(plans: Sequence[ProgramPlan], runs: Sequence[ExecRun], as_json: bool) -> None:
    """Print the report of each design; of several designs of one experiment the differences from the first."""
    designs: dict[str, dict[str, list[ExecRun]]] = {}
    pairs = list(zip(plans, runs, strict=True))
    for plan, run in pairs:
        designs.setdefault(plan.experiment, {}).setdefault(plan.label, []).append(run)
    if as_json:
        print_json(
            [
                {
                    "experiment": name,
                    "design": label,
                    "runs": [run.folder.name for run in of_label],
                    "report": of_label[0].report,
                }
                for name, points in designs.items()
                for label, of_label in points.items()
            ]
        )
        return
    for name, points in designs.items():
        (first, runs_of), *others = points.items()
        if others:
            print(
                sweep_text(name, [ExecComparison((first, label), runs_of, of_label) for label, of_label in others]),
                end="",
            )
            page = _sweep_page([(plan, run) for plan, run in pairs if plan.experiment == name])
        else:
            print(program_text(runs_of[0]) + several_text(runs_of), end="")
            page = runs_of[0].folder / REPORT
        print(f"report: {short_path(page)}")


def _sweep_page(pairs: Sequence[tuple[ProgramPlan, ExecRun]]) -> Path:
    """Write the page over all designs of an experiment. A run may be of an earlier sweep with another grid, so the plan
    says where the run is in this one."""
    runs = read_runs([run.folder for _, run in pairs])
    groups = sweep_groups(
        [
            replace(run, manifest={**run.manifest, "varied": plan.varied})
            for run, (plan, _) in zip(runs, pairs, strict=True)
        ]
    )
    return write_sweep(pairs[0][0].experiment, groups, (), paths.results() / "reports" / sweep_name(groups))


def compare_files(
    sides: Sequence[tuple[Path, Changes, str]],
    seeds: Sequence[int],
    boots: Sequence[int],
    run: bool,
    jobs: int,
) -> ExecComparison:
    """The comparison of two designs. sides: file, changes and name of each. run: make missing runs first."""
    plans = [plans_of(file, changes, seeds, boots) for file, changes, _ in sides]
    for (file, _, _), of_side in zip(sides, plans, strict=True):
        if of_side[0].varied:
            raise UserError(
                f"{short_path(file)}: has a [sweep]: compare its designs with `s80lab run {short_path(file)}`"
            )
    with images() as built:
        if run:
            first, second = (measure_all(of_side, built, jobs) for of_side in plans)
        else:
            first, second = (existing(of_side, built) for of_side in plans)
    return ExecComparison((sides[0][2], sides[1][2]), first, second)


def estimate_files(plans: Sequence[ProgramPlan], jobs: int, as_json: bool) -> None:
    """`s80lab estimate`: runs to do, and their time if this lab has run the experiment before."""
    with images() as built:
        to_do = [plan for plan in plans if not built.complete(plan)]
        shapes = {plan.design.shape.wanted(built.qemu).name: plan.design.shape.wanted(built.qemu) for plan in to_do}
    boots = [one for one in shapes.values() if not checkpoint.exists(one.name, one.key)]
    former = [former_runs(plan.experiment) for plan in to_do]
    at_once = max(1, min(jobs or host.cores(), len(to_do)))
    known = all(former)
    seconds = sum(median(wall_s for _, wall_s in of_plan) for of_plan in former) if known else None
    instructions = sum(median(count for count, _ in of_plan) for of_plan in former) if known else None
    if as_json:
        counts = {"complete": len(plans) - len(to_do), "to_do": len(to_do), "boots": len(boots)}
        print_json(counts | {"region_instructions": instructions, "core_seconds": seconds})
        return
    print(f"estimate: {counted(len(to_do), 'run')} to do, {len(plans) - len(to_do)} complete; "
          f"{counted(len(boots), 'boot')}")  # fmt: skip
    if not to_do:
        return
    if seconds is None or instructions is None:
        print("  time          unknown: this lab has not run the program before, and nobody knows its length")
        return
    print(f"  instructions  {instructions / 1e9:.2f} G (medians of {counted(sum(map(len, former)), 'former run')})")
    print(f"  time          about {rough(seconds / at_once)} with {counted(at_once, 'guest')} in parallel")


def former_runs(experiment: str) -> list[tuple[int, float]]:
    """Instructions and seconds of the runs of the experiment in this lab."""
    found = []
    for path in paths.runs().glob(f"{experiment}-*/{MANIFEST}"):
        try:
            manifest = RunFolder(path.parent).manifest
        except UserError:
            continue
        if (manifest["engine"], manifest["experiment"]) == (ENGINE, experiment):
            found.append((int(manifest["instructions"]), float(manifest["wall_s"])))
    return found


def _run_shard(plans: Sequence[ProgramPlan], built: Images, args: RunArguments | SweepArguments, again: bool) -> None:
    chosen = part(args.shard, by_hash(plans, lambda plan: value_hash([plan.experiment, built.inputs(plan)])))
    if args.listed:
        costs = {name: _cost(name) for name in dict.fromkeys(plan.experiment for plan in plans)}
        lines = [
            Listed(hash, plan.text, built.complete(plan), Cost(costs[plan.experiment], _memory(plan)))
            for hash, plan in chosen.items.items()
        ]
        show_list(chosen, lines, args.as_json)
    else:
        runs = measure_all(list(chosen.items.values()), built, args.jobs, again, enter=False)
        tell_shard(chosen, [run.folder for run in runs], args.as_json)


def _cost(experiment: str) -> float:
    former = former_runs(experiment)
    return median(wall_s for _, wall_s in former) if former else UNKNOWN_S


def _memory(plan: ProgramPlan) -> int:
    return plan.design.shape.memory() + OWN_MEMORY


def build_guests(files: Sequence[Path], changes: Changes, jobs: int) -> None:
    """`s80lab checkpoint build`: the booted guests of the experiments."""
    plans = [plan for file in files for plan in plans_of(file, changes)]
    build_plain(lambda text: say(f"s80lab: {text}"))
    qemu = find_qemu()
    shapes = {plan.design.shape.wanted(qemu).key: plan.design.shape for plan in plans}

    async def work(board: Board) -> None:
        slots = asyncio.Semaphore(jobs or host.cores())

        async def one(number: int) -> None:
            shape = list(shapes.values())[number]
            async with slots:
                job = board.job(f"guest {number + 1}")
                built = await ready(shape, qemu, job)
                job.done(f"{built.manifest.name} is complete ({disk_size(built.disk_bytes())})")

        async with asyncio.TaskGroup() as group:
            for number in range(len(shapes)):
                group.create_task(one(number))

    on_board(work)

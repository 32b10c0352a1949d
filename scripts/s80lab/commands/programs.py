# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of programs (config/program.py) under `s80lab run`, `sweep`, `compare`, `capture`, `estimate`, `report`
and `checkpoint build`: plans of runs, and the runs, by the functions of `s80lab exec`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import median

from s80lab.analysis.groups import NO_WORKLOAD, read_runs
from s80lab.analysis.sweep import sweep_groups
from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash, text_hash, value_hash
from s80lab.base.progress import WAITING, Board, Job, rough
from s80lab.base.shard import by_hash
from s80lab.base.staging import exclusive, staging, tidy, working
from s80lab.base.strict import parse_settings, shown
from s80lab.base.terminal import counted, disk_size, say
from s80lab.base.threads import to_its_end
from s80lab.base.version import __version__
from s80lab.capture.store import Form
from s80lab.commands.changes import UNCHANGED, Changes
from s80lab.commands.exec import (
    Design,
    HandedOver,
    arguments,
    design_of,
    hand_over,
    keep_run,
    why_ended,
    write_names,
)
from s80lab.commands.line.programs import Request
from s80lab.commands.output import print_json
from s80lab.commands.parts import on_board
from s80lab.commands.shards import Listed, part, show_list, tell_shard
from s80lab.config.differences import find_differences, slug
from s80lab.config.grid import Grid, check_size
from s80lab.config.machine import load_machine
from s80lab.config.program import Saved, load_saved, saved_file
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
from s80lab.results.database import insert_run
from s80lab.results.identities import check_snapshots
from s80lab.results.metrics.derive import write_stats
from s80lab.results.products import is_whole, record_products
from s80lab.results.run_folder import MANIFEST, REPORT, RunFolder

ENGINE = "exec"
"""The engine in manifests and in the database. It is QEMU with the model, as of `s80lab exec`."""
UNKNOWN_S = 60.0
"""Seconds of a run for batch systems, if this lab has not run the program before."""
OWN_MEMORY = 1 << 30
"""Bytes that a run takes beside the guest's memory and the files handed over (docs/guides/exec.md)."""


@dataclass(frozen=True)
class Plan:
    """One run. varied: its place in a sweep. usual: machine and protocol of the experiment's file."""

    experiment: str
    request: Request
    design: Design
    boot: int
    seed: int
    varied: Mapping[str, str]
    usual: Mapping[str, str]

    @property
    def label(self) -> str:
        """The design, for example `mesi, l2.size 1MiB`; empty for that of the file."""
        return Grid.of_points([self.varied]).label(self.varied)

    @property
    def text(self) -> str:
        """The run in lists and progress lines."""
        point = f" at {self.label}" if self.varied else ""
        return f"{self.experiment}{point}, boot {self.boot}, seed {self.seed}"

    def inputs(self, qemu: Qemu, image: Path) -> dict[str, str]:
        """Hashes of everything that determines the numbers of the run."""
        request, wanted = self.request, self.design.shape.wanted(qemu)
        counted_ = (request.begin, request.end, request.per, request.markers, request.misses, request.heap)
        return {
            **self.design.inputs(qemu, image),
            "ready": wanted.key,
            "machine": text_hash(self.design.shape.machine.resolved()),
            "protocol": file_hash(self.design.protocol),
            "measured": value_hash([*counted_, request.order]),
        }

    @cached_property
    def entries(self) -> dict[str, object]:
        """The entries of the manifest that describe the plan."""
        machine = self.design.shape.machine
        names = {"machine": machine.name, "protocol": self.design.protocol.stem}
        entries: dict[str, object] = {
            **{"experiment": self.experiment, "mix": NO_WORKLOAD, "engine": ENGINE, **names, "image": "plain"},
            **{"server": "-", "workload": "-", "scale": "-", "seed": self.seed, "boot": self.boot, "status": "whole"},
            **{"program": list(self.request.words), "design": machine.design()},
            **({"varied": dict(self.varied)} if self.varied else {}),
        }
        changed = {key: value for key, value in names.items() if value != self.usual[key]}
        return entries | {"differences": changed | find_differences(entries, machine.guest.model_dump())}

    def folder(self, inputs: Mapping[str, str]) -> Path:
        """The folder of the run. Its name contains what differs from the file, and a hash of all inputs."""
        differences = self.entries["differences"]
        assert isinstance(differences, dict)
        numbers = f"b{self.boot}-s{self.seed}-{value_hash(dict(inputs))[:8]}"
        return paths.runs() / f"{self.experiment}{slug(differences)}-{numbers}"


@dataclass
class Images:
    """The files of the programs of some plans, written once for each experiment and seed into a temporary folder."""

    place: Path
    qemu: Qemu = field(default_factory=find_qemu)
    _found: dict[tuple[str, int], HandedOver] = field(default_factory=dict)

    def files(self, plan: Plan) -> HandedOver:
        """The files that are handed over. UserError: the program or a file of it is missing."""
        key = plan.experiment, plan.seed
        if key not in self._found:
            stdin = plan.request.stdin
            if stdin is not None and not stdin.is_file():
                raise UserError(f"{plan.experiment}: the file {stdin} for stdin does not exist: correct its path")
            folder = self.place / f"{plan.experiment}-{plan.seed}"
            folder.mkdir()
            self._found[key] = hand_over(plan.request, plan.seed, stdin, folder)
        return self._found[key]

    def inputs(self, plan: Plan) -> dict[str, str]:
        return plan.inputs(self.qemu, self.files(plan).image)

    def folder(self, plan: Plan) -> Path:
        return plan.folder(self.inputs(plan))

    def complete(self, plan: Plan) -> bool:
        return is_whole(self.folder(plan))


@contextmanager
def images() -> Iterator[Images]:
    """The guest's image is built first if it is missing."""
    build_plain(lambda text: say(f"s80lab: {text}"))
    paths.runs().mkdir(parents=True, exist_ok=True)
    with working(paths.runs()) as place:
        yield Images(place)


def saved_files(names: Sequence[str]) -> list[Path]:
    """The files of experiments of programs with these names or paths; none if the names are those of other experiments.
    UserError for both kinds together, and for a path that leads to no such file."""
    found = {name: saved_file(name) for name in dict.fromkeys(names)}
    files = [path for path in found.values() if path is not None]
    if lost := next((name for name, path in found.items() if path is None and name.endswith(".toml")), None):
        raise UserError(f"{lost}: is not an experiment of a program, such as `s80lab exec --save {lost}` writes")
    if files and len(files) < len(found):
        other = next(name for name, path in found.items() if path is None)
        raise UserError(f"{shown(files[0])} is a program and {other} is not: give one command for each")
    return files


def refuse(options: Mapping[str, object]) -> None:
    """UserError if an option is given that the experiment of a program does not have."""
    if given := next((name for name, value in options.items() if value), None):
        raise UserError(f"{given} does not apply to a program (a file of `s80lab exec --save`): omit it")


def plans_of(
    file: Path,
    changes: Changes = UNCHANGED,
    seeds: Sequence[int] = (),
    boots: Sequence[int] = (),
    grid: Grid | None = None,
) -> list[Plan]:
    """The plans of all runs: each point of the grid (default: the file's sweep) from each boot with each seed.

    UserError names the first mistake in the file or the options."""
    refuse({"--server": changes.server, "--image": changes.image})
    saved = load_saved(file)
    grid = grid or Grid.of_sweep(saved.sweep)
    seeds, boots = seeds or saved.seeds, boots or saved.boots
    check_size(grid.size, "run", len(boots), len(seeds))
    usual = {"machine": load_machine(saved.machine).name}
    usual["protocol"] = Path(saved.protocol or load_machine(saved.machine).protocol).stem
    return [
        Plan(file.stem, request, design_of(request, boot), boot, seed, point, usual)
        for point in grid.points()
        for request in (_request(file.stem, saved, changes, point),)
        for boot in boots
        for seed in seeds
    ]


def _request(name: str, saved: Saved, changes: Changes, point: Mapping[str, str]) -> Request:
    """The request of `s80lab exec` at a point. Options of the command override the file, and a point overrides both."""
    varied = parse_settings((f"{key}={value}" for key, value in point.items() if key not in _NAMES), source="[sweep]")
    settings = {**saved.settings, **parse_settings(changes.settings), **varied}
    texts = [f"{key}={json.dumps(value) if isinstance(value, bool) else value}" for key, value in settings.items()]
    program = {key: getattr(saved.program, key) for key in type(saved.program).model_fields}
    return Request(
        **program,
        machine=point.get("machine") or changes.machine or saved.machine,
        protocol=point.get("protocol") or changes.protocol or saved.protocol,
        settings=texts,
        name=name,
    )


_NAMES = ("machine", "protocol")
"""Keys of a sweep that are not keys of the machine."""


async def measure(plan: Plan, of: Images, again: bool, job: Job) -> Path:
    """Run the program unless the run is complete; return the folder of the run, which is complete or absent.

    UserError: the program did not end by itself, or nothing was measured."""
    files, inputs = of.files(plan), of.inputs(plan)
    folder = plan.folder(inputs)
    async with exclusive(paths.runs() / f".{folder.name}.lock", lambda: job.update(WAITING)) as waited:
        if (again and not waited) or not is_whole(folder):
            start = await ready(plan.design.shape, of.qemu, job)
            job.update("run")
            with staging(folder) as partial:
                await record(plan, files, of.qemu, start, inputs, folder.name, partial)
    return folder


async def record(
    plan: Plan,
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
            **{"schema": 1, "run": run_id, **plan.entries},
            **{"instructions": region.instructions, "modelled_ns": region.clock_ns},
            **{"wall_s": round(ended.wall_s, 2), "mips": round(region.instructions / ended.wall_s / 1e6, 2)},
            **{"inputs": dict(inputs), "checkpoint": start.manifest.name},
            "identities": check_snapshots(run.snapshots),
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


def measure_all(plans: Sequence[Plan], of: Images, jobs: int, again: bool = False, enter: bool = True) -> list[ExecRun]:
    """All runs, as many at once as the host has cores unless `jobs` says otherwise. enter: into the database."""

    async def work(board: Board) -> list[Path]:
        tidy(board.say, paths.runs())
        slots = asyncio.Semaphore(jobs or host.cores())

        async def one(plan: Plan) -> Path:
            async with slots:
                job = board.job(plan.text)
                folder = await measure(plan, of, again, job)
                job.done(f"complete: {folder.name}")
                return folder

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(plan)) for plan in plans]
        return [task.result() for task in tasks]

    for plan in plans:  # the first mistake is found before the first run
        of.files(plan)
    folders = on_board(work)
    for folder in folders if enter else ():
        insert_run(paths.database(), RunFolder(folder))
    return [ExecRun(folder) for folder in folders]


def run_files(
    files: Sequence[Path],
    changes: Changes,
    seeds: Sequence[int],
    boots: Sequence[int],
    jobs: int,
    again: bool,
    shard: str | None,
    listed: bool,
    as_json: bool,
    grid: Grid | None = None,
) -> None:
    """`s80lab run` and, with a grid, `s80lab sweep`: make the runs, and print what they measured."""
    plans = [plan for file in files for plan in plans_of(file, changes, seeds, boots, grid)]
    with images() as of:
        if shard or listed:
            _run_shard(plans, of, shard, listed, jobs, again, as_json)
            return
        show(plans, measure_all(plans, of, jobs, again), as_json)


def report_files(
    files: Sequence[Path], changes: Changes, seeds: Sequence[int], boots: Sequence[int], as_json: bool
) -> None:
    """`s80lab report`: what the existing runs measured."""
    plans = [plan for file in files for plan in plans_of(file, changes, seeds, boots)]
    with images() as of:
        show(plans, existing(plans, of), as_json)


def existing(plans: Sequence[Plan], of: Images) -> list[ExecRun]:
    """The runs of the plans. UserError if one is not complete."""
    absent = [plan for plan in plans if not of.complete(plan)]
    if absent:
        raise UserError(
            f"{paths.runs()} has no run of {absent[0].text} with the present program and machine: make it with `s80lab "
            "run` (for a comparison: add --run)"
        )
    return [ExecRun(of.folder(plan)) for plan in plans]


def show(plans: Sequence[Plan], runs: Sequence[ExecRun], as_json: bool) -> None:
    """Print the report of each design; of several designs of one experiment the differences from the first."""
    designs: dict[str, dict[str, list[ExecRun]]] = {}
    pairs = list(zip(plans, runs, strict=True))
    for plan, run in pairs:
        designs.setdefault(plan.experiment, {}).setdefault(plan.label, []).append(run)
    if as_json:
        print_json(
            [
                {"experiment": name, "design": label, "runs": [run.folder.name for run in of], "report": of[0].report}
                for name, points in designs.items()
                for label, of in points.items()
            ]
        )
        return
    for name, points in designs.items():
        (first, runs_of), *others = points.items()
        if others:
            print(sweep_text(name, [ExecComparison((first, label), runs_of, of) for label, of in others]), end="")
            page = _sweep_page([(plan, run) for plan, run in pairs if plan.experiment == name])
        else:
            print(program_text(runs_of[0]) + several_text(runs_of), end="")
            page = runs_of[0].folder / REPORT
        print(f"report: {shown(page)}")


def _sweep_page(pairs: Sequence[tuple[Plan, ExecRun]]) -> Path:
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
            raise UserError(f"{shown(file)}: has a [sweep]: compare its designs with `s80lab run {shown(file)}`")
    with images() as of:
        if run:
            first, second = (measure_all(of_side, of, jobs) for of_side in plans)
        else:
            first, second = (existing(of_side, of) for of_side in plans)
    return ExecComparison((sides[0][2], sides[1][2]), first, second)


def estimate_files(plans: Sequence[Plan], jobs: int, as_json: bool) -> None:
    """`s80lab estimate`: runs to do, and their time if this lab has run the experiment before."""
    with images() as of:
        to_do = [plan for plan in plans if not of.complete(plan)]
        shapes = {plan.design.shape.wanted(of.qemu).name: plan.design.shape.wanted(of.qemu) for plan in to_do}
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


def _run_shard(
    plans: Sequence[Plan], of: Images, shard: str | None, listed: bool, jobs: int, again: bool, as_json: bool
) -> None:
    chosen = part(shard, by_hash(plans, lambda plan: value_hash([plan.experiment, of.inputs(plan)])))
    if listed:
        costs = {name: _cost(name) for name in dict.fromkeys(plan.experiment for plan in plans)}
        lines = [
            Listed(hash, plan.text, of.complete(plan), Cost(costs[plan.experiment], _memory(plan)))
            for hash, plan in chosen.items.items()
        ]
        show_list(chosen, lines, as_json)
    else:
        runs = measure_all(list(chosen.items.values()), of, jobs, again, enter=False)
        tell_shard(chosen, [run.folder for run in runs], as_json)


def _cost(experiment: str) -> float:
    former = former_runs(experiment)
    return median(wall_s for _, wall_s in former) if former else UNKNOWN_S


def _memory(plan: Plan) -> int:
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


@dataclass(frozen=True)
class Recording:
    """A capture of a program's run, from the restored guest to the end of its region (capture/live.py)."""

    plan: Plan
    forms: tuple[Form, ...]
    files: HandedOver
    run_inputs: Mapping[str, str]
    qemu: Qemu
    start: Checkpoint
    skip: int = 0

    @property
    def experiment(self) -> str:
        return self.plan.experiment

    @property
    def scale(self) -> str:
        return "-"

    @property
    def seed(self) -> int:
        return self.plan.seed

    @property
    def measure(self) -> int:
        """Instructions of the region in former runs; 0 if there are none."""
        former = former_runs(self.plan.experiment)
        return int(median(count for count, _ in former)) if former else 0

    @property
    def inputs(self) -> dict[str, str]:
        return {**self.run_inputs, "start": self.start.manifest.content, "capture": value_hash(list(self.forms))}

    @property
    def name(self) -> str:
        forms = "both" if len(self.forms) > 1 else self.forms[0]
        return f"{self.experiment}-b{self.plan.boot}-s{self.seed}-{forms}-{value_hash(self.inputs)[:8]}"

    def origin(self) -> str:
        """The origin for the capture's header, as JSON."""
        image = load_image(plain_folder())
        versions = {"s80lab": __version__, "qemu": self.qemu.version, "kernel": image.kernel_version}
        content = {
            **{"capture": self.name, "experiment": self.experiment, "mix": NO_WORKLOAD, "workload": "-"},
            **{"image": "plain", "server": "-", "scale": "-", "seed": self.seed, "start": "ready"},
            **{"program": list(self.plan.request.words), "inputs": self.inputs, "versions": versions},
        }
        return json.dumps(content, sort_keys=True)

    async def record(self, folder: Path, job: Job, extra: Mapping[str, object]) -> None:
        job.update("run")
        await record(self.plan, self.files, self.qemu, self.start, self.inputs, self.name, folder, extra)
        parts = ExecRun(folder).parts
        if parts != 1:
            raise UserError(f"{self.plan.text}: the region began {parts} times, and a capture has one: omit --from")

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab capture` and `s80lab captures list|verify|prune`."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

from s80lab.analysis.groups import NO_WORKLOAD
from s80lab.base.errors import UserError
from s80lab.base.files import whole
from s80lab.base.hashing import value_hash
from s80lab.base.progress import Board, Job, Tally, about, instructions_text
from s80lab.base.terminal import disk_size, plain, say
from s80lab.base.version import __version__
from s80lab.capture.error import ANY_SHARE
from s80lab.capture.live import Recipe, capture_s, lengths, make
from s80lab.capture.store import STORE, SUFFIX, Form, Manifest, Totals
from s80lab.commands.changes import Changes
from s80lab.commands.exec import HandedOver
from s80lab.commands.line.explore import CaptureArguments
from s80lab.commands.numbers import one_seed
from s80lab.commands.pipeline import make_plans, on_board, run_pipeline
from s80lab.commands.program_plans import ProgramPlan, images, plans_of, refuse, saved_files
from s80lab.commands.programs import former_runs, record
from s80lab.exec.folder import ExecRun
from s80lab.exec.image import plain_folder
from s80lab.exec.shape import ready
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import Checkpoint
from s80lab.experiment.plan import Plan
from s80lab.guest.qemu import Qemu
from s80lab.image.build import load_image
from s80lab.report.write import write_pages
from s80lab.results.run_folder import REPORT, RunFolder


def capture(args: CaptureArguments) -> None:
    """Record the memory accesses of a live run, for `s80lab replay` and `s80lab explore`."""
    forms: tuple[Form, ...] = ("filtered", "full") if args.form == "both" else (args.form,)
    if args.out is not None and len(forms) > 1:
        raise UserError(
            f"--out {args.out}: --form both makes two files, but --out names one: omit --out and take both files "
            "from captures/"
        )
    changes = Changes(args.machine, args.protocol, args.server, args.image, tuple(args.settings or ()))
    if files := saved_files([args.experiment]):
        refuse(
            {
                "--instructions": args.instructions,
                "--warm-up": args.warm_up,
                "--scale": args.scale,
                "--start warm": args.start == "warm",
            }
        )
        _tell(*_capture_program(files[0], changes, forms, one_seed(args.seed), args.again), forms, args.out)
        return
    stage = args.start or ("warm" if forms == ("full",) else "ready")
    plan, *_ = make_plans([args.experiment], changes.options(args.scale, one_seed(args.seed)))
    if plan.dma:
        raise UserError(
            "scale.disk.dma = true: a capture cannot record the memory accesses of disks; add --set "
            "scale.disk.dma=false"
        )
    run_pipeline([plan], 1, False, stage)
    skip, measure = lengths(plan.phases, stage, forms, args.instructions, args.warm_up)
    recipe = Recipe(plan, forms, _start(plan, stage), skip, measure)

    async def work(board: Board) -> Manifest:
        cost = capture_s(recipe)
        tally = Tally(board, "captures", [cost])
        job = board.job(f"{plan.name} seed {plan.seed}")
        with tally.piece(cost):
            made = await make(recipe, asyncio.Semaphore(1), job, args.again)
        job.drop()
        return made

    _tell(on_board(work), "", forms, args.out)


def _capture_program(
    file: Path, changes: Changes, forms: tuple[Form, ...], seeds: list[int], again: bool
) -> tuple[Manifest, str]:
    """Record the first run of a program's experiment."""
    plan, *others = plans_of(file, changes, seeds)
    if plan.varied:
        raise UserError(f"{file}: has a [sweep], and a capture has one design: omit the sweep")
    with images() as found:
        files, inputs = found.files(plan), found.inputs(plan)

        async def work(board: Board) -> Manifest:
            job = board.job(plan.text)
            guest = await ready(plan.design.shape, found.qemu, job)
            recording = Recording(plan, forms, files, inputs, found.qemu, guest)
            made = await make(recording, asyncio.Semaphore(1), job, again)
            job.drop()
            return made

        return on_board(work), "" if not others else f"the run from boot {plan.boot} with seed {plan.seed}"


def _tell(made: Manifest, which: str, forms: tuple[Form, ...], out: Path | None) -> None:
    """Print what was recorded, and copy the file to --out. which: the run, if the experiment has several."""
    folder = STORE.folder(made.name)
    run = write_pages(RunFolder(folder))
    say(f"capture: {made.name}{f' ({which})' if which else ''}", sys.stdout)
    for one, totals in made.forms.items():
        say(f"{one}: {_totals(totals)}", sys.stdout)
    say(f"live run: {made.live_mips:.0f} MIPS while recording; report: {folder / REPORT}", sys.stdout)
    validity = f"invalid: {'; '.join(run.reasons)}" if run.reasons else "valid"
    say(f"recorded region: {validity}", sys.stdout)
    say(f"next: `s80lab explore {made.name} --vary protocol=msi,mesi,moesi`", sys.stdout)
    if out is not None:
        _put(STORE.folder(made.name) / f"{forms[0]}{SUFFIX}", out)


def _start(plan: Plan, stage: Literal["ready", "warm"]) -> Checkpoint:
    names = {"ready": (plan.keys.ready.name, plan.keys.ready.key), "warm": (plan.keys.warm.name, plan.keys.warm.key)}
    found = checkpoint.find(*names[stage])
    assert found is not None  # built a moment ago
    return found


def _totals(totals: Totals) -> str:
    """Size, density, and the difference between the capture's own replay and the live run."""
    replay_time = about(totals.instructions / totals.replay_mips / 1e6)
    facts = [
        f"{disk_size(totals.bytes)} for {instructions_text(totals.instructions)}",
        f"{totals.events / totals.instructions * 1e3:.1f} M events per G instructions, {totals.bytes_per_access:.2f} "
        "bytes per access of the guest",
        f"replays at {totals.replay_mips:.0f} MIPS in {replay_time}",
    ]
    if totals.identical:
        facts.append("the replay equals the live run byte for byte")
    else:
        points = totals.differences[ANY_SHARE]
        facts.append(
            "every share of the replay is within " + ("-" if points is None else f"{points:.2f} points of the live run")
        )
    return "; ".join(facts)


def _put(source: Path, target: Path) -> None:
    with whole(target) as partial:
        shutil.copyfile(source, partial)
    print(plain(f"copied to {target}"))


@dataclass(frozen=True)
class Recording:
    """A capture of a program's run, from the restored guest to the end of its region (capture/live.py)."""

    plan: ProgramPlan
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
            **{"capture": self.name, "experiment": self.experiment, "workload": NO_WORKLOAD},
            **{"image": "plain", "server": "-", "scale": "-", "seed": self.seed, "start": "ready"},
            **{"program": list(self.plan.request.words), "inputs": self.inputs, "versions": versions},
        }
        return json.dumps(content, sort_keys=True)

    async def record(self, folder: Path, job: Job, extra: Mapping[str, object]) -> None:
        job.update("run")
        await record(self.plan, self.files, self.qemu, self.start, self.inputs, self.name, folder, extra)
        parts = ExecRun(folder).region_count
        if parts != 1:
            raise UserError(f"{self.plan.text}: the region began {parts} times, and a capture has one: omit --from")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of programs (config/program.py): plans of runs by points of a sweep, boots and seeds, with what
determines their results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from s80lab.analysis.groups import NO_WORKLOAD
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash, text_hash, value_hash
from s80lab.base.staging import working
from s80lab.base.strict import parse_settings, short_path
from s80lab.base.terminal import say
from s80lab.commands.changes import UNCHANGED, Changes
from s80lab.commands.exec import Design, HandedOver, design_of, hand_over
from s80lab.commands.line.programs import Request
from s80lab.config.differences import find_differences, slug
from s80lab.config.grid import Grid, check_size
from s80lab.config.machine import load_machine
from s80lab.config.program import Saved, load_saved, saved_file
from s80lab.exec.image import build_plain
from s80lab.guest.qemu import Qemu, find_qemu
from s80lab.results.products import is_whole

ENGINE = "exec"
"""The engine in manifests and in the database. It is QEMU with the model, as of `s80lab exec`."""


@dataclass(frozen=True)
class ProgramPlan:
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
            **{"experiment": self.experiment, "engine": ENGINE, **names, "image": "plain"},
            **{
                "server": "-",
                "workload": NO_WORKLOAD,
                "scale": "-",
                "seed": self.seed,
                "boot": self.boot,
                "status": "whole",
            },
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

    def files(self, plan: ProgramPlan) -> HandedOver:
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

    def inputs(self, plan: ProgramPlan) -> dict[str, str]:
        return plan.inputs(self.qemu, self.files(plan).image)

    def folder(self, plan: ProgramPlan) -> Path:
        return plan.folder(self.inputs(plan))

    def complete(self, plan: ProgramPlan) -> bool:
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
        raise UserError(f"{short_path(files[0])} is a program and {other} is not: give one command for each")
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
) -> list[ProgramPlan]:
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
        ProgramPlan(file.stem, request, design_of(request, boot), boot, seed, point, usual)
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

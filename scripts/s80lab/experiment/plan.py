# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans: resolved experiments, with all files read, all inputs hashed, and the keys of checkpoints and runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from s80lab.analysis.sweep import check_shown
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash, text_hash, value_hash
from s80lab.base.programs import built
from s80lab.base.strict import find, find_or_file, parse_settings, short_path
from s80lab.config.differences import GUEST, differences, guest_differences
from s80lab.config.experiment import (
    OF_EXPERIMENT,
    OF_PHASES,
    OF_SCALE,
    OF_WORKLOAD,
    SIZES,
    Experiment,
    Phases,
    Scale,
    load_experiment,
    load_scale,
)
from s80lab.config.grid import Grid, check_size
from s80lab.config.machine import Machine, load_guest_machine, load_machine, with_inclusion
from s80lab.config.mix import Workload
from s80lab.config.server import Server, load_server
from s80lab.config.workload import job_text, load_workload, login_job_text
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import Keys, Wanted
from s80lab.guest.command import Boot, guest_options
from s80lab.guest.qemu import Qemu
from s80lab.image.build import ImageManifest, image_folder, load_image
from s80lab.protocol.fit import check_fit
from s80lab.protocol.proof import ensure_proven

Until = Literal["ready", "warm", "run"]


@dataclass(frozen=True)
class Options:
    """Options of the command line that override an experiment's file. None and empty values change nothing.

    boots: numbers of boots. Each seed is run from each of these boots; without numbers, from boot 1 if there are seeds,
        else from the boots of the experiment's file.
    """

    machine: str | None = None
    protocol: str | None = None
    scale: str | None = None
    seeds: Sequence[int] = ()
    settings: Mapping[str, object] | None = None
    misses: bool = False
    profile: bool = False
    server: str | None = None
    image: str | None = None
    boots: Sequence[int] = ()

    def overrides(self) -> dict[str, object]:
        chosen = {
            "machine": self.machine,
            "server": self.server,
            "image": self.image,
            "scale": self.scale,
            "seeds": list(self.seeds),
        }
        return {key: value for key, value in chosen.items() if value}


@dataclass(frozen=True)
class SeedPlan(ABC):
    """The plan of one seed of an experiment, as far as it is common to all engines.

    The seed determines all random draws of the clients from the first transaction on. So each seed has its own warm-up
    and its own warm checkpoint, but all seeds of a plan share the ready checkpoint and with it the boot.
    """

    engine: ClassVar[str]

    name: str
    seed: int
    experiment: Experiment
    scale_name: str
    scale: Scale
    machine: Machine
    image: Path
    image_manifest: ImageManifest
    varied: Mapping[str, str]  # its place in the experiment's sweep

    @property
    def label(self) -> str:
        """The point of the sweep, for example `l2.size 1MiB, ruby.probe_filter 0`; empty without a sweep."""
        return Grid.of_points([self.varied]).label(self.varied)

    @property
    @abstractmethod
    def protocol_name(self) -> str: ...

    @property
    @abstractmethod
    def design(self) -> dict[str, object]:
        """All values of the modelled machine and scale, by dotted keys."""

    @property
    @abstractmethod
    def keys(self) -> Keys:
        """What identifies its checkpoints and its run."""

    @property
    def clients(self) -> int:
        return self.experiment.clients or self.scale.users

    def login_job(self) -> str:
        return login_job_text(self.experiment.workload, self.clients, self.scale.users)


P = TypeVar("P", bound=SeedPlan)


def missing_ready(plans: Sequence[P], until: Until = "run") -> dict[str, P]:
    """The ready checkpoints that must be built for these plans, by name, each with a plan that needs it.

    Only a warm-up reads a ready checkpoint. A plan with a warm checkpoint needs none, except `until` the stage ready.
    """
    reading = plans if until == "ready" else missing_warm(plans).values()
    return {
        plan.keys.ready.name: plan
        for plan in reading
        if not checkpoint.exists(plan.keys.ready.name, plan.keys.ready.key)
    }


def missing_warm(plans: Sequence[P]) -> dict[str, P]:
    """The warm checkpoints that must be built for these plans, by name, each with a plan that needs it."""
    return {
        plan.keys.warm.name: plan for plan in plans if not checkpoint.exists(plan.keys.warm.name, plan.keys.warm.key)
    }


def missing(plans: Sequence[P], until: Until = "run") -> dict[str, P]:
    """All checkpoints that must be built to take these plans to a stage, by name, each with a plan that needs it."""
    return missing_ready(plans, until) | ({} if until == "ready" else missing_warm(plans))


@dataclass(frozen=True)
class Plan(SeedPlan):
    """The plan of one seed under QEMU."""

    engine: ClassVar[str] = "qemu"

    phases: Phases
    protocol: Path
    server: Server
    workload: Workload
    changed: Mapping[str, object]  # of its profile and of the scale, by dotted keys
    qemu: Qemu
    plugin: Path
    misses: bool = False  # log its misses by name, which changes no number of the run
    profile: bool = False  # sample which code runs: the same
    boot_number: int = 1

    @property
    def protocol_name(self) -> str:
        return self.protocol.stem

    @property
    def design(self) -> dict[str, object]:
        return _design(self.machine, self.scale, self.changed)

    @property
    def dma(self) -> bool:
        """Whether the guest has disks with DMA."""
        return self.scale.disks is not None and self.scale.disks.dma

    @cached_property
    def boot(self) -> Boot:
        kernel, initramfs = self.image / "vmlinuz", self.image / "initramfs.cpio"
        return Boot(self.machine, self.scale, kernel, initramfs, self.boot_number)

    @property
    def numbers(self) -> str:
        """Seed and boot for progress lines and lists: `seed 1`, or `boot 2, seed 1` of another boot than the first."""
        return f"boot {self.boot_number}, seed {self.seed}" if self.boot_number > 1 else f"seed {self.seed}"

    @property
    def clients(self) -> int:
        return self.phases.clients or super().clients

    def login_job(self) -> str:
        return login_job_text(self.workload, self.clients, self.scale.users)

    def job(self) -> str:
        """The job file for the guest's load generator."""
        return job_text(
            self.workload,
            clients=self.clients,
            users=self.scale.users,
            seed=self.seed,
            think_ms=self.phases.think_ms,
            think=self.phases.think,
            clock_shift=self.machine.clock_shift,
        )

    @cached_property
    def keys(self) -> Keys:
        ready = Wanted.from_inputs(
            "ready",
            f"ready-{self.scale_name}",
            {
                "kernel": self.image_manifest.vmlinuz_sha256,
                "initramfs": self.image_manifest.initramfs_sha256,
                "qemu": self.qemu.binary_hash,
                "guest_options": value_hash(guest_options(self.boot)),
                "login_job": text_hash(self.login_job()),
            },
        )
        warm = Wanted.from_inputs(
            "warm",
            f"warm-{self.name}-{self.scale_name}-s{self.seed}",
            {
                **ready.inputs,
                "ready": ready.key,
                "plugin": file_hash(self.plugin),
                "machine": text_hash(self.machine.resolved()),
                "protocol": file_hash(self.protocol),
                "classes": text_hash(self.server.classes()),
                "job": text_hash(self.job()),
                "warmup_lengths": self._lengths("warmup_min", "warmup_max", "drift_points", "sampling_interval"),
                **({"dma": "1"} if self.dma else {}),
            },
        )
        return Keys(ready, warm, {"run_lengths": self._lengths("skip", "measure", "measure_cycles")})

    def _lengths(self, *names: str) -> str:
        return value_hash({name: getattr(self.phases, name) for name in names})


def plan(name: str, options: Options, qemu: Qemu) -> Plan:
    """The plan of an experiment's first seed. UserError names the first mistake or missing file."""
    return planner(name, options)(qemu)[0]


def planner(name: str, options: Options) -> Callable[[Qemu], list[Plan]]:
    """Resolve an experiment, except for QEMU and the images; the returned function takes QEMU and makes the plans.

    So UserError names the first mistake in the experiment or the options before QEMU or images are built.
    """
    experiment = read_experiment(name, options)
    for key in ("protocol", "image", "server"):
        if key in experiment.sweep and getattr(options, key):
            raise UserError(f"experiment {name} sweeps `{key}`: omit --{key}, or change [sweep] in its file")
    built(paths.PLUGIN)
    grid = Grid.of_sweep(experiment.sweep)
    boots = options.boots or ((1,) if options.seeds else experiment.boots)
    check_size(grid.size, "run", len(boots), len(experiment.seeds))
    points = [
        (point, at, _modelled(at, options, point), _server(at), image_folder(at.image, at.server))
        for point in grid.points()
        for at in (experiment.at_point(point),)
    ]
    for _, _, modelled, _, _ in points:
        ensure_proven(modelled.protocol)
    return lambda qemu: [
        Plan(
            name=name,
            experiment=at,
            phases=at.phases[at.scale],
            scale_name=at.scale,
            scale=modelled.scale,
            machine=modelled.machine,
            protocol=modelled.protocol,
            server=server,
            workload=modelled.workload,
            changed=modelled.changed,
            image=image,
            image_manifest=load_image(image),
            varied=point,
            qemu=qemu,
            plugin=paths.PLUGIN,
            seed=seed,
            misses=options.misses,
            profile=options.profile,
            boot_number=boot,
        )
        for point, at, modelled, server, image in points
        for boot in boots
        for seed in experiment.seeds
    ]


def read_experiment(name: str, options: Options) -> Experiment:
    """Read an experiment with the options of the command line. UserError names the first mistake, also in `show`."""
    experiment = load_experiment(name, options.overrides())
    check_shown(experiment, short_path(find("experiment", paths.EXPERIMENTS, name)))
    return experiment


def check_points(experiment: Experiment) -> None:
    """UserError for the first point of the sweep that cannot be modelled, or whose server cannot serve the workload."""
    for point in Grid.of_sweep(experiment.sweep).points():
        at = experiment.at_point(point)
        modelled = _modelled(at, Options(), point)
        _server(at)
        login_job_text(
            modelled.workload, at.phases[at.scale].clients or at.clients or modelled.scale.users, modelled.scale.users
        )


def _server(experiment: Experiment) -> Server:
    """The experiment's server. UserError if the server cannot serve the workload."""
    server, speaks = load_server(experiment.server), load_workload(experiment.workload).speaks
    if not set(speaks) <= set(server.serves):
        raise UserError(
            f"workload {experiment.workload} needs a server for {' and '.join(speaks)}, but {server.name} serves "
            f"{' and '.join(server.serves)}: choose another server with --server"
        )
    return server


@dataclass(frozen=True)
class _Modelled:
    """What is modelled at one point of a sweep. machine: with the point's protocol; changed: as in Plan."""

    scale: Scale
    machine: Machine
    protocol: Path
    workload: Workload
    changed: Mapping[str, object]


@dataclass(frozen=True)
class Designed:
    """What the runs at one point of an experiment's sweep have in common.

    design: the values of the modelled machine and scale. guest: what differs from the table [guest] of the machine's
    file, which a design does not have; ablations change it.
    """

    point: Mapping[str, str]
    design: dict[str, object]
    guest: Mapping[str, str]

    def has(self, manifest: Mapping[str, Any]) -> bool:
        """Whether a run is of this design and guest."""
        changed = {key: value for key, value in differences(manifest).items() if key.startswith(GUEST)}
        return manifest["design"] == self.design and changed == self.guest


def designs(name: str, options: Options) -> list[Designed]:
    """The points of an experiment's sweep, each with the design of its plans."""
    experiment = read_experiment(name, options)
    points = Grid.of_sweep(experiment.sweep).points()
    return [
        Designed(
            point,
            _design(modelled.machine, modelled.scale, modelled.changed),
            guest_differences(modelled.machine.name, modelled.machine.guest.model_dump()),
        )
        for point in points
        for modelled in (_modelled(experiment.at_point(point), options, point),)
    ]


def _design(machine: Machine, scale: Scale, changed: Mapping[str, object]) -> dict[str, object]:
    return machine.design() | scale.design() | dict(changed)


def _modelled(experiment: Experiment, options: Options, point: Mapping[str, str]) -> _Modelled:
    of_files = [f"{key}={value}" for key, value in point.items() if key not in (*OF_PHASES, *OF_EXPERIMENT)]
    settings = {**(options.settings or {}), **parse_settings(of_files, "[sweep] ")}
    of_scale, settings = _parted(OF_SCALE, settings)
    of_workload, settings = _parted(OF_WORKLOAD, settings)
    workload = load_workload(experiment.workload, of_workload)
    scale = load_scale(experiment.scale, of_scale)
    named = options.protocol or experiment.protocol or load_machine(experiment.machine, settings).protocol
    protocol = find_or_file("protocol", paths.PROTOCOLS, named)
    machine = load_guest_machine(experiment.machine, with_inclusion(protocol, settings))
    machine = machine.model_copy(update={"protocol": protocol.stem})
    check_fit(machine, protocol)
    sizes = {f"{OF_SCALE}{key}": getattr(scale, key) for key in SIZES if key in of_scale}
    of_profile = {f"{OF_WORKLOAD}{key}": value for key, value in of_workload.items()}
    return _Modelled(scale, machine, protocol, workload, sizes | of_profile)


def _parted(prefix: str, settings: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """The settings whose keys begin with a prefix, without the prefix; and all other settings."""
    own = {key.removeprefix(prefix): value for key, value in settings.items() if key.startswith(prefix)}
    return own, {key: value for key, value in settings.items() if not key.startswith(prefix)}

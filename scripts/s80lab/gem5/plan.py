# SPDX-License-Identifier: GPL-2.0-or-later
"""Resolves an experiment for gem5: finds and reads every file, hashes every input, and forms the keys of checkpoints
and runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash, text_hash, value_hash
from s80lab.base.strict import resolve
from s80lab.base.suggest import hint
from s80lab.config.experiment import (
    OF_SCALE,
    Experiment,
    Gem5Part,
    Gem5Phases,
    RubyPart,
    load_scale,
)
from s80lab.config.grid import Grid
from s80lab.config.machine import Machine, load_machine
from s80lab.config.server import load_server
from s80lab.config.workload import job_text
from s80lab.experiment.checkpoint import Keys, Wanted
from s80lab.experiment.plan import Options, SeedPlan, read_experiment
from s80lab.gem5.binary import find_gem5
from s80lab.image.build import image_folder, load_image

CONFIGS = paths.ROOT / "configs" / "gem5"
# What decides the state of a guest without caches; the caches are not among it.
BOOT_SCRIPTS = ("board.py", "bare.py", "mail_server.py", "segment.py", "steps.py")
RUN_SCRIPTS = ("hammer.py", "hierarchy.py", "machine_file.py", "region.py", "release.py", "calls.py", "facts.py")
PROTOCOL = "hammer"
TIMER_HZ = 250
"""Debian's CONFIG_HZ."""
ENDLESS_S = 1_000_000
"""The length of the region in the job. It is never reached: the simulation's script ends the region."""
LARGEST = 3 << 30
PROBE_FILTER_WAYS = 4
"""As in gem5's own configuration of the protocol (configs/ruby/MOESI_hammer.py), and in machine_file.py."""
RUBY = "ruby."


@dataclass(frozen=True)
class Gem5Plan(SeedPlan):
    """One seed on one machine under gem5, with all its inputs. varied: the swept values of this plan, by key, as
    written in the experiment."""

    engine: ClassVar[str] = "gem5"

    phases: Gem5Phases
    settle: int
    segment: int
    think_ms: int | None
    ruby: RubyPart
    varied: Mapping[str, str]
    gem5: Path

    @property
    def protocol_name(self) -> str:
        return PROTOCOL

    @property
    def design(self) -> dict[str, object]:
        return flat_design(self.machine, self.ruby)

    def machine_text(self) -> str:
        """The machine file for gem5's scripts, followed by the settings that only Ruby has."""
        ruby = "".join(f"{key} = {value}\n" for key, value in self.ruby.model_dump().items())
        return f"{self.machine.resolved()}\n[ruby]\n{ruby}"

    def command_line(self) -> str:
        """The kernel's command line. The reasons for its arguments:

        - maxcpus=1: one processor boots, and init brings the others up. If all were up from the beginning, the others
          would wait in busy loops for the one that works.
        - lpj: with a known loop count no processor calibrates its own.
        - No `quiet`: the kernel prints its progress, because booting is slow.
        - random.trust_bootloader: gem5's processors have no RDRAND.
        - nohz=off: gem5 takes an interrupt between STI and HLT, which real processors do not. The
          idle loop then halts with work pending, until its next tick if it has one.
        - norandmaps: a program is at the same addresses in all its processes. gem5 has a table of decoded instructions
          for each virtual page of code. The simulated caches use physical addresses.
        """
        jiffy = self.machine.processors.clock_hz // TIMER_HZ
        arguments = self.machine.kernel_args().replace(" quiet", "").replace(" random.trust_cpu=on", "")
        return (
            f"{arguments} earlyprintk=ttyS0 maxcpus=1 lpj={jiffy} random.trust_bootloader=on nohz=off norandmaps "
            f"s80.engine=gem5 {self.scale.boot_line()}"
        )

    def job(self) -> str:
        """The clients' job from the ready checkpoint on."""
        return job_text(
            self.experiment.workload,
            clients=self.clients,
            users=self.scale.users,
            seed=self.seed,
            think_ms=self.think_ms,
            warmup_s=0,
            measure_s=ENDLESS_S,
        )

    @cached_property
    def keys(self) -> Keys:
        boot_scripts = {f"configs/gem5/{name}": file_hash(CONFIGS / name) for name in BOOT_SCRIPTS}
        processors = {"count": self.machine.processors.count, "clock_hz": self.machine.processors.clock_hz}
        ready = Wanted.from_inputs(
            "ready",
            f"gem5-ready-{self.scale_name}",
            {
                "kernel": self.image_manifest.vmlinuz_sha256,
                "initramfs": self.image_manifest.initramfs_sha256,
                "gem5": file_hash(self.gem5),
                **boot_scripts,
                "guest": value_hash({"command_line": self.command_line(), "ram": self.scale.ram, **processors}),
                "login_job": text_hash(self.login_job()),
                "segment": value_hash(self.segment),
            },
        )
        # Experiments with the same workload share their checkpoints.
        warm = Wanted.from_inputs(
            "warm",
            f"gem5-warm-{self.experiment.workload}-{self.scale_name}-s{self.seed}",
            {
                **ready.inputs,
                "ready": ready.key,
                "warmup_job": text_hash(self.job()),
                "settle": value_hash(self.settle),
            },
        )
        own = {
            "machine": text_hash(self.machine_text()),
            **{f"configs/gem5/{name}": file_hash(CONFIGS / name) for name in RUN_SCRIPTS},
            "run_lengths": value_hash(self.phases.model_dump()),
        }
        return Keys(ready, warm, own)

    def segment_wanted(self, number: int) -> Wanted:
        """The checkpoint at the end of a segment of the boot, numbered from 1."""
        inputs = {**self.keys.ready.inputs, "segment_number": str(number)}
        return Wanted("boot", f"{self.segment_prefix}{number:03}", value_hash(inputs), inputs)

    @property
    def segment_prefix(self) -> str:
        """The beginning of the names of the checkpoints within the boot."""
        return f"gem5-boot-{self.scale_name}-{self.keys.ready.key[:8]}-"


def gem5_plans(name: str, options: Options) -> Callable[[Path | None], list[Gem5Plan]]:
    """A function that makes the plans, one for each seed and each point of the sweep, from the path of gem5. It loads
    the image and finds gem5; all other input is checked at once. The seeds are those of the options, else the first
    seed of the experiment. UserError names the first thing that is missing or wrong."""
    experiment = read_experiment(name, replace(options, scale=None))
    part = gem5_part(name, experiment)
    if options.protocol not in (None, PROTOCOL):
        raise UserError(
            f"--protocol {options.protocol}: with gem5, s80lab supports only the protocol MOESI_hammer; use "
            f"--protocol {PROTOCOL}"
        )
    scale_name = options.scale or part.scale
    scale = load_scale(scale_name)
    if scale.disks or any(key.startswith(OF_SCALE) for key in {**(options.settings or {}), **part.sweep}):
        raise UserError(
            f"scale {scale_name}: in gem5 the guest keeps its mail in memory, without disks; remove the "
            f"options --set {OF_SCALE}KEY=VALUE, or choose a scale without `storage`"
        )
    designs = [
        (varied, *gem5_design(name, experiment.machine, part, {**(options.settings or {}), **varied}))
        for varied in Grid.of_sweep(part.sweep).points()
    ]
    phases = gem5_phases(name, part, designs[0][1].name)
    if scale.ram > LARGEST:
        raise UserError(
            f"scale {scale_name}: the guest has {scale.ram >> 30} GiB of memory, but the PC that gem5 "
            "simulates supports 3 GiB at most: choose a smaller scale"
        )
    image = image_folder(experiment.image, load_server(experiment.server).name)
    seeds = list(options.seeds) or experiment.seeds[:1]

    def complete(given: Path | None) -> list[Gem5Plan]:
        manifest = load_image(image)
        gem5 = find_gem5(given)
        return [
            Gem5Plan(
                name=name,
                seed=seed,
                experiment=experiment,
                phases=phases,
                settle=part.settle,
                segment=part.segment,
                think_ms=part.think_ms,
                scale_name=scale_name,
                scale=scale,
                machine=machine,
                ruby=ruby,
                varied=varied,
                image=image,
                image_manifest=manifest,
                gem5=gem5,
            )
            for varied, machine, ruby in designs
            for seed in seeds
        ]

    return complete


def gem5_part(name: str, experiment: Experiment) -> Gem5Part:
    """The experiment's table [gem5]; UserError if it has none."""
    if experiment.gem5 is None:
        raise UserError(
            f"experiment {name} has no table [gem5], so it cannot run in gem5: choose an experiment with such a table"
        )
    return experiment.gem5


def gem5_phases(name: str, part: Gem5Part, machine: str) -> Gem5Phases:
    """The experiment's lengths for the machine; UserError if it has none."""
    if machine not in part.phases:
        raise UserError(
            f"experiment {name}: the table [gem5.phases.{machine}] with the lengths for machine {machine} is missing: "
            f"{hint(machine, part.phases)}"
        )
    return part.phases[machine]


def flat_design(machine: Machine, ruby: RubyPart) -> dict[str, object]:
    """The parameters of the design, by dotted keys."""
    return machine.design() | {f"{RUBY}{key}": value for key, value in ruby.model_dump().items()}


def gem5_design(
    name: str, machine_name: str, part: Gem5Part, settings: Mapping[str, object]
) -> tuple[Machine, RubyPart]:
    """The machine and the parameters that only Ruby has, with the settings applied."""
    of_ruby = {key.removeprefix(RUBY): value for key, value in settings.items() if key.startswith(RUBY)}
    of_machine = {key: value for key, value in settings.items() if not key.startswith(RUBY)}
    machine = load_machine(machine_name, {**of_machine, "l2.inclusion": "exclusive"})
    if machine.uses("translation"):
        raise UserError(
            "[translation] cannot be set for gem5, whose processors walk the guest's own page tables: remove "
            "it from the machine file"
        )
    if machine.uses("bandwidth"):
        raise UserError(
            "[bandwidth] cannot be set for gem5, whose network and memory model their own queues: remove it "
            "from the machine file"
        )
    if machine.uses("smt"):
        raise UserError(
            "[smt] cannot be set for gem5, whose TimingSimpleCPU has one thread per core: remove it from the "
            "machine file"
        )
    if machine.group is not None:
        raise UserError(
            "[group] cannot be set for gem5, whose MOESI_hammer has no group caches: remove it from the machine file"
        )
    if machine.llc is not None or machine.directory is not None:
        raise UserError(
            "[llc] and [directory] cannot be set for gem5, whose MOESI_hammer has no last-level cache: remove them "
            "from the machine file, and set ruby.probe_filter for a bounded directory"
        )
    ruby = resolve(part.ruby.model_dump(), RubyPart, f"experiment {name}: [gem5.ruby]", of_ruby)
    least = 2 * PROBE_FILTER_WAYS * machine.line_bytes
    if ruby.probe_filter and (ruby.probe_filter < least or ruby.probe_filter & (ruby.probe_filter - 1)):
        raise UserError(
            f"experiment {name}: ruby.probe_filter is {ruby.probe_filter} bytes; it must be a power of two of at least "
            f"{least} "
            f"(two sets of {PROBE_FILTER_WAYS} ways of {machine.line_bytes} bytes)"
        )
    return machine.model_copy(update={"protocol": PROTOCOL}), ruby

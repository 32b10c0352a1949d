# SPDX-License-Identifier: GPL-2.0-or-later
"""Models of the files in configs/experiments (experiments) and workloads/scales (scales)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.numbers import LARGEST, MEASURED, Instructions, InstructionsOrZero, Milliseconds, Positive
from s80lab.base.strict import (
    Size,
    Strict,
    find,
    load,
    parse_settings,
    resolve,
    short_path,
    validate,
    with_bases,
)
from s80lab.base.suggest import hint

MIB = 1 << 20
Storage = Literal["memory", "disk"]
Memory = Annotated[Size, Field(le=1 << 40)]
"""Bytes of memory of a guest, or of a part of it: 1 TiB at most."""
# Times the mail: memory for what is written on the disks (file systems and later mail included), and the disks' room.
WRITTEN, ROOM = 1.25, 2.0
SPARE = 64 * MIB  # of each disk's room


class Disk(Strict):
    """The disks of a scale.

    count: number of disks, over which the users are distributed.
    service_us: service time of a request in simulated microseconds.
    page_cache: bytes of memory for the page cache.
    programs: bytes of memory for the kernel, the servers and their sessions.
    dma: whether the disk itself reads and writes memory, past the caches; if not, the processor that submits a request
        copies the data.
    """

    count: int = Field(ge=1, le=32)
    service_us: int = Field(ge=1, le=MEASURED)
    page_cache: Memory
    programs: Memory
    dma: bool = False

    def ram(self, store_bytes: int) -> int:
        """The guest's memory in bytes, a whole number of MiB. It also holds the contents of the disks."""
        return -(-int(self.programs + self.page_cache + store_bytes * WRITTEN) // MIB) * MIB

    def boot_line(self, store_bytes: int) -> str:
        """The kernel arguments for number and size of the disks."""
        each = (int(store_bytes * ROOM) // self.count + SPARE) // MIB
        return f"s80.storage=disk s80.disks={self.count} s80.disk_mib={each}"

    def delay_ns(self, clock_shift: int) -> int:
        """The service time in nanoseconds of the guest's clock."""
        return self.service_us * 1000 << clock_shift


DEFAULT_SERVER = "dovecot"
DEFAULT_IMAGE = "debian"
# Of a warm-up: three in each of the two stretches that are compared, and as many before them.
FEWEST_INTERVALS = 9
# Accounts of an image (image/contents.py).
ACCOUNTS = 512
# What s80-mailstore accepts (workloads/mailstore/src/main.cpp).
MAILBOXES, MAILBOX_KIB = 1000, 1 << 20
# Open files of one process under Linux; each client of the load generator has a connection.
Clients = Annotated[int, Field(ge=1, le=1 << 20)]
# Closed-loop cycles of a measured region. Their instructions must stay below 2**63.
CYCLES = 100_000


class Scale(Strict):
    """The size of the mail store and of the guest that holds it.

    storage: whether the mail lies in memory or on disks.
    ram: the guest's memory if the mail lies in memory.
    disk: the disks, for storage = "disk".
    document_bytes: size of each file of a web server's store; 0: files of four sizes, as in SPECweb99. The store is as
        large as the mail store would be.
    """

    description: str
    users: int = Field(ge=1, le=ACCOUNTS)
    mailboxes: int = Field(ge=1, le=MAILBOXES)
    mailbox_kib: int = Field(ge=1, le=MAILBOX_KIB)
    store_seed: int = Field(ge=0, le=LARGEST)
    ram: Memory
    storage: Storage = "memory"
    disk: Disk | None = None
    document_bytes: int = Field(0, ge=0, le=100_000_000)

    @model_validator(mode="after")
    def _disks(self) -> Self:
        if self.storage == "disk" and self.disk is None:
            raise ValueError("storage = `disk` needs a table [disk]: add this table to the scale's file")
        return self

    def boot_line(self) -> str:
        """The kernel arguments that set the size of the mail store."""
        documents = f" s80.document_bytes={self.document_bytes}" if self.document_bytes else ""
        disks = f" {self.disks.boot_line(self.store_bytes())}" if self.disks else ""
        return (
            f"s80.users={self.users} s80.mailboxes={self.mailboxes} "
            f"s80.mailbox_kib={self.mailbox_kib} s80.store_seed={self.store_seed}{documents}{disks}"
        )

    @property
    def disks(self) -> Disk | None:
        """The disks; None if the mail lies in memory."""
        return self.disk if self.storage == "disk" else None

    def memory(self) -> int:
        """The guest's memory in bytes."""
        return self.disks.ram(self.store_bytes()) if self.disks else self.ram

    def design(self) -> dict[str, object]:
        """The part of a run's design that the scale determines: documents and disks, by dotted keys."""
        documents: dict[str, object] = {"scale.document_bytes": self.document_bytes} if self.document_bytes else {}
        if self.disks is None:
            return documents
        disks = {f"scale.disk.{key}": value for key, value in self.disks.model_dump().items()}
        return {**documents, "scale.storage": "disk", **disks}

    def store_bytes(self) -> int:
        """The size of the mail store in bytes."""
        return self.users * self.mailboxes * self.mailbox_kib * 1024


SIZES = ("users", "mailboxes", "mailbox_kib", "store_seed", "ram")
"""Keys of a scale that a run's design records if they differ from the scale's file."""


class Phases(Strict):
    """The phases of a run at one scale. Lengths are instructions of all processors together.

    warmup_min, warmup_max: the warm-up ends when the steady state is reached, between these two lengths.
    drift_points: largest allowed difference of each share of the headline between the last third of the warm-up and
        the third before, in points. The standard error may be half of it (results/metrics/warmup.py).
    measure, measure_cycles: least length of the measured region, in instructions and in closed-loop cycles (in one
        cycle, each client thinks once and is served once). The instructions per transaction of the warm-up convert
        cycles to instructions.
    sampling_interval: the length of a sampling interval; the steady-state test needs nine intervals.
    skip: instructions between the checkpoint and the measured region.
    clients: number of clients; default: the experiment's, else one per user.
    think_ms, think: mean and distribution of think times; default: the workload's.
    mail_may_wait: true for a load that exceeds the delivery rate on purpose. Otherwise a run in which mail piles up is
        invalid.
    """

    warmup_min: Instructions
    warmup_max: Instructions
    drift_points: Positive = 2.0
    measure: Instructions
    measure_cycles: float = Field(0.0, ge=0, le=CYCLES)
    skip: InstructionsOrZero = 0
    sampling_interval: Instructions = 1_000_000_000
    clients: Clients | None = None
    think_ms: Milliseconds | None = None
    think: Literal["exponential", "constant"] | None = None
    mail_may_wait: bool = False

    @model_validator(mode="after")
    def _order(self) -> Self:
        if self.warmup_max < self.warmup_min:
            raise ValueError(
                f"warmup_max = {self.warmup_max} is less than warmup_min = {self.warmup_min}: raise warmup_max"
            )
        if self.warmup_min < FEWEST_INTERVALS * self.sampling_interval:
            raise ValueError(
                f"warmup_min = {self.warmup_min} is less than {FEWEST_INTERVALS} sampling intervals (key "
                f"`sampling_interval`) of {self.sampling_interval} instructions, which the steady-state test needs: "
                "raise warmup_min or lower sampling_interval"
            )
        return self


class Gem5Phases(Strict):
    """The phases of a gem5 run. Lengths are instructions of all processors together.

    warmup: warm-up under Ruby, from empty caches, before the measured region.
    measure: the measured region.
    sampling_interval: the length of a sampling interval.
    transactions: the region ends after this number of transactions, or after `measure` if that is earlier; 0: the
        region ends after `measure`.
    drift_points: as in the phases of the engine `qemu`.
    """

    warmup: InstructionsOrZero = 0
    measure: Instructions
    sampling_interval: Instructions
    transactions: InstructionsOrZero = 0
    drift_points: Positive = 2.0


class RubyPart(Strict):
    """Settings that only Ruby has.

    probe_filter: bytes of memory whose owners the directory can track; 0: no filter, so every cache is probed.
    """

    probe_filter: Memory = 0


Values = Annotated[list[str | int | float], Field(min_length=1)]


class Gem5Part(Strict):
    """The part of an experiment that gem5 runs.

    settle: instructions of the mix without caches, before the checkpoint from which every machine is measured.
    segment: instructions of the boot after which gem5 is restarted from its own checkpoint. The memory of a process of
        gem5 grows with the instructions that it simulates.
    phases: the phases for each machine.
    sweep: keys of the machine file, or `ruby.KEY`, with their values; every combination is one run.
    """

    scale: str
    settle: Instructions
    segment: Instructions = 400_000_000
    think_ms: Milliseconds | None = None
    phases: dict[str, Gem5Phases]
    ruby: RubyPart = RubyPart()
    sweep: dict[str, Values] = Field(default_factory=dict)


LARGEST_SEED = LARGEST
"""`run --until` adds seeds above the largest one, which the database must still be able to store."""
Seed = Annotated[int, Field(ge=1, le=LARGEST_SEED)]


def _distinct(numbers: list[int], info: ValidationInfo) -> list[int]:
    """The seeds or boots; ValueError if one occurs twice, because one seed from one boot is one run."""
    if len(set(numbers)) < len(numbers):
        noun = str(info.field_name).removesuffix("s")
        raise ValueError(
            f"{noun}s = {numbers} names a {noun} twice: write each {noun} once, because each {noun} is one run"
        )
    return numbers


def image_name(name: str) -> str:
    """The name of an image. ValueError if it is not a valid name."""
    if not re.fullmatch(r"debian|buildroot(\.[a-z0-9]+)?", name):
        raise ValueError(f"`{name}` is not an image: write debian, buildroot or buildroot.NAME (a-z, 0-9)")
    return name


class Experiment(Strict):
    """An experiment: machine, protocol, image, server, workload, phases for each scale, and seeds.

    The key `base` of a file names another experiment. The file then overrides single keys of it, or the complete sweep.

    seeds, boots: the runs of a command that names neither: each seed from each boot. A command that names seeds takes
        boot 1, unless it names boots, too.
    sweep: what varies, with its values: `machine`, `workload`, `protocol`, `image`, `server`, `clients`, `think_ms`,
        `scale.KEY`, `workload.KEY`, or a key of the machine file. Every combination is measured with every seed.
    show: the metrics for which the report draws curves over the sweep.
    """

    description: str
    machine: str
    protocol: str | None = None
    image: Annotated[str, AfterValidator(image_name)] = DEFAULT_IMAGE
    server: str = DEFAULT_SERVER
    workload: str
    scale: str
    seeds: Annotated[list[Seed], Field(min_length=1), AfterValidator(_distinct)]
    boots: Annotated[list[Seed], AfterValidator(_distinct)] = Field(default_factory=lambda: [1], min_length=1)
    clients: Clients | None = None
    phases: dict[str, Phases]
    sweep: dict[str, Values] = Field(default_factory=dict)
    show: list[str] = Field(default_factory=list)
    gem5: Gem5Part | None = None

    def at_point(self, point: Mapping[str, str]) -> Experiment:
        """The experiment at one point of its sweep. Keys of the machine file are not applied here."""
        changed = parse_settings((f"{key}={point[key]}" for key in OF_PHASES if key in point), source="[sweep]")
        phases = self.phases[self.scale].model_dump() | changed
        return self.model_copy(
            update={
                "phases": {**self.phases, self.scale: resolve(phases, Phases, "[sweep]")},
                **{key: point[key] for key in OF_EXPERIMENT if key in point},
            }
        )


# Keys of a sweep that are not the machine file's.
OF_PHASES = ("clients", "think_ms")
OF_EXPERIMENT = ("machine", "workload", "protocol", "image", "server")
OF_SCALE = "scale."
OF_WORKLOAD = "workload."


def load_scale(name: str, overrides: Mapping[str, object] | None = None) -> Scale:
    """Read a scale, with overrides such as `storage`: `disk`.

    The scales in the folder `tests` are for tests: no list, help or completion names them. UserError if the scale's RAM
    is not a whole number of MiB or does not hold the mail and 512 MiB more.
    """
    path = scale_file(name)
    scale = load(path, Scale, overrides)
    check_ram(scale, short_path(path))
    return scale


def check_ram(scale: Scale, where: str) -> None:
    """UserError if the RAM of the scale is not a whole number of MiB or does not hold the mail and 512 MiB more."""
    if scale.ram % MIB or scale.ram < scale.store_bytes() + 512 * MIB:
        raise UserError(
            f"{where}: key `ram`: {scale.ram} bytes is too small or not a whole number of MiB: the guest "
            f"needs {scale.store_bytes()} bytes for the mail and 512 MiB more"
        )


def scale_file(name: str) -> Path:
    """The file of a scale. UserError for an unknown name."""
    return _for_tests(name) if _for_tests(name).is_file() else find("scale", paths.SCALES, name)


def _for_tests(scale: str) -> Path:
    return paths.SCALES / "tests" / f"{scale}.toml"


def load_experiment(name: str, overrides: Mapping[str, object]) -> Experiment:
    """Read an experiment, with overrides. UserError if it has no phases for its scale."""
    contents = with_bases("experiment", paths.EXPERIMENTS, name)
    path = list(contents)[-1]
    experiment = resolve(_content(contents), Experiment, short_path(path), overrides)
    if experiment.scale not in experiment.phases:
        shipped = [scale for scale in experiment.phases if not _for_tests(scale).is_file()]
        raise UserError(
            f"{short_path(path)}: {name} cannot run at scale `{experiment.scale}`, because there is no table "
            f"[phases.{experiment.scale}]: {hint(experiment.scale, shipped)}"
        )
    return experiment


def content_over_bases(path: Path, own: Mapping[str, Any]) -> dict[str, Any]:
    """The content of an experiment's file, which need not be in the lab, over that of its bases. UserError if a base
    does not exist or is not a complete experiment."""
    base = own.get("base")
    lower = {} if base is None else with_bases("experiment", paths.EXPERIMENTS, str(base))
    return _content({**lower, path: dict(own)})


def _content(contents: Mapping[Path, Mapping[str, Any]]) -> dict[str, Any]:
    """The content of the last file over that of its bases, each of which must be a complete experiment."""
    content: dict[str, Any] = {}
    *lower, _ = contents
    for path, own in contents.items():
        if "sweep" in own:
            content.pop("sweep", None)
        content = _over(content, {key: value for key, value in own.items() if key != "base"})
        if path in lower:
            validate(content, Experiment, short_path(path))
    return content


def _over(below: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """`content` over `below`, tables key by key."""
    merged = dict(below)
    for key, value in content.items():
        under = below.get(key)
        merged[key] = _over(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return merged

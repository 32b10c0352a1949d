# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments (configs/experiments) and scales (workloads/scales)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import (
    Size,
    Strict,
    find,
    hint,
    load,
    parse_settings,
    resolve,
    shown,
    validate,
    with_bases,
)
from s80lab.config.storage import Disk, Storage

MIB = 1 << 20
DEFAULT_SERVER = "dovecot"
DEFAULT_IMAGE = "debian"
# Of a warm-up: three in each of the two stretches that are compared, and as many before them.
FEWEST_WINDOWS = 9
# Accounts of an image (image/accounts.py).
ACCOUNTS = 512


class Scale(Strict):
    """The size of the mail store and of the guest that holds it. storage: where the mail lies; ram: the guest's memory
    where that is memory; disk: the disks where it is not. document_bytes: of each file of a web server's store, which
    is as large as the mail would be; 0: files of four sizes, as SPECweb99 has them."""

    description: str
    users: int = Field(ge=1, le=ACCOUNTS)
    mailboxes: PositiveInt
    mailbox_kib: PositiveInt
    store_seed: NonNegativeInt
    ram: Size
    storage: Storage = "memory"
    disk: Disk | None = None
    document_bytes: int = Field(0, ge=0, le=100_000_000)

    @model_validator(mode="after")
    def _disks(self) -> Self:
        if self.storage == "disk" and self.disk is None:
            raise ValueError("storage = `disk` needs a table [disk]")
        return self

    def boot_line(self) -> str:
        """The kernel arguments that size the mail store."""
        documents = f" s80.document_bytes={self.document_bytes}" if self.document_bytes else ""
        disks = f" {self.disks.boot_line(self.store_bytes())}" if self.disks else ""
        return (
            f"s80.users={self.users} s80.mailboxes={self.mailboxes} "
            f"s80.mailbox_kib={self.mailbox_kib} s80.store_seed={self.store_seed}{documents}{disks}"
        )

    @property
    def disks(self) -> Disk | None:
        """None where the mail lies in memory."""
        return self.disk if self.storage == "disk" else None

    def memory(self) -> int:
        """Bytes of the guest's memory."""
        return self.disks.ram(self.store_bytes()) if self.disks else self.ram

    def design(self) -> dict[str, object]:
        """What a run's design says of the scale beside its name and its sizes: documents and disks, by dotted keys."""
        documents: dict[str, object] = {"scale.document_bytes": self.document_bytes} if self.document_bytes else {}
        if self.disks is None:
            return documents
        disks = {f"scale.disk.{key}": value for key, value in self.disks.model_dump().items()}
        return {**documents, "scale.storage": "disk", **disks}

    def store_bytes(self) -> int:
        """Bytes of mail."""
        return self.users * self.mailboxes * self.mailbox_kib * 1024


SIZES = ("users", "mailboxes", "mailbox_kib", "store_seed", "ram")
"""Of a scale: what a run's design says of it where it is another than in the scale's file."""


class Phases(Strict):
    """Lengths in instructions of all processors together.

    warmup_min, warmup_max: the warm-up ends once it has settled, not before the first nor after the second.
    drift_points: by how much E share and memory's share may differ between its last third and the one before; half of
    it is the standard error that is allowed (results/metrics/warmup.py).
    measure, measure_cycles: the measured region is at least so long, in instructions and in client cycles (a cycle:
    each client thinks once and is served once), by what the warm-up says of instructions a transaction.
    window: a statistics window; settling needs nine of them. skip: between the checkpoint and the measured region.
    clients: else the experiment's, else one a user. think_ms, think: mean and distribution of the think times, else the
    workload's. mail_may_wait: the load is meant to be more than is delivered; else a run whose mail piles up is no
    result.
    """

    warmup_min: PositiveInt
    warmup_max: PositiveInt
    drift_points: PositiveFloat = 2.0
    measure: PositiveInt
    measure_cycles: NonNegativeFloat = 0.0
    skip: NonNegativeInt = 0
    window: PositiveInt = 1_000_000_000
    clients: PositiveInt | None = None
    think_ms: NonNegativeInt | None = None
    think: Literal["exponential", "constant"] | None = None
    mail_may_wait: bool = False

    @model_validator(mode="after")
    def _order(self) -> Self:
        if self.warmup_max < self.warmup_min:
            raise ValueError(f"warmup_max = {self.warmup_max} is less than warmup_min = {self.warmup_min}")
        if self.warmup_min < FEWEST_WINDOWS * self.window:
            raise ValueError(
                f"warmup_min = {self.warmup_min} is less than {FEWEST_WINDOWS} windows of {self.window}: "
                "no drift could be told"
            )
        return self


class Gem5Phases(Strict):
    """Lengths in instructions of all processors together.

    warmup: under Ruby, from empty caches, before the measured region. measure: the measured region. window: a
    statistics window. transactions: the region ends with so many, not later than after `measure` (0: at `measure`).
    """

    warmup: NonNegativeInt = 0
    measure: PositiveInt
    window: PositiveInt
    transactions: NonNegativeInt = 0


class RubyPart(Strict):
    """What only Ruby has. probe_filter: bytes of memory whose owners the directory can name; 0 without a filter, and
    every cache is probed."""

    probe_filter: Size = 0


Values = Annotated[list[str | int | float], Field(min_length=1)]


class Gem5Part(Strict):
    """The experiment at gem5's speed. settle: instructions of the mix without caches, before the checkpoint that every
    machine is measured from. phases: by machine. sweep: keys of the machine file, or of `ruby` as `ruby.KEY`, with
    their values; every combination is a run."""

    scale: str
    settle: PositiveInt
    think_ms: NonNegativeInt | None = None
    phases: dict[str, Gem5Phases]
    ruby: RubyPart = RubyPart()
    sweep: dict[str, Values] = Field(default_factory=dict)


def _distinct(seeds: list[int]) -> list[int]:
    """The same seed twice is the same run twice: no sample."""
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds = {seeds} names a seed twice: the same run again is no sample")
    return seeds


def image_name(name: str) -> str:
    """The name of an image; ValueError where it is none."""
    if not re.fullmatch(r"debian|buildroot(\.[a-z0-9]+)?", name):
        raise ValueError(f"`{name}` is no image: they are `debian`, `buildroot` and `buildroot.NAME` (a-z, 0-9)")
    return name


class Experiment(Strict):
    """machine x protocol x image x server x workload x phases x seeds. Phases are given for each scale.

    A file's key `base` names another experiment: the file says what is different, key by key, and a sweep as a whole.
    sweep: what varies, with its values: `machine`, `workload`, `protocol`, `image`, `server`, `clients`, `think_ms`, a
    key of the scale as `scale.KEY` or of the workload as `workload.KEY`, or a key of the machine file; every
    combination is measured with every seed. show: the metrics that its curves are drawn of.
    """

    description: str
    machine: str
    protocol: str | None = None
    image: Annotated[str, AfterValidator(image_name)] = DEFAULT_IMAGE
    server: str = DEFAULT_SERVER
    workload: str
    scale: str
    seeds: Annotated[list[PositiveInt], Field(min_length=1), AfterValidator(_distinct)]
    clients: PositiveInt | None = None
    phases: dict[str, Phases]
    sweep: dict[str, Values] = Field(default_factory=dict)
    show: list[str] = Field(default_factory=list)
    gem5: Gem5Part | None = None

    def at(self, point: Mapping[str, str]) -> Experiment:
        """The experiment at one point of its sweep; keys of the machine file are left to the machine."""
        changed = parse_settings(f"{key}={point[key]}" for key in OF_PHASES if key in point)
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
    """The named scale with overrides (`storage`: `disk`) over it; its RAM must be a whole number of MiB and larger than
    its mail."""
    path = find("scale", paths.SCALES, name)
    scale = load(path, Scale, overrides)
    if scale.ram % MIB or scale.ram < scale.store_bytes() + 512 * MIB:
        raise UserError(
            f"{shown(path)}: key `ram`: {scale.ram} bytes do not hold {scale.store_bytes()} bytes of mail "
            "and 512 MiB beside it, or are no whole number of MiB"
        )
    return scale


def load_experiment(name: str, overrides: Mapping[str, object]) -> Experiment:
    """The named experiment with the command line's overrides over it; phases of its scale must be there."""
    said = with_bases("experiment", paths.EXPERIMENTS, name)
    path = list(said)[-1]
    experiment = resolve(_content(said), Experiment, shown(path), overrides)
    if experiment.scale not in experiment.phases:
        raise UserError(
            f"{shown(path)}: no phases for scale `{experiment.scale}`: {hint(experiment.scale, experiment.phases)}"
        )
    return experiment


def _content(said: Mapping[Path, Mapping[str, Any]]) -> dict[str, Any]:
    """What the last of the files says, over what those before it say, each of which must be a whole experiment."""
    content: dict[str, Any] = {}
    *lower, _ = said
    for path, own in said.items():
        if "sweep" in own:
            content.pop("sweep", None)
        content = _over(content, {key: value for key, value in own.items() if key != "base"})
        if path in lower:
            validate(content, Experiment, shown(path))
    return content


def _over(below: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """`content` over `below`, tables key by key."""
    merged = dict(below)
    for key, value in content.items():
        under = below.get(key)
        merged[key] = _over(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return merged

# SPDX-License-Identifier: GPL-2.0-or-later
"""The store of checkpoints, based on base/store.py."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash, sparse_hash, value_hash
from s80lab.base.progress import WAITING, Job
from s80lab.base.renamed import VERDICTS
from s80lab.base.stage import staged, workplace
from s80lab.base.staging import exclusive, lockable, staging
from s80lab.base.store import FileRecord, Store, StoredManifest, check_files, now
from s80lab.base.strict import Strict
from s80lab.guest.command import RAM_FILE
from s80lab.results.run_folder import SNAPSHOTS

GUEST_STATE = "guest.state"
MODEL_STATE = "model.state"
GEM5_STATE = "m5.cpt"
GEM5_RAM = "board.physmem.store0.pmem"
# boot: a guest of gem5 on its way to the stage `ready`.
Stage = Literal["boot", "ready", "warm"]
Engine = Literal["qemu", "gem5"]
Inputs = dict[str, str]
"""Hashes of inputs by name."""
# The files that commands read; the other files record how the checkpoint was made. From the snapshots of a warm-up come
# the length of the measured region and the verdict on steady state.
READ_FILES: dict[tuple[Engine, Stage], tuple[str, ...]] = {
    ("qemu", "ready"): (RAM_FILE, GUEST_STATE),
    ("qemu", "warm"): (RAM_FILE, GUEST_STATE, MODEL_STATE, SNAPSHOTS),
    ("gem5", "boot"): (GEM5_STATE, GEM5_RAM),
    ("gem5", "ready"): (GEM5_STATE, GEM5_RAM),
    ("gem5", "warm"): (GEM5_STATE, GEM5_RAM),
}


class WarmupRecord(Strict):
    """The end of a warm-up; see results.metrics.warmup.WarmUp."""

    verdict: Annotated[Literal["steady", "not steady"], BeforeValidator(lambda word: VERDICTS.get(word, word))]
    reasons: tuple[str, ...] = ()
    instructions: int
    drift_points: dict[str, float | None]
    error_points: dict[str, float | None] = Field(default_factory=dict)
    clients_finished: int | None = None
    mips: float


class BootRecord(Strict):
    """A boot in gem5, up to this checkpoint.

    segments: number of processes of gem5 that have simulated the boot.
    instructions: number of simulated instructions.
    printed: the last stage that the guest has printed.
    ticks: simulated time at which the guest has printed its last line.
    resident_peak: the largest resident memory of a process of gem5, in bytes.
    wall_s: seconds that all segments took.
    """

    segments: int
    instructions: int
    wall_s: float
    printed: str
    ticks: int
    resident_peak: int


class Manifest(StoredManifest):
    """The manifest of a checkpoint.

    boot: only of checkpoints of gem5 in the stages `boot` and `ready`.
    engine: the engine that runs the guest. gem5's checkpoints contain no caches, so they have no warm-up.
    """

    schema_version: Literal[1] = 1
    stage: Stage
    engine: Engine = "qemu"
    qemu_version: str = ""
    gem5_version: str = ""
    warmup: WarmupRecord | None = None
    boot: BootRecord | None = None

    @property
    def required(self) -> tuple[str, ...]:
        return READ_FILES.get((self.engine, self.stage), ())


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint in the store: its manifest and the folder of its files."""

    manifest: Manifest
    folder: Path

    @property
    def ram(self) -> Path:
        return self.folder / RAM_FILE

    @property
    def guest_state(self) -> Path:
        return self.folder / GUEST_STATE

    @property
    def model_state(self) -> Path:
        return self.folder / MODEL_STATE

    def disk_bytes(self) -> int:
        """Disk space in use, in bytes (the RAM file is sparse)."""
        return STORE.disk_bytes(self.manifest.name)


def find(name: str, key: str) -> Checkpoint | None:
    """The checkpoint with this name and key, if it is complete; else None. UserError if a file has changed."""
    manifest = STORE.find(name, key)
    return None if manifest is None else _checkpoint(manifest)


def exists(name: str, key: str) -> bool:
    """Whether there is a complete checkpoint with this name and key. The content of its files is not read."""
    return STORE.listed(name, key) is not None


def check(checkpoint: Checkpoint) -> None:
    """UserError if a file that the guest is restored from has changed since s80lab wrote it."""
    check_files(checkpoint.folder, checkpoint.manifest, STORE.hash)


def known(name: str, key: str) -> Manifest | None:
    """The manifest of the checkpoint with this name and key, even if its files have been removed; else None."""
    manifest = STORE.known(name)
    return manifest if manifest is not None and manifest.key == key else None


def drop(checkpoint: Checkpoint) -> None:
    """Remove the files of a checkpoint and keep its manifest."""
    shutil.rmtree(checkpoint.folder)


@dataclass(frozen=True)
class Wanted:
    """A checkpoint described by its inputs, whether it exists or not. key: the hash of the inputs."""

    stage: Stage
    name: str
    key: str
    inputs: Inputs

    @classmethod
    def from_inputs(cls, stage: Stage, beginning: str, inputs: Inputs) -> Wanted:
        """The checkpoint whose name is this beginning and a part of its key."""
        key = value_hash(inputs)
        return cls(stage, f"{beginning}-{key[:8]}", key, inputs)


@dataclass(frozen=True)
class Keys:
    """The inputs of all that a plan makes, which identify it.

    ready: the checkpoint of the booted guest. Its inputs determine the guest's memory.
    warm: the checkpoint in the middle of the mix. Its inputs determine the guest and the contents of the caches.
    own: the inputs of the run beside those of its warm checkpoint.
    """

    ready: Wanted
    warm: Wanted
    own: Inputs

    def wanted(self, stage: Stage) -> Wanted:
        """The checkpoint of the given stage."""
        return self.ready if stage == "ready" else self.warm

    def run_inputs(self, warm_content: str) -> Inputs:
        """All inputs that determine a run's numbers. warm_content: hash of the warm checkpoint's files."""
        return {**self.warm.inputs, "warm": warm_content, **self.own}


async def build(
    wanted: Wanted,
    job: Job,
    make: Callable[[Path], Awaitable[Mapping[str, Any]]],
    slots: AbstractAsyncContextManager[object],
) -> Checkpoint:
    """The checkpoint, built unless it exists.

    wanted: the inputs of the checkpoint.
    job: the progress line.
    make: function that fills a folder and returns additional entries of the manifest.
    slots: context entered while the checkpoint is built, but not while another process builds it.
    """
    lock = paths.checkpoints() / f".{wanted.name}.lock"
    if not lockable(lock) and (found := await _find(wanted, job)) is not None:
        return found
    async with exclusive(lock, lambda: job.update(WAITING)):
        found = await _find(wanted, job)
        if found is not None:
            return found
        if why := STORE.why_built_again(wanted.name):
            job.say(f"this checkpoint is built again: {why}")
        async with slots:
            began = time.monotonic()
            folder = STORE.folder(wanted.name)
            with staging(folder) as partial:
                async with workplace(partial) as place:
                    entries = await make(place)
                job.update("hashing")
                files = await asyncio.to_thread(_hash_files, partial)
            return _record(wanted, files, time.monotonic() - began, entries)


def add(wanted: Wanted, source: Path, wall_s: float, entries: Mapping[str, Any]) -> Checkpoint:
    """Move the files of a checkpoint from the folder `source` into the store. The caller holds a lock that keeps other
    processes from the same checkpoint.

    wall_s: seconds that it took to make the files.
    entries: additional entries of the manifest.
    """
    with staging(STORE.folder(wanted.name)) as partial:
        for path in sorted(source.iterdir()):
            shutil.move(path, partial / path.name)
        files = _hash_files(partial)
    return _record(wanted, files, wall_s, entries)


def _record(wanted: Wanted, files: dict[str, FileRecord], wall_s: float, entries: Mapping[str, Any]) -> Checkpoint:
    """Write the manifest of a complete folder."""
    manifest = Manifest(
        name=wanted.name,
        stage=wanted.stage,
        key=wanted.key,
        inputs=wanted.inputs,
        files=files,
        wall_s=round(wall_s, 1),
        created=now(),
        **entries,
    )
    STORE.record(manifest)
    return _checkpoint(manifest)


async def _find(wanted: Wanted, job: Job) -> Checkpoint | None:
    if not exists(wanted.name, wanted.key):
        return None
    job.update("checking the checkpoint's files")
    return await asyncio.to_thread(find, wanted.name, wanted.key)


def removed(name: str) -> UserError:
    """The error of a command that has seen a checkpoint which is gone now."""
    return UserError(f"checkpoint {name}: another command has removed it meanwhile; repeat the command")


async def local(checkpoint: Checkpoint, job: Job) -> Checkpoint:
    """A copy of the checkpoint on the host's own disk if $S80LAB_STAGE is set, else the checkpoint itself."""
    manifest, folder = checkpoint.manifest, checkpoint.folder
    hashes = {path.name: "" for path in sorted(folder.iterdir()) if path.is_file()}
    hashes |= {name: record.sha256 for name, record in manifest.files.items()}
    copy = await staged(
        folder,
        manifest.content,
        hashes,
        _hash,
        lambda: job.update(WAITING),
    )
    return Checkpoint(manifest, copy)


def all_checkpoints() -> list[Checkpoint]:
    """All checkpoints with a readable manifest, by name; their files may be missing."""
    return [_checkpoint(manifest) for manifest in STORE.all()]


def _checkpoint(manifest: Manifest) -> Checkpoint:
    return Checkpoint(manifest, STORE.folder(manifest.name))


def _hash_files(folder: Path) -> dict[str, FileRecord]:
    """Sizes and hashes of the files that commands read. A guest of several gigabytes takes seconds."""
    return STORE.hash_files(folder, tuple(dict.fromkeys(name for names in READ_FILES.values() for name in names)))


def _hash(path: Path) -> str:
    return sparse_hash(path) if path.name == RAM_FILE else file_hash(path)


STORE = Store(paths.checkpoints, Manifest, _hash)

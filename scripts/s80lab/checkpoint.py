# SPDX-License-Identifier: GPL-2.0-or-later
"""The store of checkpoints: manifests `<name>.json` beside folders `<name>/` with the blobs.

A name carries the first digits of the hash of everything that the checkpoint depends on, so a stale one is never
taken for a good one. The manifest is written last: a folder without one does not count.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from s80lab import paths
from s80lab.config import Strict
from s80lab.experiment import Inputs
from s80lab.guest_command import RAM_FILE
from s80lab.hashing import file_hash, sparse_hash, value_hash
from s80lab.staging import sweep

GUEST_STATE = "guest.state"
MODEL_STATE = "model.state"
SNAPSHOTS = "snapshots.jsonl"
# The files that a restored guest is made of; the others are a record of how it came to be.
STATE_FILES = (RAM_FILE, GUEST_STATE, MODEL_STATE)

Stage = Literal["ready", "warm"]
Verdict = Literal["whole", "missing", "damaged"]


class FileRecord(Strict):
    bytes: int
    sha256: str


class WarmupRecord(Strict):
    """How a warm-up ended; drifts in points between the last three windows and the three before."""

    verdict: Literal["warm", "not warm"]
    instructions: int
    drift_points: dict[str, float | None]
    mips: float


class Manifest(Strict):
    schema_version: Literal[1] = 1
    name: str
    stage: Stage
    key: str
    inputs: Inputs
    qemu_version: str
    files: dict[str, FileRecord]
    warmup: WarmupRecord | None = None
    wall_s: float
    created: str

    @property
    def content(self) -> str:
        """Hash of the state that a restore takes up."""
        return value_hash({name: record.sha256 for name, record in self.files.items()})


@dataclass(frozen=True)
class Checkpoint:
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
        """Disk space in use (the RAM file is sparse)."""
        return sum(path.stat().st_blocks * 512 for path in self.folder.rglob("*") if path.is_file())


def find(name: str, key: str) -> Checkpoint | None:
    """The checkpoint, if it is there, whole and of exactly these inputs."""
    checkpoint = _read(paths.checkpoints() / f"{name}.json")
    if checkpoint is None or checkpoint.manifest.key != key or _missing(checkpoint):
        return None
    return checkpoint


def record(folder: Path, manifest: Manifest) -> Checkpoint:
    """Publishes a whole folder under its manifest."""
    target = paths.checkpoints() / f"{manifest.name}.json"
    partial = target.with_suffix(".json.partial")
    partial.write_text(manifest.model_dump_json(indent=2) + "\n")
    partial.replace(target)
    return Checkpoint(manifest, folder)


def hash_files(folder: Path) -> dict[str, FileRecord]:
    """Sizes and hashes of a checkpoint's state files (seconds for a guest of gigabytes)."""
    files = [folder / name for name in STATE_FILES if (folder / name).is_file()]
    return {path.name: FileRecord(bytes=path.stat().st_size, sha256=_hash(path)) for path in files}


def all_checkpoints() -> list[Checkpoint]:
    """Every checkpoint that has a readable manifest, by name; the blobs may be missing."""
    found = (_read(path) for path in sorted(paths.checkpoints().glob("*.json")))
    return [checkpoint for checkpoint in found if checkpoint is not None]


def verify(checkpoint: Checkpoint) -> Verdict:
    """Hashes everything again."""
    manifest = checkpoint.manifest
    if _missing(checkpoint):
        return "missing"
    key_holds = value_hash(manifest.inputs) == manifest.key
    same = all(_hash(checkpoint.folder / name) == file.sha256 for name, file in manifest.files.items())
    return "whole" if key_holds and same else "damaged"


def prune(keep: set[str]) -> list[tuple[str, int]]:
    """Removes every checkpoint not named in `keep`, and folders without a manifest; (name, bytes freed) of each."""
    removed: list[tuple[str, int]] = []
    root = paths.checkpoints()
    sweep(root)
    for checkpoint in all_checkpoints():
        name = checkpoint.manifest.name
        if name not in keep:
            removed.append((name, checkpoint.disk_bytes()))
            (root / f"{name}.json").unlink()
    for folder in sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")):
        if not (root / f"{folder.name}.json").is_file():
            shutil.rmtree(folder)
    return removed


def now() -> str:
    """The time of day, for manifests."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _read(path: Path) -> Checkpoint | None:
    try:
        manifest = Manifest.model_validate_json(path.read_text())
    except (OSError, ValidationError):
        return None
    return Checkpoint(manifest, path.with_suffix(""))


def _missing(checkpoint: Checkpoint) -> bool:
    files = checkpoint.manifest.files.items()
    paths_and_sizes = [(checkpoint.folder / name, file.bytes) for name, file in files]
    return any(not path.is_file() or path.stat().st_size != size for path, size in paths_and_sizes)


def _hash(path: Path) -> str:
    return sparse_hash(path) if path.name == RAM_FILE else file_hash(path)

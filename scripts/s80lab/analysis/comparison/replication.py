# SPDX-License-Identifier: GPL-2.0-or-later
"""One run as a replication, and the runs of one design as one side of a comparison.

Two runs are independent replications if their guests were booted separately. The boot of a live run is its ready
checkpoint: `inputs.ready` in manifest.json, the hash of everything that determines the ready checkpoint, the number of
the boot included (`s80lab run --boots`). Two ready checkpoints that were built from equal inputs, the second after the
first was removed, count as one boot. The test then has fewer observations than there are, and is not too liberal.

A replay has no boot of its own. Its observation is the capture, `inputs.capture`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from s80lab.base.errors import UserError
from s80lab.base.terminal import counted
from s80lab.config.differences import changes
from s80lab.results.products import check_products
from s80lab.results.run_folder import RunFolder

# Inputs of runs, with the words for them.
_GUEST = {
    "kernel": "kernel",
    "initramfs": "guest image",
    "qemu": "QEMU",
    "plugin": "plugin",
    "replay": "replay program",
}
REPLAY = "replay"


@dataclass(frozen=True)
class Replication:
    """A valid run: folder, manifest and metrics."""

    folder: Path
    manifest: Mapping[str, Any]
    metrics: Mapping[str, float | None]

    @property
    def name(self) -> str:
        return str(self.manifest["run"])

    @property
    def engine(self) -> str:
        return str(self.manifest["engine"])

    @property
    def seed(self) -> int:
        return int(self.manifest["seed"])

    @property
    def observation(self) -> str:
        """Runs with equal text are one observation: the boot of a live run, the capture of a replay."""
        inputs = self.manifest["inputs"]
        return str(inputs["capture"] if self.engine == REPLAY else inputs.get("ready", self.name))


@dataclass(frozen=True)
class Side:
    """One side of a comparison: valid runs of one design, at least one."""

    label: str
    runs: tuple[Replication, ...]

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest of the first run; its design is that of all runs."""
        return self.runs[0].manifest

    @property
    def engine(self) -> str:
        return self.runs[0].engine

    @cached_property
    def observations(self) -> dict[str, list[Replication]]:
        """The runs of each observation."""
        found: dict[str, list[Replication]] = {}
        for run in self.runs:
            found.setdefault(run.observation, []).append(run)
        return found


def read_side(label: str, folders: Sequence[Path]) -> Side:
    """The runs in these folders as one side.

    UserError if a run is incomplete or invalid, if a run is named twice, or if the runs are of several designs.
    """
    runs = tuple(read_replication(folder) for folder in folders)
    names = [run.name for run in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"{label}: the run {twice} is named twice; name each run once")
    side = Side(label, runs)
    for other in runs[1:]:
        if changed := changes(side.manifest, other.manifest):
            raise UserError(
                f"{label}: the runs {side.runs[0].name} and {other.name} differ ({changed[0]}); one side of a "
                "comparison has runs of one design"
            )
    return side


def read_replication(folder: Path) -> Replication:
    """Read a run's folder. UserError if the run is incomplete or invalid."""
    run = RunFolder(folder)
    check_products(run)
    if run.reasons:
        raise UserError(
            f"the run {run.manifest['run']} is invalid ({'; '.join(run.reasons)}), and invalid runs are not compared; "
            "omit the run, or measure longer"
        )
    return Replication(folder, run.manifest, run.stats["metrics"])


def check_sides(first: Side, second: Side) -> None:
    """UserError if the sides have a run in common, or if one has replays and the other live runs."""
    common = {run.name for run in first.runs} & {run.name for run in second.runs}
    if common:
        raise UserError(
            f"{first.label} and {second.label} are the same design: both have {counted(len(common), 'run')} "
            f"({', '.join(sorted(common))}); name two designs"
        )
    if first.engine != second.engine:
        raise UserError(
            f"{first.label} has runs of the engine {first.engine} and {second.label} of {second.engine}, which count "
            "differently; compare runs of one engine"
        )


def other_programs(first: Side, second: Side) -> list[str]:
    """Programs and images in which the sides differ although the sides name the same ones."""
    named = first.manifest.get("image") != second.manifest.get("image")
    named = named or first.manifest.get("server") != second.manifest.get("server")
    keys = [key for key in _GUEST if not (named and key in ("kernel", "initramfs"))]
    return [_GUEST[key] for key in keys if _inputs(first.runs, key) != _inputs(second.runs, key)]


def _inputs(runs: Iterable[Replication], key: str) -> set[str]:
    return {str(run.manifest["inputs"].get(key, "")) for run in runs}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Which of the runs that there are stand for an experiment, and which for a workload on a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.folder import read_manifest
from s80lab.config.experiment import Experiment, load_experiment
from s80lab.experiment.plan import Options, designs
from s80lab.results.database import list_runs

# Runs of which one of these differs are of different guests or models.
_SAME = ("kernel", "initramfs", "guest_options", "plugin", "machine", "protocol")


@dataclass(frozen=True)
class _Measured:
    """A live run of an experiment as its file has it, at one point of its sweep. row: the database's."""

    experiment: Experiment
    row: Mapping[str, Any]
    folder: Path
    manifest: Mapping[str, Any]

    @property
    def point(self) -> tuple[str, str]:
        return self.row["experiment"], str(self.manifest.get("varied", {}))


def latest_runs(
    experiments: Sequence[str],
    scale: str | None,
    seeds: Sequence[int] = (),
    server: str | None = None,
    image: str | None = None,
) -> list[Path]:
    """Folders of the latest live run of each seed (of those named, or of all), at the scale, on the server and of the
    image, or the experiment's own, and of its own design: none that --set or --machine changed. UserError names the
    seed that has none."""
    own = _designs(experiments, scale)
    latest = {
        (*run.point, run.row["seed"]): run.folder
        for run in _measured(own, scale, image)
        if "server" in run.experiment.sweep or run.row["server"] == (server or run.experiment.server)
    }
    points = list(own)
    wanted = [(*point, seed) for point in points for seed in seeds] or list(latest)
    missing = [f"{name}, seed {seed}" for name, point, seed in wanted if (name, point, seed) not in latest]
    if missing or not wanted:
        what = missing[0] if missing else ", ".join(experiments)
        as_said = "as its file has it" if missing or len(experiments) == 1 else "as their files have them"
        raise UserError(f"no run of {what}, {as_said}, is in {paths.runs()}; run `s80lab run` first")
    return [latest[key] for key in sorted(wanted, key=lambda key: (points.index(key[:2]), key[2]))]


def measured_runs(experiments: Sequence[str], scale: str | None) -> dict[str, list[Path]]:
    """Of each workload on each server those live runs of the experiments that have most seeds, among as many the
    latest: folders by experiment. They are of one guest, of one point of a sweep, of the machine as its file has it, at
    the scale or the experiment's own; a seed counts once."""
    sets: dict[tuple[str, ...], dict[tuple[str, ...], dict[int, Path]]] = {}
    for run in _measured(_designs(experiments, scale), scale):
        row, machine = run.row, run.experiment.machine
        if run.manifest.get("varied", {}).get("machine", machine) == machine:
            inputs = [run.manifest["inputs"].get(name, "") for name in _SAME]
            guest = (*run.point, str(row["clients"]), str(row["think_ms"]), *inputs)
            sets.setdefault((row["workload"], row["server"]), {}).setdefault(guest, {})[row["seed"]] = run.folder
    found: dict[str, list[Path]] = {name: [] for name in experiments}
    for by_guest in sets.values():
        # Later ones stand behind earlier ones, and of equals max() takes the first.
        (name, *_), chosen = max(reversed(by_guest.items()), key=lambda of_guest: len(of_guest[1]))
        found[name] += [chosen[seed] for seed in sorted(chosen)]
    return found


def _designs(experiments: Sequence[str], scale: str | None) -> dict[tuple[str, str], dict[str, object]]:
    """The design at each point of the experiments' sweeps."""
    return {(name, str(at)): design for name in experiments for at, design in designs(name, Options(scale=scale))}


def _measured(
    own: Mapping[tuple[str, str], Mapping[str, object]], scale: str | None, image: str | None = None
) -> Iterator[_Measured]:
    """Those of the designs, at the scale and of the image, or the experiments' own, oldest first."""
    known = {name: load_experiment(name, {}) for name, _ in own}
    for row in list_runs(paths.database()):
        folder = paths.results() / row["folder"]
        experiment = known.get(row["experiment"]) if row["engine"] == "qemu" else None
        if experiment is None or not folder.is_dir() or row["scale"] != (scale or experiment.scale):
            continue
        run = _Measured(experiment, row, folder, read_manifest(folder))
        of_image = "image" in experiment.sweep or run.manifest["image"] == (image or experiment.image)
        if of_image and run.manifest["design"] == own.get(run.point):
            yield run

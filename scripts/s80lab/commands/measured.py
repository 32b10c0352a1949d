# SPDX-License-Identifier: GPL-2.0-or-later
"""Which of the runs that there are stand for a workload on a server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from s80lab.base import paths
from s80lab.base.folder import read_manifest
from s80lab.config.experiment import Experiment, load_experiment
from s80lab.experiment.plan import Options, designs
from s80lab.results.database import list_runs

# Runs of which one of these differs are of different guests or models.
_SAME = ("kernel", "initramfs", "guest_options", "plugin", "machine", "protocol")


def measured_runs(experiments: Sequence[str], scale: str | None) -> dict[str, list[Path]]:
    """Of each workload on each server those live runs of the experiments that have most seeds, among as many the
    latest: folders by experiment. They are of one guest, of one point of a sweep, of the machine as its file has it, at
    the scale or the experiment's own; a seed counts once."""
    sets: dict[tuple[str, ...], dict[tuple[str, ...], dict[int, tuple[str, Path]]]] = {}
    known = {name: load_experiment(name, {}) for name in experiments}
    own = {name: _designs(name, experiment, scale) for name, experiment in known.items()}
    for row in list_runs(paths.database()):
        folder = paths.results() / row["folder"]
        experiment = known.get(row["experiment"]) if row["engine"] == "qemu" else None
        if experiment is None or not folder.is_dir() or row["scale"] != (scale or experiment.scale):
            continue
        manifest = read_manifest(folder)
        of_image = manifest.get("image", experiment.image) == experiment.image
        if of_image and manifest["design"] in own[row["experiment"]]:
            inputs = [manifest["inputs"].get(name, "") for name in _SAME]
            point = (str(manifest["design"]), str(manifest.get("varied", {})))
            guest = (row["experiment"], str(row["clients"]), str(row["think_ms"]), *point, *inputs)
            by_guest = sets.setdefault((row["workload"], row["server"]), {})
            by_guest.setdefault(guest, {})[row["seed"]] = (row["experiment"], folder)
    found: dict[str, list[Path]] = {name: [] for name in experiments}
    for by_guest in sets.values():
        # Later ones stand behind earlier ones, and of equals max() takes the first.
        chosen = max(reversed(by_guest.values()), key=len)
        for seed in sorted(chosen):
            name, folder = chosen[seed]
            found[name].append(folder)
    return found


def _designs(name: str, experiment: Experiment, scale: str | None) -> list[dict[str, object]]:
    """At the points of its sweep that do not change its machine."""
    return [
        design
        for point, design in designs(name, Options(scale=scale))
        if point.get("machine", experiment.machine) == experiment.machine
    ]

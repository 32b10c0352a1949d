# SPDX-License-Identifier: GPL-2.0-or-later
"""Selection of existing runs: for an experiment, and for a workload on a server."""

from __future__ import annotations

import glob
import shlex
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.commands.changes import UNCHANGED, Changes
from s80lab.config.experiment import Experiment, load_experiment
from s80lab.experiment.plan import Designed, designs
from s80lab.results.database import list_runs
from s80lab.results.run_folder import RunFolder

# Runs of which one of these differs are of different guests or models.
_SAME = ("kernel", "initramfs", "guest_options", "plugin", "machine", "protocol")


class MissingRuns(UserError):
    """No run exists of these seeds of experiments. seeds: by experiment; no seeds: any seed is missing. changes: what
    the design of the runs changes in the experiment's file."""

    def __init__(self, seeds: Mapping[str, Sequence[int]], command: str, changes: Changes = UNCHANGED) -> None:
        self.seeds = seeds
        changed = f" and {' '.join(changes.words())}" if changes else ""
        super().__init__(
            f"{paths.runs()} contains no run of {self.listed()} with the design in the experiment's file{changed}; "
            f"runs of other designs do not count: first make the run with `{command}`"
        )

    def listed(self) -> str:
        """The experiments with their seeds, for example `imapb, seeds 1, 2; imape, seed 3`."""
        if not any(self.seeds.values()):
            return ", ".join(self.seeds)
        return "; ".join(
            f"{name}, seed{'' if len(seeds) == 1 else 's'} {', '.join(map(str, seeds))}"
            for name, seeds in self.seeds.items()
        )


@dataclass(frozen=True)
class _Measured:
    """A live run of an unchanged experiment, at one point of its sweep. row: its row of the database."""

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
    changes: Changes = UNCHANGED,
) -> list[Path]:
    """Folders of the latest live run of each seed and boot, by experiment, seed and boot.

    MissingRuns names the seeds without a run. Only runs of the experiment's design with these changes count.

    experiments: names of experiments.
    scale: the scale of the runs; None for the experiment's own.
    seeds: the seeds that must be there; empty for every seed that has a run.
    changes: what the runs change in the experiment's file.
    """
    own = _designs(experiments, scale, changes)
    latest = {
        (*run.point, run.row["seed"], run.manifest.get("boot", 1)): run.folder
        for run in _measured(own, scale, changes.image)
        if "server" in run.experiment.sweep or run.row["server"] == (changes.server or run.experiment.server)
    }
    points = list(own)
    measured = list(dict.fromkeys(key[:3] for key in latest))
    wanted = [(*point, seed) for point in points for seed in seeds] or measured
    missing: dict[str, list[int]] = {} if wanted else {name: [] for name in experiments}
    for name, point, seed in wanted:
        if (name, point, seed) not in measured and seed not in missing.setdefault(name, []):
            missing[name].append(seed)
    missing = {name: found for name, found in missing.items() if found or not wanted}
    if missing:
        raise MissingRuns(missing, _command(experiments, scale, seeds, changes), changes)
    chosen = [key for key in latest if key[:3] in wanted]
    return [latest[key] for key in sorted(chosen, key=lambda key: (points.index(key[:2]), *key[2:]))]


def _command(experiments: Sequence[str], scale: str | None, seeds: Sequence[int], changes: Changes) -> str:
    """The command that makes the runs."""
    chosen = {"scale": scale, "seeds": ",".join(map(str, seeds))}
    options = [word for name, value in chosen.items() if value for word in (f"--{name}", value)]
    return shlex.join(["s80lab", "run", *experiments, *options, *changes.words()])


def measured_runs(experiments: Sequence[str], scale: str | None) -> dict[str, list[Path]]:
    """For each workload on each server, the set of live runs with the most seeds: folders by experiment.

    The runs of a set have equal guests and models, lie at one point of a sweep, and use the experiment's own machine.
    A seed counts once. If several sets have equally many seeds, the latest set is taken.

    experiments: names of experiments.
    scale: the scale of the runs; None for the experiment's own.
    """
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


def runs_named(name: str) -> list[Path]:
    """The folder of the run with this name; if there is none, the folders of the runs whose names begin with it."""
    if not name or "/" in name:
        return []
    found = sorted(folder for folder in paths.runs().glob(f"{glob.escape(name)}*") if folder.is_dir())
    return [folder for folder in found if folder.name == name] or found


def only_run(name: str, found: Sequence[Path]) -> Path | None:
    """The only one of the folders that were found for a name; None without any. UserError for several."""
    if len(found) > 1:
        named = ", ".join(folder.name for folder in found)
        raise UserError(f"the names of several runs begin with `{name}`: {named}; write one complete name")
    return found[0] if found else None


def live_runs(experiments: Container[str]) -> Iterator[tuple[Mapping[str, Any], Path]]:
    """The live runs of these experiments, oldest first: their rows of the database, and their folders."""
    for row in list_runs(paths.database()):
        folder = paths.results() / row["folder"]
        if row["engine"] == "qemu" and row["experiment"] in experiments and folder.is_dir():
            yield row, folder


def _designs(
    experiments: Sequence[str], scale: str | None, changes: Changes = UNCHANGED
) -> dict[tuple[str, str], Designed]:
    """The design at each point of the experiments' sweeps. Server and image are not parts of a design."""
    options = replace(changes, server=None, image=None).options(scale)
    return {(name, str(one.point)): one for name in experiments for one in designs(name, options)}


def _measured(
    own: Mapping[tuple[str, str], Designed], scale: str | None, image: str | None = None
) -> Iterator[_Measured]:
    """The runs of these designs, oldest first. scale, image: those of the runs; None for the experiment's own."""
    known = {name: load_experiment(name, {}) for name, _ in own}
    for row, folder in live_runs(known):
        experiment = known[row["experiment"]]
        if row["scale"] != (scale or experiment.scale):
            continue
        run = _Measured(experiment, row, folder, RunFolder(folder).manifest)
        of_image = "image" in experiment.sweep or run.manifest["image"] == (image or experiment.image)
        design = own.get(run.point)
        if of_image and design is not None and design.has(run.manifest):
            yield run

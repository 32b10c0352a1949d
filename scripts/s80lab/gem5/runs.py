# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the runs of gem5 in the database."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.terminal import counted
from s80lab.config.experiment import load_experiment
from s80lab.gem5.plan import flat_design, gem5_design, gem5_part, gem5_phases
from s80lab.results.database import list_runs
from s80lab.results.run_folder import RunFolder


def shipped_runs(name: str, machine: str | None) -> list[Path]:
    """Folders of the latest run of each seed on a machine as its file describes it (None: the experiment's machine),
    with the experiment's present scale and lengths. UserError: no such run exists."""
    experiment = load_experiment(name, {})
    part = gem5_part(name, experiment)
    machine = machine or experiment.machine
    phases = gem5_phases(name, part, machine)
    wanted = {"settle": value_hash(part.settle), "run_lengths": value_hash(phases.model_dump())}
    return gem5_runs(name, machine, flat_design(*gem5_design(name, machine, part, {})), part.scale, wanted)


def gem5_runs(
    experiment: str, machine: str, design: Mapping[str, object], scale: str, inputs: Mapping[str, str]
) -> list[Path]:
    """Folders of the latest run of each seed on this design of the machine, with this scale and these inputs.
    UserError: no such run exists."""
    wanted = load_experiment(experiment, {})
    latest: dict[int, Path] = {}
    others = 0
    for row in list_runs(paths.database()):
        folder = paths.results() / row["folder"]
        if (row["engine"], row["experiment"], row["machine"]) != ("gem5", experiment, machine) or not folder.is_dir():
            continue
        manifest = RunFolder(folder).manifest
        of_it = (manifest["design"], manifest["scale"]) == (design, scale)
        of_it = of_it and (manifest["image"], manifest["server"]) == (wanted.image, wanted.server)
        if of_it and inputs.items() <= manifest["inputs"].items():
            latest[row["seed"]] = folder
        else:
            others += 1
    if not latest:
        unlike = f" ({counted(others, 'run')} with other designs, scales or lengths left out)" if others else ""
        raise UserError(
            f"{paths.runs()} contains no run of {experiment} on {machine} in gem5{unlike}: make one with "
            f"`s80lab run {experiment} --engine gem5 --machine {machine}`"
        )
    return [latest[seed] for seed in sorted(latest)]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of gem5 that are in the database."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from s80lab import paths
from s80lab.config_experiment import load_experiment
from s80lab.database import list_runs
from s80lab.errors import UserError
from s80lab.folder import read_manifest
from s80lab.gem5_plan import flat_design, gem5_design, gem5_part


def shipped_runs(name: str, machine: str | None) -> list[Path]:
    """Folders of the latest run of each seed on a machine as its file has it (None: the experiment's)."""
    experiment = load_experiment(name, {})
    machine = machine or experiment.machine
    return gem5_runs(name, machine, flat_design(*gem5_design(name, machine, gem5_part(name, experiment), {})))


def gem5_runs(experiment: str, machine: str, design: Mapping[str, object]) -> list[Path]:
    """Folders of the latest gem5 run of each seed on this design of the machine; UserError where there is none."""
    latest: dict[int, Path] = {}
    for row in list_runs(paths.database()):
        folder = paths.results() / row["folder"]
        if (row["engine"], row["experiment"], row["machine"]) != ("gem5", experiment, machine) or not folder.is_dir():
            continue
        if read_manifest(folder)["design"] == design:
            latest[row["seed"]] = folder
    if not latest:
        raise UserError(
            f"no run of {experiment} on {machine} in gem5 is in {paths.runs()}; "
            f"run `s80lab run {experiment} --engine gem5 --machine {machine}` first"
        )
    return [latest[seed] for seed in sorted(latest)]

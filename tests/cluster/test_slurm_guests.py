# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of both mixes on a real Slurm, a node of which dies: the results are those of one host, whose checkpoints came
over by export and import. $S80LAB_SLURM_SEEDS: how many seeds (1; `make slurm` has six)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.cluster.conftest import same
from tests.cluster.slurm import Slurm
from tests.lab import Lab

from s80lab.commands.run_tables import INVALID

pytestmark = pytest.mark.guest

SEEDS = [str(seed) for seed in range(1, 1 + int(os.environ.get("S80LAB_SLURM_SEEDS", "1")))]
MIXES = ("run", "imapb", "imape", "--scale", "tiny", "--seeds")


def test_runs_in_tasks(cluster: Slurm, whole: Lab, shared: Lab, tmp_path: Path) -> None:
    local = whole.beside(tmp_path / "local")
    for run in whole.runs():
        manifest = json.loads((run / "manifest.json").read_text())
        if manifest["engine"] == "qemu" and str(manifest["seed"]) in SEEDS:
            shutil.copytree(run, local.results / "runs" / run.name)
    local.call(*MIXES, ",".join(SEEDS), code=INVALID)  # what is there is not made again
    local.call("collect")
    names = {run.name: local.checkpoint_of(run).name for run in local.runs()}
    ready = {path.name for path in whole.checkpoints.glob("ready-tiny-*") if path.is_dir()}
    for name in sorted({*names.values(), *ready}):
        shared.call("checkpoint", "import", _exported(whole, name, tmp_path / "transfer"))

    script = shared.answer(
        "batch", "--slurm", "--tasks", str(len(names)), "--stage", str(tmp_path / "node"), *MIXES, ",".join(SEEDS)
    )
    job = cluster.submit(script)
    cluster.until(lambda: any(path.stat().st_size for path in _measured(shared)), "a measured region")
    cluster.power_cut("n1")
    cluster.work_off()
    assert f"Requeuing JobId={job}_" in (cluster.folder / "slurmctld.log").read_text()
    cluster.submit(script)  # does what is missing
    cluster.work_off()
    assert {run.name for run in shared.runs()} == set(names), cluster.logs()
    shared.call("collect")
    assert same(local, shared)
    said = shared.call("collect", str(local.results))  # the same runs of another host
    assert f"{len(names)} runs: nothing new" in said


def _measured(lab: Lab) -> list[Path]:
    return list(lab.results.glob("runs/.partial-*/snapshots.jsonl"))


def _exported(lab: Lab, name: str, to: Path) -> str:
    lab.call("checkpoint", "export", name, str(to))
    return str(to / name)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared run folders of the random machine in simulation.py."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.lab import Lab
from tests.simulation import write_run

from s80lab.results.database import insert_run
from s80lab.results.metrics.derive import render, write_stats
from s80lab.results.run_folder import RunFolder


@pytest.fixture(scope="session")
def made_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders imapb-1 ... imape-3 with stats.json; not to be written to. imape's are results."""
    return make_runs(tmp_path_factory.mktemp("runs"))


def make_runs(root: Path) -> Path:
    """Makes the folders; returns `root`."""
    for mix, first in (("imapb", 1), ("imape", 11)):
        for seed in range(first, first + 3):
            write_stats(RunFolder(write_run(root / f"{mix}-{seed - first + 1}", seed, mix)))
    for seed in range(1, 4):
        make_result(root / f"imape-{seed}")
    return root


def make_result(run_dir: Path) -> None:
    """Says of a run that it is a result: the random machine's intervals are too few to be told warm by."""
    path = run_dir / "stats.json"
    stats = json.loads(path.read_text())
    stats["warmup"] |= {"verdict": "steady", "reasons": []}
    stats["standing"] = {"verdict": "valid", "reasons": []}
    path.write_text(render(stats))


@pytest.fixture
def runs(made_runs: Path, tmp_path: Path) -> Path:
    """A copy of them for the test's own use."""
    return Path(shutil.copytree(made_runs, tmp_path / "runs"))


@pytest.fixture
def run_dir(runs: Path) -> Path:
    return runs / "imapb-1"


@pytest.fixture
def measured(made_runs: Path, tmp_path: Path) -> Lab:
    """A laboratory with three runs of each mix in its database."""
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    shutil.copytree(made_runs, lab.results / "runs")
    for folder in sorted((lab.results / "runs").glob("imap*")):
        insert_run(lab.results / "s80lab.sqlite", RunFolder(folder))
    return lab

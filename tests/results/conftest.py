# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared run folders of the random machine in simulation.py."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.results.simulation import write_run  # noqa: E402

from s80lab.metrics import write_stats  # noqa: E402


@pytest.fixture(scope="session")
def made_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders imapb-1 ... imape-3 with stats.json; not to be written to."""
    root = tmp_path_factory.mktemp("runs")
    for mix, first in (("imapb", 1), ("imape", 11)):
        for seed in range(first, first + 3):
            write_stats(write_run(root / f"{mix}-{seed - first + 1}", seed, mix))
    return root


@pytest.fixture
def runs(made_runs: Path, tmp_path: Path) -> Path:
    """A copy of them for the test's own use."""
    return Path(shutil.copytree(made_runs, tmp_path / "runs"))


@pytest.fixture
def run_dir(runs: Path) -> Path:
    return runs / "imapb-1"

# SPDX-License-Identifier: GPL-2.0-or-later
"""The laboratory at tiny scale, built once a session: image, checkpoints, one measured run of each mix."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.lab import Lab, own_folder

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.gem5.binary import find_gem5

pytest_plugins = ["tests.simulated_runs", "tests.spread", "tests.wheel"]


@pytest.fixture(scope="session")
def proofs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Proofs of this session only: nothing that an earlier one has kept may make a test pass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("S80LAB_PROOFS", str(tmp_path_factory.mktemp("proofs")))
        yield


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """Results anew for each session; checkpoints of an earlier one are taken where their inputs are the same."""
    with own_folder(paths.BUILD / "test") as folder:
        shutil.rmtree(folder / "results", ignore_errors=True)
        lab = Lab(folder / "checkpoints", folder / "results")
        lab.call("image", "build")
        yield lab


@pytest.fixture(scope="session")
def whole(lab: Lab) -> Lab:
    """The laboratory after `s80lab run` of both mixes at tiny scale, one seed each."""
    lab.run_tiny("imapb", "imape", "--seeds", "1")
    return lab


@pytest.fixture
def with_sweep(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Path]:
    """Makes the shipped experiment with a sweep in its file, as the only one there is: `swept`."""

    def make(sweep: str) -> Path:
        file = tmp_path / "swept.toml"
        file.write_text((paths.EXPERIMENTS / "imapb.toml").read_text() + sweep)
        monkeypatch.setattr(paths, "EXPERIMENTS", tmp_path)
        return file

    return make


@pytest.fixture(scope="session")
def gem5() -> Path:
    """The user's own gem5; tests that need it are skipped where there is none."""
    try:
        return find_gem5()
    except UserError as absent:
        pytest.skip(str(absent))

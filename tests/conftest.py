# SPDX-License-Identifier: GPL-2.0-or-later
"""The laboratory at tiny scale, built once a session: image, checkpoints, one measured run of each mix."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.lab import Lab, own_folder
from xdist.workermanage import WorkerController

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.staging import held
from s80lab.gem5.binary import find_gem5

pytest_plugins = ["tests.simulated_runs", "tests.spread"]
_FOLDER = pytest.StashKey[Path]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    node.workerinput["lab"] = str(lab_folder(node.config))


def lab_folder(config: pytest.Config) -> Path:
    """One for all processes of this session. Results anew; checkpoints of an earlier session are taken where their
    inputs are the same."""
    if hasattr(config, "workerinput"):
        return Path(config.workerinput["lab"])
    if _FOLDER not in config.stash:
        stack = ExitStack()
        config.add_cleanup(stack.close)
        config.stash[_FOLDER] = stack.enter_context(own_folder(paths.BUILD / "test"))
        shutil.rmtree(config.stash[_FOLDER] / "results", ignore_errors=True)
    return config.stash[_FOLDER]


@pytest.fixture(scope="session")
def proofs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Proofs of this session only: nothing that an earlier one has kept may make a test pass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("S80LAB_PROOFS", str(tmp_path_factory.mktemp("proofs")))
        yield


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Lab:
    """The session's laboratory, with an image. Only tests marked `changes_lab` make something else in it than `whole`
    does; others work on its checkpoints with results of their own (`beside`)."""
    folder = lab_folder(request.config)
    lab = Lab(folder / "checkpoints", folder / "results")
    lab.call("image", "build")
    return lab


@pytest.fixture(scope="session")
def whole(lab: Lab) -> Lab:
    """The laboratory after `s80lab run` of both mixes at tiny scale, one seed each."""
    with held(lab.results.parent / "whole.lock", lambda: None):
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of the studies are found by their names, like those of configs and workloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import find
from s80lab.base.suggest import names
from s80lab.config.experiment import load_experiment
from s80lab.config.machine import load_machine
from s80lab.config.server import load_server
from s80lab.config.workload import load_workload
from s80lab.experiment.check import check_file

KINDS: dict[str, tuple[Path, Callable[[str], object]]] = {
    "experiments": (paths.EXPERIMENTS, lambda name: load_experiment(name, {})),
    "machines": (paths.MACHINES, load_machine),
    "profiles": (paths.PROFILES, load_workload),
    "servers": (paths.SERVERS, load_server),
}
FILES = sorted(file for kind in KINDS for file in paths.STUDIES.glob(f"*/{kind}/*.toml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_file_of_a_study_is_found_by_its_name(file: Path) -> None:
    folder, load = KINDS[file.parent.name]
    assert file.stem in names(folder) and find("file", folder, file.stem) == file
    load(file.stem)
    assert check_file(file).problems == ()


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_is_in_two_folders(kind: str) -> None:
    folder = KINDS[kind][0]
    found = Counter(file.stem for place in paths.places(folder) for file in place.glob("*.toml"))
    assert [name for name, places in found.items() if places > 1] == []


def test_file_of_the_lab_replaces_the_file_of_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "HOME", tmp_path)
    own = tmp_path / "configs" / "machines" / "e6500.toml"
    own.parent.mkdir(parents=True)
    own.write_text("")
    assert find("machine", paths.MACHINES, "e6500") == own


def test_folder_of_a_test_has_no_files_of_studies(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no machine `e6500`"):
        find("machine", tmp_path / "machines", "e6500")

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab doctor` only looks: it fetches, builds and writes nothing. `s80lab init` in a folder that cannot be made."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.forked import command
from tests.lab import LIMIT_S

from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.commands.init import init_command, make_lab
from s80lab.commands.line.maintain import InitArguments
from s80lab.experiment.resources import Need, require


def test_doctor_in_an_empty_lab_writes_no_file(tmp_path: Path) -> None:
    places = {"S80LAB_HOME": "lab", "S80LAB_CHECKPOINTS": "checkpoints", "XDG_DATA_HOME": "data"}
    own = {name: str(tmp_path / folder) for name, folder in places.items()}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("S80LAB_")}
    done = subprocess.run(
        command(["doctor", "--scale", "tiny", "--json"]),
        env=inherited | own,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    findings = {one["subject"]: one for one in json.loads(done.stdout)}
    assert findings["QEMU"]["good"] and not findings["guest image"]["good"]
    assert f"; {host.cores()} cores" in findings["resources"]["text"]
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_need_of_disk_is_compared_with_the_disk_of_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "checkpoints"
    require(Need(disk=1, memory=1), folder)
    with pytest.raises(UserError, match=r"checkpoints: 1152921504.6 GB of disk are needed"):
        require(Need(disk=1 << 60, memory=1), folder)
    assert list(tmp_path.iterdir()) == []


def test_make_lab_name_with_nul_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the name of a folder cannot contain a NUL character"):
        make_lab(tmp_path / "lab\0")
    assert list(tmp_path.iterdir()) == []


def test_init_on_a_full_disk_leaves_nothing(small_disk: Path) -> None:
    for folder in (small_disk / "a" / "lab", small_disk):
        with pytest.raises(UserError, match="the disk of this folder is full"):
            make_lab(folder)
        assert list(small_disk.iterdir()) == []


def test_init_prints_the_folder_without_control_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paths, "CHECKOUT", False)
    init_command(InitArguments(tmp_path / "\x1b[31mx"))
    said = capsys.readouterr().out
    assert "\\x1b[31mx is now a lab" in said and "\x1b" not in said
    assert (tmp_path / "\x1b[31mx" / paths.MARK).is_file()

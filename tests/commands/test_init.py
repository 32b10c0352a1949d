# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab init` in a folder that cannot be made. tests/test_wheel.py makes a lab with an installed package."""

from __future__ import annotations

from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.commands.init import init_command, make_lab
from s80lab.commands.line.maintain import InitArguments


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

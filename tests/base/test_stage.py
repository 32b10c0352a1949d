# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies on the host's own disk, which nobody but the batch system and its user empties."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.base.test_staging import leave_partial

from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash
from s80lab.base.stage import staged


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "stage").mkdir()
    monkeypatch.setenv("S80LAB_STAGE", str(tmp_path / "stage"))
    return tmp_path / "stage"


def copy(folder: Path) -> Path:
    """Of a folder of two files."""
    folder.mkdir(exist_ok=True)
    for name in ("one", "two"):
        (folder / name).write_text(name)
    hashes = {name: file_hash(folder / name) for name in ("one", "two")}
    return asyncio.run(staged(folder, "key", hashes, file_hash, lambda: None))


def test_what_a_killed_copy_left_goes_with_the_next(stage: Path, tmp_path: Path) -> None:
    """It may be gigabytes of a guest's memory."""
    leave_partial(stage / "dead")
    copy(tmp_path / "source")
    assert not list(stage.glob(".partial-*"))


def test_a_copy_that_somebody_has_thinned_out_is_made_anew(stage: Path, tmp_path: Path) -> None:
    """As hosts do with old files on such disks."""
    made = copy(tmp_path / "source")
    (made / "two").unlink()
    assert copy(tmp_path / "source") == made
    assert (made / "two").read_text() == "two"


def test_copy_that_has_changed_is_refused(stage: Path, tmp_path: Path) -> None:
    final = copy(tmp_path / "source")
    (final / "two").write_text("owt")
    with pytest.raises(
        UserError, match=r"two: this copy has changed since s80lab made it; remove the folder .*source-"
    ):
        copy(tmp_path / "source")

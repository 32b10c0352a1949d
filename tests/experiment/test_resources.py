# SPDX-License-Identifier: GPL-2.0-or-later
"""Disk and memory are looked at before anything starts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.config.experiment import load_scale
from s80lab.experiment.resources import GIB, Need, available_memory, checkpoint_bytes, require


def free_disk(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=free))


def test_too_little_disk_is_refused_with_both_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free_disk(monkeypatch, 2 * GIB - 1)
    with pytest.raises(UserError, match=r"2.1 GB of disk are needed, but 2.1 GB are free: remove old"):
        require(Need(2 * GIB, 0), tmp_path)


def test_just_enough_disk_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free_disk(monkeypatch, 2 * GIB)
    require(Need(2 * GIB, 0), tmp_path)


def test_too_little_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"1000000.0 GiB of memory are needed, but .* run fewer guests in parallel"):
        require(Need(0, 1_000_000 * GIB), tmp_path)


def test_memory_is_what_linux_says_is_available(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 99 kB\nMemFree: 1 kB\nMemAvailable: 42 kB\n")
    assert available_memory(tmp_path / "meminfo") == 42 * 1024


def test_a_checkpoint_is_larger_than_its_mail_and_no_larger_than_its_ram() -> None:
    for name in ("tiny", "small", "paper"):
        scale = load_scale(name)
        assert scale.store_bytes() < checkpoint_bytes(scale) <= scale.ram

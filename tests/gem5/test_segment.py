# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a segment of the boot ends: configs/gem5/segment.py, which runs inside gem5."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from s80lab.base import paths

LIMIT = 100


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("segment", paths.ROOT / "configs" / "gem5" / "segment.py")
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.parametrize("line", ["s80lab: cpus 18", "s80lab: store 100%", "s80lab: servers"])
def test_segment_ends_with_each_stage(module: ModuleType, tmp_path: Path, line: str) -> None:
    console = tmp_path / "console"
    segment = module.Segment(console, LIMIT)
    assert not segment.has_ended(1)
    console.write_text(f"[    0.5] smp: Bringing up CPUs\r\n{line}")
    assert not segment.has_ended(2), "the line is incomplete"
    console.write_text(f"[    0.5] smp: Bringing up CPUs\r\n{line}\r\n")
    assert segment.has_ended(3)


@pytest.mark.parametrize("line", ["s80lab: store 90%", "s80lab: boot", "s80lab: ready", "x s80lab: servers"])
def test_segment_continues_within_a_stage(module: ModuleType, tmp_path: Path, line: str) -> None:
    console = tmp_path / "console"
    console.write_text(f"{line}\r\n")
    assert not module.Segment(console, LIMIT).has_ended(LIMIT - 1)


def test_segment_ends_at_its_limit_between_two_lines(module: ModuleType, tmp_path: Path) -> None:
    console = tmp_path / "console"
    segment = module.Segment(console, LIMIT)
    console.write_text("half of a li")
    assert not segment.has_ended(LIMIT)
    console.write_text("half of a line\n")
    assert segment.has_ended(LIMIT)


def test_segment_without_a_limit_ends_with_its_stage_only(module: ModuleType, tmp_path: Path) -> None:
    console = tmp_path / "console"
    segment = module.Segment(console, None)
    assert not segment.has_ended(1000 * LIMIT)
    console.write_text("s80lab: cpus 18\n")
    assert segment.has_ended(1000 * LIMIT + 1)


def test_segment_without_output_ends_at_its_limit(module: ModuleType, tmp_path: Path) -> None:
    segment = module.Segment(tmp_path / "absent", LIMIT)
    assert [segment.has_ended(LIMIT - 1), segment.has_ended(LIMIT)] == [False, True]

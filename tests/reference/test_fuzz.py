# SPDX-License-Identifier: GPL-2.0-or-later
"""A short run of each fuzzer, always the same one; `make fuzz` runs them for longer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from s80lab.base import paths

BIN = paths.BUILD / "bin"
FOUND = Path(__file__).parent / "fuzz" / "found"
SEED = 80

pytestmark = pytest.mark.skipif(
    not (BIN / "fuzz-table").exists(),
    reason="no fuzzers were built: clang++ or its run-time library (libclang-rt-dev) is missing",
)


def fuzz(name: str, runs: int, folder: Path, *corpora: Path) -> None:
    """So many inputs made from those of the corpora; all of these are tried first."""
    learnt = folder / "learnt"
    learnt.mkdir()
    command: list[str | Path] = [
        BIN / name,
        f"-runs={runs}",
        f"-seed={SEED}",
        "-max_len=16384",
        f"-artifact_prefix={folder}/",
    ]
    done = subprocess.run([*command, learnt, *corpora], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"Done {runs} runs" in done.stderr
    assert any(learnt.iterdir()), "no input reached anything new"


def test_table_of_arbitrary_bytes_is_read_or_refused(tmp_path: Path) -> None:
    fuzz("fuzz-table", 10_000, tmp_path, paths.PROTOCOLS, FOUND / "table")


def test_capture_of_arbitrary_bytes_is_read_or_refused(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    subprocess.run([BIN / "fuzz-capture-seeds", seeds], check=True)
    fuzz("fuzz-capture", 20_000, tmp_path, seeds, FOUND / "capture")

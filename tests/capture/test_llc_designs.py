# SPDX-License-Identifier: GPL-2.0-or-later
"""One capture explores designs of the last-level cache and of the directory."""

from pathlib import Path

from tests.capture.conftest import write_capture
from tests.lab import Lab

SETTINGS = ("llc.ways=12", "llc.slices=4", "latency.llc=40", "directory.ways=8")


def test_explore_varies_last_level_cache_and_directory(tmp_path: Path) -> None:
    """More entries leave more copies in the L2s; the size of the LLC does not change what the L2s hold."""
    capture = write_capture(tmp_path / "drawn.s80c")
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    varied = [
        *("--vary", "protocol=mesif-snoop-filter"),
        *("--vary", "llc.size=24KiB,96KiB"),
        *("--vary", "directory.entries=256,2x"),
    ]
    shown = lab.call("explore", str(capture), *(f"--set={setting}" for setting in SETTINGS), *varied)
    mpki, memory = {}, {}
    for line in shown.splitlines():
        if line.startswith("mesif-snoop-filter, llc.size"):
            design, first, second, *_ = [part for part in line.split("  ") if part]
            mpki[design] = float(first.strip().replace(",", ""))
            memory[design] = float(second.strip().rstrip("%"))
    small, large = ("mesif-snoop-filter, llc.size 24KiB", "mesif-snoop-filter, llc.size 96KiB")
    assert len(mpki) == 4
    assert mpki[f"{small}, directory.entries 256"] > mpki[f"{small}, directory.entries 2x"]
    for entries in ("256", "2x"):
        design = f"directory.entries {entries}"
        assert mpki[f"{small}, {design}"] == mpki[f"{large}, {design}"]
        assert memory[f"{small}, {design}"] > memory[f"{large}, {design}"]

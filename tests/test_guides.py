# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of docs/guides/compare.md, executed as they say, on runs with invented values."""

from __future__ import annotations

from pathlib import Path

from tests.commands.compared import add_boots
from tests.console import follow
from tests.lab import LIMIT_S, Lab

from s80lab.base import paths
from s80lab.experiment.plan import Options
from s80lab.results.run_folder import MISS_STACKS

GUIDE = paths.ROOT / "docs" / "guides" / "compare.md"
MISSES = {
    "imap;system_call;futex_wake;futex bucket": (412, 540),
    "imap;user;libc.so.6: malloc;heap": (380, 391),
    "kernel;tick;update_load_avg;task group": (95, 88),
}
"""For each stack the misses of a run: MOESI with 8 MiB, and MESI with 2 MiB."""


def test_guide_to_comparisons_prints_what_it_shows(made_runs: Path, tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    with lab.entered():
        template = made_runs / "imape-1"
        first = add_boots(lab, template, Options())
        mesi = Options(protocol="mesi", settings={"l2.size": "2MiB"})
        second = add_boots(lab, template, mesi, turn=1, l2_mpki_all=0.12, miss_source_all_memory=0.05, e_share=0.03)
    for side, names in enumerate((first, second)):
        for boot, name in enumerate(names):
            stacks = "".join(
                f"{stack} {1000 * counts[side] + (3 + side) * 500 * boot}\n" for stack, counts in MISSES.items()
            )
            (lab.results / "runs" / name / MISS_STACKS).write_text(stacks)
    assert follow(GUIDE, tmp_path, lab.environment(), LIMIT_S) >= 2

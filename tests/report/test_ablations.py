# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of an ablation: what its intervals are over, and invalid runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.commands.compared import USUAL, add_run
from tests.lab import Lab

from s80lab.analysis.groups import Group, read_groups
from s80lab.experiment.plan import Options
from s80lab.report.ablations import ablation_table
from s80lab.report.tables import Table


def variant(
    lab: Lab, made_runs: Path, label: str, runs: list[tuple[int, int, float]], invalid: tuple[int, ...] = ()
) -> Group:
    """A group of runs (boot, seed, misses per 1000 instructions). invalid: the boots whose runs are invalid."""
    folders = [
        lab.results
        / "runs"
        / add_run(
            lab,
            made_runs / "imape-1",
            boot,
            USUAL | {"l2_mpki.all": misses},
            Options(),
            seed=seed,
            valid=boot not in invalid,
        )
        for boot, seed, misses in runs
    ]
    (group,) = read_groups(folders)
    return replace(group, label=label)


def cells(table: Table) -> dict[str, dict[str, str]]:
    return {row.label: dict(zip(table.columns, (cell.text for cell in row.cells), strict=True)) for row in table.rows}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "checkpoints", tmp_path / "results")


def test_interval_of_several_boots_is_over_the_boots(lab: Lab, made_runs: Path) -> None:
    """The two seeds of boot 1 count as one value, 2."""
    group = variant(lab, made_runs, "none", [(1, 1, 1.0), (1, 2, 3.0), (2, 1, 4.0)])
    table = ablation_table("ablation", [group])
    assert cells(table)["none"]["MPKI"] == "3.000 ± 12.706"
    assert (
        "means over the boots ± 95% confidence intervals. The value of a boot is the mean over its seeds" in table.note
    )


def test_invalid_run_is_left_out_of_the_means_and_named(lab: Lab, made_runs: Path) -> None:
    runs = [(1, 1, 1.0), (2, 1, 3.0), (3, 1, 99.0)]
    table = ablation_table("ablation", [variant(lab, made_runs, "all", runs, invalid=(3,))])
    assert cells(table)["all"]["MPKI"].startswith("2.000 ")
    assert cells(table)["all"]["runs"] == "2"
    assert "all: 2 of 3 runs are valid." in table.note
    assert "Boot 3: seed 1: 2.20 closed-loop cycles per client measured, 3 are needed." in table.note


def test_valid_runs_are_not_mentioned_in_the_note(lab: Lab, made_runs: Path) -> None:
    table = ablation_table("ablation", [variant(lab, made_runs, "all", [(1, 1, 1.0), (2, 1, 3.0)])])
    assert "valid" not in table.note

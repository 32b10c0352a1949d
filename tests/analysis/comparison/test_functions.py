# SPDX-License-Identifier: GPL-2.0-or-later
"""Misses by function on both sides of a comparison."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.analysis.comparison.sides import USUAL, run

from s80lab.analysis.comparison.contrast import Comparison
from s80lab.analysis.comparison.functions import compare_functions, read_functions
from s80lab.analysis.groups import Group, Run
from s80lab.base.errors import UserError
from s80lab.results.run_folder import MISS_STACKS


def logged(folder: Path, label: str, boot: str, stacks: str, instructions: int = 1_000_000) -> Run:
    """A run with a log of misses."""
    folder = folder / f"{label}-{boot}"
    folder.mkdir()
    (folder / MISS_STACKS).write_text(stacks)
    return replace(run(boot, 1, USUAL, label, instructions=instructions), folder=folder)


def test_functions_are_counted_over_all_processes_and_data(tmp_path: Path) -> None:
    path = tmp_path / MISS_STACKS
    path.write_text(
        "imap;user;libc.so.6: malloc;heap 30\nimap;system_call;futex_wake;futex bucket 5\nauth;futex_wake;x 7\n"
    )
    assert read_functions(path) == {"libc.so.6: malloc": 30, "futex_wake": 12}


def test_functions_are_compared_by_name_per_million_instructions(tmp_path: Path) -> None:
    first = Group("A", (logged(tmp_path, "A", "b1", "imap;tick;futex_wake;x 100\nimap;tick;other;x 10\n"),))
    second = Group("B", (logged(tmp_path, "B", "b1", "imap;tick;futex_wake;x 262\nimap;tick;new;x 4\n", 2_000_000),))
    found = compare_functions(Comparison(first, second))
    assert [(one.name, one.first, one.second) for one in found] == [
        ("futex_wake", 100.0, 131.0),
        ("other", 10.0, 0.0),
        ("new", 0.0, 2.0),
    ]
    assert [one.change for one in found] == [pytest.approx(0.31), -1.0, None]


def test_functions_of_several_boots_have_intervals(tmp_path: Path) -> None:
    first, second = (
        Group(
            label,
            tuple(logged(tmp_path, label, f"{label}{n}", f"imap;tick;futex_wake;x {n + base}\n") for n in range(3)),
        )
        for label, base in (("A", 100), ("B", 200))
    )
    (found,) = compare_functions(Comparison(first, second))
    # Deviation 1 on both sides, 4 degrees of freedom: 2.776 * sqrt(2 / 3).
    assert found.difference.half_width == pytest.approx(2.267, abs=0.001)


def test_side_without_a_log_of_misses_gives_no_functions(tmp_path: Path) -> None:
    first = Group("A", (logged(tmp_path, "A", "b1", "imap;tick;futex_wake;x 100\n"),))
    assert compare_functions(Comparison(first, Group("B", (run("b1", 1, USUAL, "B"),)))) == []


def test_damaged_log_of_misses_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "imapb-small-s1-1" / MISS_STACKS
    path.parent.mkdir()
    path.write_text("imap;tick;futex_wake;x 100\nfutex_wake\n")
    with pytest.raises(
        UserError, match=r"line 2: is not a stack with a count; `s80lab misses imapb-small-s1-1` writes"
    ):
        read_functions(path)

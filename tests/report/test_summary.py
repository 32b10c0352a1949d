# SPDX-License-Identifier: GPL-2.0-or-later
"""The summary on the terminal: verdict, differences and six rows in at most 30 lines, whatever the runs are."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from s80lab.analysis.groups import Group, read_groups
from s80lab.base.errors import UserError
from s80lab.report.summary import LINES, MOST_GROUPS, ROWS, summary_table
from s80lab.report.terminal import print_section, print_summary


def summary(groups: Sequence[Group], width: int = 80) -> list[str]:
    text = io.StringIO()
    print_summary(groups, Console(file=text, width=width))
    return text.getvalue().splitlines()


def test_summary_has_verdict_six_rows_and_where_the_rest_is(runs: Path) -> None:
    lines = summary(read_groups(sorted(runs.glob("imape-?"))))
    assert lines[0] == "Valid: imape · tiny (3 runs)."
    assert lines[1] == "Different from the experiment's file: tiny."
    rows = [line for line in lines if " ± " in line]
    assert len(rows) == len(ROWS) == 6
    assert rows[1].startswith("L2 misses serviced by memory ")
    assert "--all" in lines[-2] + lines[-1]
    assert len(lines) <= 16


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 30])
@pytest.mark.parametrize("label", ["imapb", "imapb · tiny · moesi-dirty-supply · l2.size=2MiB · latency.memory=200"])
def test_summary_of_any_number_of_groups_fits_a_terminal(runs: Path, count: int, label: str) -> None:
    invalid, valid = read_groups(sorted(runs.glob("imap?-?")))
    groups = [replace(group, label=f"{label} {number}") for number in range(count) for group in (invalid, valid)][
        :count
    ]
    lines = summary(groups)
    assert len(lines) <= LINES
    if count > MOST_GROUPS:
        assert any(f"{count - MOST_GROUPS} further groups on the page" in line for line in lines)


def test_summary_table_leaves_out_the_paper_if_the_design_is_not_the_papers(runs: Path) -> None:
    run = runs / "imape-1"
    assert summary_table(read_groups([run])).columns == ("imape · tiny", "paper")
    path = run / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"protocol": "mesi"}))
    assert summary_table(read_groups([run])).columns == ("imape · tiny · mesi",)


def test_section_is_printed_alone_and_an_unknown_one_is_refused(runs: Path) -> None:
    groups = read_groups([runs / "imape-1"])
    text = io.StringIO()
    print_section(groups, "fills", Console(file=text, width=120))
    assert text.getvalue().startswith("Fills of the L2 caches") and "Headline" not in text.getvalue()
    with pytest.raises(UserError, match=r"--section fils: the report has no such section: did you mean fills\?"):
        print_section(groups, "fils", Console())

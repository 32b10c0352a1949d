# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab claims`: every claim of the paper, compared with the runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from s80lab.analysis.claims.judge import findings
from s80lab.analysis.groups import Group, read_groups
from s80lab.base import paths
from s80lab.base.files import write_file
from s80lab.base.terminal import plain
from s80lab.commands.line.compare import ClaimsArguments
from s80lab.commands.measured import latest_runs
from s80lab.commands.output import print_json, wide_console
from s80lab.report.claims import claims_page, claims_table, verdict_counts
from s80lab.report.terminal import print_table
from s80lab.results.reference import result_runs

PAGE = paths.HOME / "docs" / "background" / "claims.md"
# Reference results, in the order of the page, by its headings.
HEADINGS = {"At the paper's scale": "paper-scale", "The default experiment": "small"}


def claims_command(args: ClaimsArguments) -> None:
    """Compare every claim of the paper (Koka and Lipasti) with the latest run of each seed, and print a verdict with
    its reason for each claim."""
    if args.reference:
        print(plain(f"page: {write_page()}"))
        return
    groups = read_groups(latest_runs(args.experiments or ["imapb", "imape"], args.scale))
    if args.as_json:
        print_json([finding.record() for finding in findings(groups)])
    else:
        print_table(claims_table(groups), wide_console(), details=True)
        print(verdict_counts(groups))


def write_page() -> Path:
    """Write docs/background/claims.md from the present reference results; return its path."""
    write_file(PAGE, claims_page(reference_groups()))
    return PAGE


def reference_groups() -> dict[str, Sequence[Group]]:
    """The reference results by the headings of the page."""
    return {heading: read_groups(result_runs(name)) for heading, name in HEADINGS.items()}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables and page of a run's profile, as in the paper's section 3.4.

Files in the run's folder: profile.html (the tables), profile.collapsed (stacks for speedscope and flame graphs).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from s80lab.analysis.profile import KERNEL, SESSION, USER, Sample, collapsed, read_profile
from s80lab.base.files import write_file
from s80lab.base.format import ABSENT
from s80lab.report.page import Topic, render
from s80lab.report.tables import Cell, Row, Table
from s80lab.results.run_folder import PROFILE_PAGE, PROFILE_STACKS, RunFolder

# Libraries whose functions count as TLS.
TLS = ("libssl", "libcrypto")
MOST = 30


def write_profile(run: Path) -> Sequence[Table]:
    """Writes profile.html and profile.collapsed; returns the tables."""
    profile = read_profile(run)
    tables = [*profile_tables(profile.samples), _branches(profile.branches)]
    lead = (
        "Instructions of the measured region by process and function. The plugin takes one sample per fixed number of "
        "instructions of each processor. The shares are shares of instructions, not of time: stalls are not included."
    )
    topics = [Topic(table.title, [], [table]) for table in tables]
    title = f"Profile of {RunFolder(run).manifest['run']}"
    write_file(run / PROFILE_PAGE, render(title, lead, verdicts=[], notes=[], topics=topics, origins=[]))
    write_file(run / PROFILE_STACKS, collapsed(profile.samples))
    return tables


def profile_tables(samples: Sequence[Sample]) -> list[Table]:
    """The sessions' user code, as in the paper's profile; then all work; then the kernel."""
    busy = [one for one in samples if one.entry != "idle"]
    user = [one for one in busy if one.entry == USER]
    kernel = [one for one in busy if one.entry != USER]
    sessions = [one for one in user if one.process_class == SESSION]
    return [
        _table("User code of the sessions, by function", sessions, lambda one: one.function),
        _table("User code of the sessions, by program and library", sessions, _program_or_tls),
        _table("All work, by process", busy, lambda one: f"{one.process}, {'user' if one.entry == USER else KERNEL}"),
        _table("All user code, by program and library", user, _program_or_tls),
        _table("Kernel code without the idle loop, by entry cause", kernel, lambda one: one.entry),
        _table("Kernel code without the idle loop, by function", kernel, lambda one: one.function),
    ]


def _branches(branches: Mapping[str, Mapping[str, int]]) -> Table:
    """Directions of the conditional branches, as in the paper's Figure 10."""
    table = Table("Conditional branches", ("taken", "not taken", "sampled branches"))
    table.note = "The plugin samples every 101st conditional branch of each processor."
    for privilege, counts in branches.items():
        followed = counts["taken"] + counts["not_taken"]
        shares = [f"{100 * counts[way] / followed:.1f}%" if followed else ABSENT for way in ("taken", "not_taken")]
        table.rows.append(Row(privilege, (*map(Cell, shares), Cell(f"{followed:,}"))))
    return table


def _program_or_tls(sample: Sample) -> str:
    return f"{sample.program} (TLS)" if sample.program.startswith(TLS) else sample.program


def _table(title: str, samples: Sequence[Sample], key: Callable[[Sample], str]) -> Table:
    """The largest shares of the samples, and the sum of the rest."""
    counts = Counter[str]()
    for one in samples:
        counts[key(one)] += one.count
    whole = counts.total()
    table = Table(title, ("share", "samples"))
    largest = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    rest = sum(count for _, count in largest[MOST:])
    rows = [*largest[:MOST], *([(f"{len(largest) - MOST} others", rest)] if rest else [])]
    table.rows = [Row(name, (Cell(f"{100 * count / whole:.1f}%"), Cell(f"{count:,}"))) for name, count in rows]
    return table

# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's profile (`s80lab run ... --profile`): its instructions by process and function, as in the paper's section
3.4.

Files in the run's folder: profile.json (the plugin's samples, taken at a fixed number of instructions per processor),
memory.npz (the files that the guest's processes had mapped), profile.html (the tables), profile.collapsed (stacks for
speedscope and flame graphs).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import write_file
from s80lab.base.folder import read_manifest
from s80lab.report.misses.functions import Functions
from s80lab.report.misses.memory import read_map
from s80lab.report.misses.run import MAP, booted_image
from s80lab.report.page import Topic, render
from s80lab.report.tables import ABSENT, Cell, Row, Table

PROFILE, PAGE, STACKS = "profile.json", "profile.html", "profile.collapsed"
SESSION, USER = "session", "user"
# Libraries whose functions count as TLS.
TLS = ("libssl", "libcrypto")
KERNEL = "kernel"
MOST = 30


@dataclass(frozen=True)
class Sample:
    """`count` samples in one basic block: process, class, kernel entry cause (`user` for user code) and function."""

    process: str
    party: str
    entry: str
    function: str
    count: int

    @property
    def program(self) -> str:
        """The file that contains the function; `kernel` for kernel code."""
        return self.function.partition(": ")[0] if self.entry == USER else KERNEL


def has_profile(run: Path) -> bool:
    """Whether the run's folder holds a profile."""
    return (run / PROFILE).is_file() and (run / MAP).is_file()


def _branches(content: dict[str, Any]) -> Table:
    """Directions of the conditional branches, as in the paper's Figure 10."""
    table = Table("Conditional branches", ("taken", "not taken", "sampled branches"))
    table.note = "The plugin samples every 101st conditional branch of each processor."
    for privilege, counts in content["branches"].items():
        followed = counts["taken"] + counts["not_taken"]
        shares = [f"{100 * counts[way] / followed:.1f}%" if followed else ABSENT for way in ("taken", "not_taken")]
        table.rows.append(Row(privilege, (*map(Cell, shares), Cell(f"{followed:,}"))))
    return table


def _content(run: Path) -> dict[str, Any]:
    if not has_profile(run):
        raise UserError(f"{run}: this run has no profile; run the experiment with --profile")
    try:
        content: dict[str, Any] = json.loads((run / PROFILE).read_text(encoding="utf-8"))
        return content
    except (OSError, ValueError) as error:
        raise UserError(f"{run / PROFILE}: cannot be read ({error}); run it again with --profile") from None


def read_profile(run: Path) -> list[Sample]:
    """The run's samples. UserError if it has no profile, or if the image that it booted no longer exists."""
    return _samples(run, _content(run))


def _samples(run: Path, content: dict[str, Any]) -> list[Sample]:
    image, kernel = booted_image(run)
    functions = Functions(kernel.symbols, read_map(run / MAP).files, image / "initramfs.cpio", paths.BIN)
    try:
        parties, entries = content["labels"]["class"], content["labels"]["entry"]
        # One name for the threads that each processor has: `swapper/3`.
        whos = [(int(pid), re.sub(r"/\d+$", "", str(process))) for pid, process, _ in content["whos"]]
        return [
            Sample(
                process=whos[who][1],
                party=parties[context // len(entries)],
                entry=entries[context % len(entries)],
                function=functions.name(whos[who][0], block),
                count=count,
            )
            for block, who, context, count in content["samples"]
        ]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise UserError(f"{run / PROFILE}: cannot be read ({error}); run it again with --profile") from None


def write_profile(run: Path) -> Sequence[Table]:
    """Writes profile.html and profile.collapsed; returns the tables."""
    content = _content(run)
    samples = _samples(run, content)
    tables = [*profile_tables(samples), _branches(content)]
    lead = (
        "Instructions of the measured region by process and function. The plugin takes one sample per fixed number of "
        "instructions of each processor. The shares are shares of instructions, not of time: stalls are not included."
    )
    topics = [Topic(table.title, [], [table]) for table in tables]
    title = f"Profile of {read_manifest(run)['run']}"
    write_file(run / PAGE, render(title, lead, verdicts=[], notes=[], topics=topics, origins=[]))
    write_file(run / STACKS, collapsed(samples))
    return tables


def profile_tables(samples: Sequence[Sample]) -> list[Table]:
    """The sessions' user code, as in the paper's profile; then all work; then the kernel."""
    busy = [one for one in samples if one.entry != "idle"]
    user = [one for one in busy if one.entry == USER]
    kernel = [one for one in busy if one.entry != USER]
    sessions = [one for one in user if one.party == SESSION]
    return [
        _table("User code of the sessions, by function", sessions, lambda one: one.function),
        _table("User code of the sessions, by program and library", sessions, _program_or_tls),
        _table("All work, by process", busy, lambda one: f"{one.process}, {'user' if one.entry == USER else KERNEL}"),
        _table("All user code, by program and library", user, _program_or_tls),
        _table("Kernel code without the idle loop, by entry cause", kernel, lambda one: one.entry),
        _table("Kernel code without the idle loop, by function", kernel, lambda one: one.function),
    ]


def collapsed(samples: Iterable[Sample]) -> str:
    """One line per stack: `process;entry;function count`."""
    stacks = Counter[str]()
    for one in samples:
        frames = (one.process, one.entry, one.function)
        stacks[";".join(frame.replace(";", ",") for frame in frames)] += one.count
    return "".join(f"{stack} {count}\n" for stack, count in sorted(stacks.items()))


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

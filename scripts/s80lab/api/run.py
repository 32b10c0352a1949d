# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of a lab, with data frames of its attributed misses and its profile."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from s80lab.analysis import groups
from s80lab.analysis.misses.stacks import read_stacks
from s80lab.analysis.profile import read_profile
from s80lab.api.frames import frame, html_table
from s80lab.base.errors import UserError
from s80lab.report.misses.page import write_misses
from s80lab.report.summary import summary_entries
from s80lab.results.identity import identity
from s80lab.results.run_folder import MISS_STACKS, RunFolder

if TYPE_CHECKING:
    import pandas


class Run:
    """One run.

    >>> run = lab.reference("small")[0]
    >>> run.manifest["mix"], run.reasons, round(run.metrics["e_share"], 3)
    ('imapb', (), 0.387)
    """

    def __init__(self, read: groups.Run) -> None:
        self.read = read

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self.read.folder

    @property
    def name(self) -> str:
        return self.read.name

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The inputs of the run."""
        return self.read.manifest

    @property
    def metrics(self) -> Mapping[str, float | None]:
        """Values by flattened names."""
        return self.read.metrics

    @property
    def stats(self) -> Mapping[str, Any]:
        """The content of stats.json."""
        return self.read.stats

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons why the run is invalid; empty for a valid run."""
        return self.read.reasons

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes the run from others: the columns of the view v_run of the database."""
        return identity(self.manifest, self.stats)

    def __repr__(self) -> str:
        return f"Run({self.name}, {self.identity['design']}, {'invalid' if self.reasons else 'valid'})"

    def _repr_html_(self) -> str:
        rows = [(entry.label, _text(self.metrics.get(entry.metric), entry)) for entry in summary_entries()]
        head = f"{self.name}: {self.identity['design']}, {'invalid' if self.reasons else 'valid'}"
        return html_table(("", head), rows)

    def misses(self) -> pandas.DataFrame:
        """The attributed L2 misses, one row per stack: process, kernel entry cause, function, data, and number of
        misses, most misses first. The run must have been made with `s80lab run --misses`."""
        folder = RunFolder(self.folder)
        if folder.has_misses():
            write_misses(self.folder)
        elif not (folder / MISS_STACKS).is_file():
            raise UserError(f"{self.name}: this run has no log of misses; repeat the run with --misses")
        rows = [
            {"process": frames[0], "entry": "; ".join(frames[1:-2]), "function": frames[-2], "data": frames[-1]}
            | {"misses": misses}
            for frames, misses in read_stacks(folder / MISS_STACKS)
        ]
        return frame(sorted(rows, key=lambda row: -int(row["misses"])))

    def profile(self) -> pandas.DataFrame:
        """The sampled instructions, one row per process, class, kernel entry cause and function, most samples first.
        The run must have been made with `s80lab run --profile`."""
        return frame(
            {"process": one.process, "class": one.party, "entry": one.entry, "program": one.program}
            | {"function": one.function, "samples": one.count}
            for one in sorted(read_profile(self.folder).samples, key=lambda one: -one.count)
        )


def _text(value: float | None, entry: Any) -> str:
    return "-" if value is None else entry.style.text(value) + entry.style.suffix

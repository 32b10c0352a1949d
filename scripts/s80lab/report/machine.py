# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of the machine: every key of the design, with marks where a run differs from its experiment's file.
The table of a group's cores: how busy each core is, how often its L2 misses, and what its L2 supplies to others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

from s80lab.analysis.groups import NO_WORKLOAD, Group
from s80lab.base.format import ABSENT
from s80lab.config.differences import NAMES, differences, value_text
from s80lab.config.differences import values as values_of_run
from s80lab.config.machine import default_tables
from s80lab.report.tables import Cell, Row, Table

MARK = "≠ "
MOST_COLUMNS = 6
"""Runs that have a column each. Of more runs, the table shows the common values."""
SEVERAL = "several values"
_NOTE = (
    "The names in the experiment's file, and the values of the modelled machine by the keys of the machine file. "
    "≠ marks a value that differs from the experiment's file."
)


def machine_table(groups: Sequence[Group]) -> Table:
    """One row per key and one column per group."""
    return table_of_machines([(group.label, group.runs[0].manifest) for group in groups])


def table_of_machines(runs: Sequence[tuple[str, Mapping[str, Any]]]) -> Table:
    """One row per key and one column per run. runs: pairs of the column's heading and the run's manifest."""
    values = [_values(manifest) for _, manifest in runs]
    marks = [set(differences(manifest)) for _, manifest in runs]
    together = len(runs) > MOST_COLUMNS
    columns = ("all",) if together else tuple(label for label, _ in runs)
    table = Table("Machine", columns, note=_NOTE)
    for key in dict.fromkeys(key for of_run in values for key in of_run):
        texts = [
            f"{MARK if key in changed else ''}{of_run.get(key, ABSENT)}"
            for of_run, changed in zip(values, marks, strict=True)
        ]
        if together:
            texts = texts[:1] if len(set(texts)) == 1 else [SEVERAL]
        table.rows.append(Row(key, tuple(map(Cell, texts))))
    return table


def _values(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Everything that can differ; of an imported trace only what belongs to the machine."""
    unknown = set(NAMES) - {"machine", "protocol"} if manifest["workload"] == NO_WORKLOAD else set()
    known = {key: value for key, value in values_of_run(manifest).items() if key not in unknown}
    if not manifest.get("design"):
        return known
    return known | {key: value_text(key, value) for key, value in default_tables().items() if key not in known}


_COLUMNS = ("busy", "L2 MPKI", "share of the L2 misses", "share of the lines supplied")
_NEEDED = ("instructions", "l2_misses", "interventions")
UNLIKE = 2.0
"""A core with this many times the misses of the median core is named below the table."""


def cores_tables(groups: Sequence[Group]) -> list[Table]:
    """One table per group with several cores."""
    return [table for group in groups if (table := _table(group)) is not None]


def _table(group: Group) -> Table | None:
    counts: list[Mapping[str, Any]] = [run.stats["region"].get("by_core", {}) for run in group.runs]
    if any(key not in of_run for of_run in counts for key in _NEEDED) or len(counts[0]["instructions"]) < 2:
        return None
    table = Table(f"Cores, {group.label}", _COLUMNS)
    missed = _shares([of_run["l2_misses"] for of_run in counts])
    supplied = _shares([of_run["interventions"] for of_run in counts])
    for core, (misses, lines) in enumerate(zip(missed, supplied, strict=True)):
        rates = [
            1000 * of_run["l2_misses"][core] / of_run["instructions"][core]
            for of_run in counts
            if of_run["instructions"][core]
        ]
        cells = (f"{group.mean(f'busy_share.{core:02d}'):.1%}", f"{fmean(rates):.3f}" if rates else "-")
        table.rows.append(Row(f"core {core}", tuple(map(Cell, (*cells, f"{misses:.1%}", f"{lines:.1%}")))))
    table.note = (
        "Means over the runs. L2 MPKI: misses of the core's L2 per 1000 instructions of the core. Lines supplied: "
        "lines that the core's L2 supplied to other cores. "
    ) + _unlike(missed)
    return table


def _shares(of_runs: Sequence[Sequence[int]]) -> list[float]:
    """The share of each core in the sum over all cores, as the mean over the runs."""
    shares = [[count / (sum(counts) or 1) for count in counts] for counts in of_runs]
    return [fmean(of_core) for of_core in zip(*shares, strict=True)]


def _unlike(missed: Sequence[float]) -> str:
    """A sentence on the core with most misses, if it is unlike the others."""
    most, usual = max(missed), median(missed)
    if not usual or most / usual < UNLIKE:
        return "No core has twice the misses of the median core."
    return (
        f"Core {missed.index(most)} has {most / usual:.1f} times the misses of the median core. The load generator is "
        "one process, which the guest's scheduler may leave on one core for the whole run; this core then differs from "
        "the others."
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of the machine: every key of the design, with marks where a run differs from its experiment's file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from s80lab.analysis.groups import NO_WORKLOAD, Group
from s80lab.analysis.rows import ABSENT
from s80lab.config.differences import NAMES, differences
from s80lab.config.differences import values as values_of_run
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
    unknown = set(NAMES) - {"machine", "protocol"} if manifest["mix"] == NO_WORKLOAD else set()
    return {key: value for key, value in values_of_run(manifest).items() if key not in unknown}

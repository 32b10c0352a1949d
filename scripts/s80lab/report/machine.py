# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of the machine: every key of the design, with marks where a run differs from its experiment's file."""

from __future__ import annotations

from collections.abc import Sequence

from s80lab.analysis.groups import Group
from s80lab.analysis.rows import ABSENT
from s80lab.config.differences import NAMES
from s80lab.config.differences import values as values_of_run
from s80lab.report.tables import Cell, Row, Table

MARK = "≠ "
MOST_COLUMNS = 6
"""Groups that have a column each. Of more groups, the table shows the common values."""
SEVERAL = "several values"
_NOTE = (
    "The names in the experiment's file, and the values of the modelled machine by the keys of the machine file. "
    "≠ marks a value that differs from the experiment's file."
)


def machine_table(groups: Sequence[Group]) -> Table:
    """One row per key and one column per group."""
    values = [_values(group) for group in groups]
    marks = [set(group.differences) for group in groups]
    together = len(groups) > MOST_COLUMNS
    columns = ("all",) if together else tuple(group.label for group in groups)
    table = Table("Machine", columns, note=_NOTE)
    for key in dict.fromkeys(key for of_group in values for key in of_group):
        texts = [
            f"{MARK if key in changed else ''}{of_group.get(key, ABSENT)}"
            for of_group, changed in zip(values, marks, strict=True)
        ]
        if together:
            texts = texts[:1] if len(set(texts)) == 1 else [SEVERAL]
        table.rows.append(Row(key, tuple(map(Cell, texts))))
    return table


def _values(group: Group) -> dict[str, str]:
    """Everything that can differ; of an imported trace only what belongs to the machine."""
    found = values_of_run(group.runs[0].manifest)
    unknown = set(NAMES) - {"machine", "protocol"} if group.imported else set()
    return {key: value for key, value in found.items() if key not in unknown}

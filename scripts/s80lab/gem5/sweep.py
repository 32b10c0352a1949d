# SPDX-License-Identifier: GPL-2.0-or-later
"""What the points of an experiment's sweep in gem5 did, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from s80lab.base import paths
from s80lab.capture.explore.table import designs_table
from s80lab.gem5.plan import Gem5Plan
from s80lab.report.data import read_run
from s80lab.report.markdown import markdown
from s80lab.report.tables import Table
from s80lab.trace.files import write


def sweep_table(runs: Mapping[Path, Gem5Plan]) -> Table:
    """One row a run; runs: the folder of each plan's."""
    first = next(iter(runs.values()))
    several = len({plan.seed for plan in runs.values()}) > 1
    labels = [plan.label + (f", seed {plan.seed}" if several else "") for plan in runs.values()]
    table = designs_table(labels, [read_run(folder) for folder in runs])
    table.title = f"{first.name} on {first.machine.name} in gem5: every design"
    return table


def write_sweep(table: Table, plans: Sequence[Gem5Plan]) -> Path:
    """results/reports/gem5-EXPERIMENT-MACHINE/designs.md."""
    target = paths.results() / "reports" / f"gem5-{plans[0].name}-{plans[0].machine.name}" / "designs.md"
    write(target, markdown(table, "design").encode())
    return target

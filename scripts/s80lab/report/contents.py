# SPDX-License-Identifier: GPL-2.0-or-later
"""The contents of a report: its sections in order, each with a key, a place, its figures and its tables.

A section of metrics that no entry of CONTENTS names, and a figure that none names, become sections of their own at the
end. So a new metric or figure is shown before anybody gives it a place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from s80lab.analysis.groups import Group
from s80lab.analysis.sections import SECTIONS
from s80lab.report.claims import TITLE as CLAIMS
from s80lab.report.claims import claims_tables
from s80lab.report.figures.registry import PICTURES
from s80lab.report.headline import headline_table
from s80lab.report.machine import cores_tables, machine_table
from s80lab.report.seeds import named_runs_text
from s80lab.report.summary import summary_table
from s80lab.report.tables import Table, metrics_table, miss_tables, run_table, runs_with_misses
from s80lab.report.transactions import commands_tables, transactions_table
from s80lab.report.validity import TITLE, invalid_table, steady_state_table

Tables = Callable[[Sequence[Group]], list[Table]]
Place = Literal["both", "page"]
"""Where a section is shown. Figures are on the page only. There is no section of the terminal alone."""


@dataclass(frozen=True)
class ReportSection:
    """A section of a report. key: its name in links and for `--section`. figures: by their names in PICTURES. metrics:
    keys of SECTIONS, whose tables come first. tables: further tables."""

    key: str
    title: str
    figures: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    tables: Tables = lambda groups: []
    place: Place = "both"

    def tables_of(self, groups: Sequence[Group]) -> list[Table]:
        """All tables of the section that have a row for these groups."""
        found = (metrics_table(_METRICS[key], groups) for key in self.metrics)
        return [*(table for table in found if table is not None), *self.tables(groups)]


def _transactions(groups: Sequence[Group]) -> list[Table]:
    loaded = [group for group in groups if not group.replayed]
    return [*(transactions_table(group) for group in loaded), *commands_tables(loaded)]


def _misses(groups: Sequence[Group]) -> list[Table]:
    """The attributed misses of each group's first run with a log of misses."""
    tables = []
    for group, run in runs_with_misses(groups):
        for table in miss_tables(run.misses):
            table.title += f": {group.label}, {named_runs_text(group, [run])}"
            tables.append(table)
    return tables


_METRICS = {section.key: section for section in SECTIONS}
_CONTENTS = (
    ReportSection("headline", "Headline", ("miss_source",), tables=lambda groups: [summary_table(groups)]),
    ReportSection("validity", TITLE, tables=lambda gs: [table] if (table := invalid_table(gs)) else []),
    ReportSection("machine", "Machine", tables=lambda groups: [machine_table(groups)]),
    ReportSection("sources", "Sources of the L2 misses", (), ("sources", "mpki")),
    ReportSection("fills", "Fills of the L2 caches, and the fate of E blocks", ("e_state",), ("fills",)),
    ReportSection("levels", "Cache levels and bus", (), ("levels", "miss-rates", "traffic")),
    ReportSection("cpi", "Cycles per instruction", ("cpi", "l2_stalls"), ("cpi",)),
    ReportSection("classes", "Process classes", (), ("classes",)),
    ReportSection("entries", "Kernel entry causes", (), ("entries",)),
    ReportSection("misses", "Attributed misses", tables=_misses, place="page"),
    ReportSection("instructions", "Instructions", ("instruction_mix",), ("instructions",)),
    ReportSection("transactions", "Transactions", ("executed_mix", "latency"), ("requests",), _transactions),
    ReportSection("load", "Load and machine", ("utilisation",), ("load", "mail", "streams", "probes")),
    ReportSection("cores", "Cores", ("busy",), tables=cores_tables),
    ReportSection("kernel", "Guest kernel", (), ("kernel",)),
    ReportSection("precision", "Precision of the headline", tables=lambda groups: [headline_table(groups)]),
    ReportSection(
        "runs", "Warm-up and runs", ("warm_up",), tables=lambda groups: [steady_state_table(groups), run_table(groups)]
    ),
    ReportSection("claims", CLAIMS, tables=claims_tables),
)


def contents() -> list[ReportSection]:
    """The sections of a report in their order, with those that nobody has placed at the end."""
    figures = {name for section in _CONTENTS for name in section.figures}
    metrics = {key for section in _CONTENTS for key in section.metrics}
    return [
        *_CONTENTS,
        *(ReportSection(one.key, one.title, (), (one.key,)) for one in SECTIONS if one.key not in metrics),
        *(ReportSection(one.name, one.title, (one.name,)) for one in PICTURES.values() if one.name not in figures),
    ]


def terminal_tables(groups: Sequence[Group]) -> list[Table]:
    """All tables that the terminal shows for these groups."""
    return [table for section in contents() if section.place == "both" for table in section.tables_of(groups)]

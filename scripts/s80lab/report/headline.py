# SPDX-License-Identifier: GPL-2.0-or-later
"""The headline table: ten shares that sum up a workload, with their interval over the seeds and within one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from s80lab.analysis.groups import Group
from s80lab.analysis.interval import number
from s80lab.analysis.sections import ENTRIES, Entry
from s80lab.base.format import ABSENT
from s80lab.report.seeds import named_runs_text, units_text
from s80lab.report.tables import Cell, Row, Table, has_value, paper_says
from s80lab.results.metrics.standing import HEADLINE

TITLE = "Precision of the headline"
WITHIN_NOTE = (
    "Within one run: half-width of the 95% interval that the sampling intervals of one measured region give (batch "
    "means of ratio estimators, jackknife), mean over the runs. Lag-1 correlation: between neighbouring sampling "
    "intervals, mean over the runs. "
)


def headline_table(groups: Sequence[Group]) -> Table:
    """One row per share. Three columns per group: mean, half-width within one run, lag-1 correlation.
    Rows without any value, and columns of groups without sampling intervals, are left out."""
    entries = [entry for entry in ENTRIES if has_value(entry, groups)]
    stated = [paper_says(entry.metric, groups) for entry in entries]
    within = ("within one run", "lag-1 correlation")
    columns = [column for group in groups for column in (group.label, *(within if _has_batches(group) else ()))]
    table = Table(TITLE, (*columns, *(("paper",) if any(stated) else ())))
    for entry, says in zip(entries, stated, strict=True):
        cells = [cell for group in groups for cell in _cells(group, entry)]
        table.rows.append(Row(entry.label, (*cells, *((Cell(says),) if any(stated) else ())), title=entry.title))
    table.note = (
        f"± beside a mean: half-width of the 95% interval (Student t) over {units_text(groups)}. Each seed has a "
        "warm-up of its own; seeds that resume from one boot are not fully independent. "
        + (WITHIN_NOTE if any(map(_has_batches, groups)) else "")
        + "Upgrades avoided by E: stores that found their block in E, as a share of the upgrades that the run would "
        "issue without state E."
    )
    return table


def beside_table(first: Group, second: Group) -> Table:
    """Two estimates of one design from different seeds: does the first interval contain the second mean?"""
    held = 0
    rows = []
    for entry in ENTRIES:
        one, two = first.estimate(entry.metric), second.estimate(entry.metric)
        holds = one is not None and two is not None and one.holds(two.mean)
        held += holds
        cells = (number(one, entry.style), number(two, entry.style), "yes" if holds else "no")
        rows.append(Row(entry.label, tuple(map(Cell, cells)), title=entry.title))
    table = Table(f"{first.label}: two estimates", (_seeds(first), _seeds(second), "contained"), rows)
    table.note = (
        "Column `contained`: whether the 95% interval of the first seeds contains the mean of the second "
        f"seeds. This is so in {held} of {len(HEADLINE)} rows."
    )
    return table


def _seeds(group: Group) -> str:
    return named_runs_text(group, group.runs)


def _batches(group: Group, entry: Entry) -> list[Mapping[str, float] | None]:
    """The batch means of each run; None for a run without them."""
    return [run.stats.get("batches", {}).get(entry.metric) for run in group.runs]


def _has_batches(group: Group) -> bool:
    """Whether the batch means of any metric are known for all runs of the group."""
    return any(None not in _batches(group, entry) for entry in ENTRIES)


def _cells(group: Group, entry: Entry) -> tuple[Cell, ...]:
    warm = not group.marked(entry.metric)
    mean = Cell(number(group.estimate(entry.metric), entry.style), warm)
    if not _has_batches(group):
        return (mean,)
    found = [batch for batch in _batches(group, entry) if batch is not None]
    if len(found) < len(group.runs):
        return mean, Cell(ABSENT), Cell(ABSENT)
    width, lag_1 = (fmean(batch[key] for batch in found) for key in ("half_width", "lag_1"))
    style = entry.style
    return mean, Cell(f"± {width * style.scale:,.{style.digits}f}{style.suffix}", warm), Cell(f"{lag_1:.2f}", warm)

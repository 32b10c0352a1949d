# SPDX-License-Identifier: GPL-2.0-or-later
"""Sweeps: each combination of the values in an experiment's [sweep] is a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from s80lab.analysis.claims.rules import TOLERANCE, Band, Judgement, in_band
from s80lab.analysis.groups import Group, Run, group_runs
from s80lab.analysis.interval import Estimate, estimate, sample
from s80lab.analysis.sections import ENTRIES as HEADLINE
from s80lab.analysis.sections import SECTIONS, Entry, Section
from s80lab.base.errors import UserError
from s80lab.base.suggest import hint
from s80lab.base.vocabulary import LABELS
from s80lab.config.experiment import Experiment
from s80lab.config.grid import Grid
from s80lab.config.reproduce import Ratio

# Labels that need the title of their section.
PARTS = ("all", *LABELS["privilege"])

# Metrics that are shown if the experiment's file has no `show`.
USUAL = (
    *("throughput", "response_ms", "utilisation", "kernel_share.cycles", "cpi.all", "l2_mpki.all"),
    *("miss_source.all.memory", "miss_source.all.M", "e_share", "e_to_m_share"),
)


def sweep_groups(runs: Sequence[Run]) -> list[Group]:
    """Groups of runs that differ in the seed only, labelled by their point of the sweep."""
    groups = group_runs(runs)
    grid = sweep_grid(groups).varying()
    return [Group(grid.label(point_of(group)), group.runs, group.excluded) for group in groups]


def swept(manifest: Mapping[str, object]) -> bool:
    """Whether a run is a point of an experiment's sweep. (Replays vary the design too, but belong to explorations.)"""
    return bool(manifest.get("varied")) and manifest["engine"] != "replay"


def sweep_grid(groups: Sequence[Group]) -> Grid:
    """The grid of the sweep whose points are these groups."""
    return Grid.of_points([point_of(group) for group in groups])


def point_of(group: Group) -> Mapping[str, str]:
    """The group's value on each axis of the sweep."""
    point: Mapping[str, str] = group.runs[0].manifest["varied"]
    return point


def showable() -> dict[str, Entry]:
    """The metrics that `show` may name, with the format of the report and a label that includes the heading above
    it."""
    called = [one for section in reversed(SECTIONS) for one in reversed(_called(section))]
    return {entry.metric: entry for entry in (*called, *HEADLINE)}


def _called(section: Section) -> list[Entry]:
    """The entries of a report's section, each with a label that includes the heading above it."""
    named, head = [], ""
    for entry in section.entries:
        head = entry.head or head
        # In a section's table the title says what "all" is of.
        above = head or (section.title if entry.label in PARTS else "")
        label = ": ".join(part for part in (above, entry.label) if part and part != "all")
        named.append(replace(entry, label=label))
    return named


def check_shown(experiment: Experiment, where: str) -> None:
    """UserError names the first metric in the experiment's `show` that no report has. where: the experiment's file."""
    known = showable()
    for metric in experiment.show:
        if metric not in known:
            raise UserError(f"{where}: `show` names the metric `{metric}`, which no report has: {hint(metric, known)}")


def sweep_entries(groups: Sequence[Group], metrics: Sequence[str]) -> list[Entry]:
    """The rows of the given metrics, or of those in USUAL that the engine has and that have a value at some point: a
    program has no throughput."""
    known = showable()
    there = [metric for metric in known if any(group.has(metric) for group in groups)]
    for metric in metrics:
        if metric not in there:
            raise UserError(f"`show` names the metric `{metric}`, which no report has: {hint(metric, there)}")
    usual = [metric for metric in USUAL if any(group.estimate(metric) is not None for group in groups)]
    return [known[metric] for metric in metrics or usual if metric in there]


def judge_ratio(measured: Estimate | None, ratio: Ratio, reasons: Sequence[str]) -> Judgement | None:
    if measured is None or (ratio.low is None and ratio.high is None):
        return None
    if reasons:
        return Judgement("not comparable", note=f"Invalid run: {reasons[0]}.")
    bounds = [bound for bound in (ratio.low, ratio.high) if bound is not None]
    if measured.half_width is None and any(abs(measured.mean / bound - 1) < TOLERANCE for bound in bounds):
        return Judgement(
            "not comparable",
            note="There is one seed per point, and the ratio is close to a bound of the stated range: the "
            "difference may be chance.",
        )
    return in_band(measured, Band(ratio.low, ratio.high))


def ratio_of(above: Group, below: Group, metric: str) -> Estimate | None:
    """The metric at one point divided by the metric at another, over the runs that have equal boots and seeds."""
    lower = {(run.boot, run.seed): run.metrics.get(metric) for run in below.runs}
    ratios: dict[str, float] = {}
    for run in above.runs:
        up, down = run.metrics.get(metric), lower.get((run.boot, run.seed))
        if up is not None and down:
            ratios[run.name] = up / down
    return estimate(sample([run for run in above.runs if run.name in ratios], lambda run: ratios[run.name]))

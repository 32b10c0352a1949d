# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of an experiment's sweep: each combination of the values in its [sweep] is a point.

sweep_groups(run_dirs)                 one group per point, in the order of the sweep
sweep_table(name, groups, metrics)     a table with one row per point
sweep_picture(groups, metrics, name)   curves, one panel per metric
ratio_table(groups, ratios)            a metric at one value of an axis, divided by the metric at another value
write_sweep(name, groups, metrics, folder)   writes report.html, sweep.md, and the curves as SVG and PNG
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from s80lab.base.errors import UserError
from s80lab.base.files import write_file
from s80lab.base.suggest import hint
from s80lab.config.axes import Axis, axes_of, horizontal, row_label
from s80lab.config.experiment import Experiment
from s80lab.config.reproduce import Ratio
from s80lab.report.claims.rules import TOLERANCE, Band, Judgement, in_band
from s80lab.report.data import Group, read_groups
from s80lab.report.figures.all import Picture
from s80lab.report.figures.curves import Panel, curves_figure
from s80lab.report.figures.style import png, style, svg
from s80lab.report.files import write_files
from s80lab.report.guest import guest_notes
from s80lab.report.headline import ENTRIES as HEADLINE
from s80lab.report.interval import Estimate, estimate
from s80lab.report.markdown import markdown
from s80lab.report.page import Topic, origins, render
from s80lab.report.rows import PERCENT, SECTIONS, TWO, Entry, Section
from s80lab.report.tables import ABSENT, Cell, Row, Table, intervals_note, number, verdicts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Labels that need the title of their section.
PARTS = ("all", "user", "kernel")

# Metrics that are shown if the experiment's file has no `show`.
USUAL = (
    *("throughput", "response_ms", "utilisation", "kernel_share.cycles", "cpi.all", "l2_mpki.all"),
    *("miss_source.all.memory", "miss_source.all.M", "e_share", "e_to_m_share"),
)


def sweep_groups(run_dirs: Sequence[Path]) -> list[Group]:
    """Groups of runs that differ in the seed only, labelled by their point of the sweep."""
    groups = read_groups(run_dirs)
    axes = _axes(groups)
    return [Group(row_label(axes, _values(axes, group)), group.runs, group.excluded) for group in groups]


def sweep_table(name: str, groups: Sequence[Group], metrics: Sequence[str] = ()) -> Table:
    """Means over the seeds, one row per point. UserError names a metric that no run has."""
    entries = _entries(groups, metrics)
    table = Table(f"{name}: all points of the sweep", (*(entry.label for entry in entries), "seeds"))
    for group in groups:
        cells = [
            Cell(number(group.estimate(entry.metric), entry.style), warm=not group.marked(entry.metric))
            for entry in entries
        ]
        table.rows.append(Row(group.label, (*cells, Cell(str(len(group.runs))))))
    table.note = intervals_note(groups)
    return table


def sweep_picture(groups: Sequence[Group], metrics: Sequence[str], name: str) -> Picture:
    """Curves, one panel per metric."""
    with style():
        return _picture(groups, _curves(groups, metrics), name)


def _picture(groups: Sequence[Group], figure: Figure, name: str) -> Picture:
    return Picture(name, "Curves", _caption(groups), svg(figure))


def write_sweep(name: str, groups: Sequence[Group], metrics: Sequence[str], folder: Path) -> Path:
    """Writes the page, the table (sweep.md) and the curves; returns the path of report.html."""
    table = sweep_table(name, groups, metrics)
    with style():
        figure = _curves(groups, metrics)
        picture = _picture(groups, figure, "curves")
        pngs = {picture.name: png(figure)}
    first = groups[0].runs[0].manifest
    grid = "; ".join(f"{axis.key} = {', '.join(axis.values)}" for axis in _all_axes(groups))
    page = render(
        name,
        f"{len(groups)} points: {grid}. Engine {first['engine']}, scale {first['scale']}. All times are simulated "
        "time, the time of the modelled machine.",
        verdicts=verdicts(groups),
        notes=[*guest_notes(groups[:1]), intervals_note(groups)],
        topics=[Topic("Curves", [picture], []), Topic("All points", [], [table])],
        origins=[origins(group, kind) for group in groups for kind in ("inputs", "versions")],
    )
    target = write_files(folder, page, [picture], pngs)
    write_file(folder / "sweep.md", markdown(table, "point"))
    return target


def _curves(groups: Sequence[Group], metrics: Sequence[str]) -> Figure:
    axes = _axes(groups)
    panels = [Panel(one.metric, _capital(one.label), one.style is PERCENT) for one in _entries(groups, metrics)]
    points = [_values(axes, group) for group in groups]
    return curves_figure(axes, points, lambda point, metric: groups[point].estimate(metric), panels)


def ratio_table(groups: Sequence[Group], ratios: Sequence[Ratio]) -> Table:
    """One row per ratio and combination of the other axes, if both values were measured. The ratios pair runs by seed;
    the intervals are over these pairs."""
    axes = _axes(groups)
    points = {tuple(_values(axes, group)): group for group in groups}
    table = Table("Ratios between points of the sweep", ("measured", "paper", "verdict"))
    for ratio in ratios:
        keys = [axis.key for axis in axes]
        if ratio.axis not in keys:
            raise UserError(
                f"configs/reproduce.toml: a ratio has axis = `{ratio.axis}`, which is not an axis of the "
                f"experiment's sweep: {hint(ratio.axis, keys)}"
            )
        place = keys.index(ratio.axis)
        (entry,) = _entries(groups, [ratio.metric])
        for values, above in points.items():
            below = points.get((*values[:place], ratio.over, *values[place + 1 :]))
            if values[place] != ratio.at or below is None:
                continue
            rest = row_label([*axes[:place], *axes[place + 1 :]], [*values[:place], *values[place + 1 :]])
            label = f"{f'{rest}: ' if rest else ''}{entry.label}, {ratio.axis} {ratio.at} / {ratio.over}"
            measured = _ratio(above, below, ratio.metric)
            judged = _judged(measured, ratio, (*above.reasons, *below.reasons))
            cells = (Cell(number(measured, TWO)), Cell(_stated(ratio)), Cell(judged.verdict if judged else ABSENT))
            table.rows.append(Row(label, cells, detail=judged.note if judged else ""))
    return table


def _stated(ratio: Ratio) -> str:
    """The study's statement about the ratio, and the range of numbers as which s80lab reads the statement."""
    bounds = [f"{word} {bound:g}" for word, bound in (("from", ratio.low), ("to", ratio.high)) if bound is not None]
    return f"{ratio.says} (read as {' '.join(bounds)})" if bounds else ratio.says


def _judged(measured: Estimate | None, ratio: Ratio, reasons: Sequence[str]) -> Judgement | None:
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


def _ratio(above: Group, below: Group, metric: str) -> Estimate | None:
    lower = {run.manifest["seed"]: run.metrics.get(metric) for run in below.runs}
    pairs = [(run.metrics.get(metric), lower.get(run.manifest["seed"])) for run in above.runs]
    return estimate([up / down for up, down in pairs if up is not None and down])


def swept(manifest: Mapping[str, object]) -> bool:
    """Whether a run is a point of an experiment's sweep. (Replays vary the design too, but belong to explorations.)"""
    return bool(manifest.get("varied")) and manifest["engine"] != "replay"


def _axes(groups: Sequence[Group]) -> list[Axis]:
    """The axes on which the points differ."""
    axes = _all_axes(groups)
    return [axis for axis in axes if len(axis.values) > 1] or axes


def _all_axes(groups: Sequence[Group]) -> list[Axis]:
    return axes_of([group.runs[0].manifest["varied"] for group in groups])


def _values(axes: Sequence[Axis], group: Group) -> list[str]:
    varied: Mapping[str, str] = group.runs[0].manifest["varied"]
    return [varied[axis.key] for axis in axes]


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


def _entries(groups: Sequence[Group], metrics: Sequence[str]) -> list[Entry]:
    """The rows of the given metrics, or of those in USUAL that the engine has."""
    known = showable()
    there = [metric for metric in known if any(group.has(metric) for group in groups)]
    for metric in metrics:
        if metric not in there:
            raise UserError(f"`show` names the metric `{metric}`, which no report has: {hint(metric, there)}")
    return [known[metric] for metric in metrics or USUAL if metric in there]


def _caption(groups: Sequence[Group]) -> str:
    axes = _axes(groups)
    across = horizontal(axes)
    others = ", ".join(axis.key for axis in axes if axis is not across)
    lines = f"; one line per combination of {others}" if others else ""
    bars = " Bars are 95% intervals over the seeds." if any(len(group.runs) > 1 for group in groups) else ""
    return f"x axis: {across.key}{lines}.{bars}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

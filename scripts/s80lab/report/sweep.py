# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of an experiment's sweep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from s80lab.analysis.groups import NO_WORKLOAD, Group
from s80lab.analysis.interval import number
from s80lab.analysis.sweep import judge_ratio, point_of, ratio_of, sweep_entries, sweep_grid
from s80lab.base.errors import UserError
from s80lab.base.files import write_file
from s80lab.base.format import ABSENT, PERCENT, TWO
from s80lab.base.suggest import hint
from s80lab.base.terminal import counted
from s80lab.config.differences import slug
from s80lab.config.grid import Grid
from s80lab.config.reproduce import Ratio
from s80lab.report.figures.all import Picture
from s80lab.report.figures.curves import PROCESSORS, Panel, curves_figure
from s80lab.report.figures.style import png, style, svg
from s80lab.report.guest import guest_notes
from s80lab.report.machine import machine_table
from s80lab.report.page import Topic, origins, render, write_files
from s80lab.report.seeds import has_boots, units_text
from s80lab.report.tables import Cell, Row, Table, intervals_note, markdown, table_by_group
from s80lab.report.validity import verdicts_with_reasons

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sweep_table(name: str, groups: Sequence[Group], metrics: Sequence[str] = ()) -> Table:
    """Means over the seeds, one row per point. UserError names a metric that no run has."""
    seeds = {"runs" if any(map(has_boots, groups)) else "seeds": lambda group: Cell(str(len(group.runs)))}
    table = table_by_group(f"{name}: all points of the sweep", groups, sweep_entries(groups, metrics), seeds)
    table.note = intervals_note(groups)
    return table


def sweep_picture(groups: Sequence[Group], metrics: Sequence[str], name: str) -> Picture:
    """Curves, one panel per metric."""
    with style():
        return _picture(groups, _curves(groups, metrics), name)


def _picture(groups: Sequence[Group], figure: Figure, name: str) -> Picture:
    return Picture(name, "Curves", _caption(groups), svg(figure))


def sweep_name(groups: Sequence[Group]) -> str:
    """The name of the folder of a sweep's report: the experiment, the scale, and what differs from the experiment's
    file at every point."""
    first = groups[0].runs[0].manifest
    axes = {axis.key for axis in sweep_grid(groups).axes}
    common = {
        key: value
        for key, value in groups[0].differences.items()
        if key not in axes and all(group.differences.get(key) == value for group in groups)
    }
    names = [first["experiment"], *([first["scale"]] if first["scale"] != NO_WORKLOAD else [])]  # a program has none
    return f"{'-'.join(names)}{slug(common)}"


def write_sweep(name: str, groups: Sequence[Group], metrics: Sequence[str], folder: Path) -> Path:
    """Writes the page, the table (sweep.md) and the curves; returns the path of report.html."""
    table = sweep_table(name, groups, metrics)
    with style():
        figure = _curves(groups, metrics)
        picture = _picture(groups, figure, "curves")
        pngs = {picture.name: png(figure)}
    first = groups[0].runs[0].manifest
    scale = "" if first["scale"] == NO_WORKLOAD else f", scale {first['scale']}"
    page = render(
        name,
        f"{counted(len(groups), 'point')}: {sweep_grid(groups)}. Engine {first['engine']}{scale}. "
        "All times are simulated time, the time of the modelled machine.",
        verdicts=verdicts_with_reasons(groups),
        notes=[*guest_notes(groups[:1]), intervals_note(groups)],
        topics=[
            Topic("Curves", [picture], []),
            Topic("All points", [], [table]),
            Topic("Machine", [], [machine_table(groups)]),
        ],
        origins=[origins(group, kind) for group in groups for kind in ("inputs", "versions")],
    )
    target = write_files(folder, page, [picture], pngs)
    write_file(folder / "sweep.md", markdown(table, "point"))
    return target


def _curves(groups: Sequence[Group], metrics: Sequence[str]) -> Figure:
    panels = [Panel(one.metric, _capital(one.label), one.style is PERCENT) for one in sweep_entries(groups, metrics)]
    grid, points = sweep_grid(groups).varying(), [point_of(group) for group in groups]
    return curves_figure(grid, points, lambda point, metric: groups[point].estimate(metric), panels)


def ratio_table(groups: Sequence[Group], ratios: Sequence[Ratio]) -> Table:
    """One row per ratio and combination of the other axes, if both values were measured. The ratios pair runs by boot
    and seed; the intervals are over these pairs, or over the boots if the runs come from several."""
    grid = sweep_grid(groups).varying()
    points = [(point_of(group), group) for group in groups]
    table = Table("Ratios between points of the sweep", ("measured", "paper", "verdict"))
    for ratio in ratios:
        keys = [axis.key for axis in grid.axes]
        if ratio.axis not in keys:
            raise UserError(
                f"configs/reproduce.toml: a ratio has axis = `{ratio.axis}`, which is not an axis of the "
                f"experiment's sweep: {hint(ratio.axis, keys)}"
            )
        rest = Grid(tuple(axis for axis in grid.axes if axis.key != ratio.axis))
        (entry,) = sweep_entries(groups, [ratio.metric])
        for point, above in points:
            below = next((group for other, group in points if other == {**point, ratio.axis: ratio.over}), None)
            if point[ratio.axis] != ratio.at or below is None:
                continue
            at = rest.label(point)
            label = f"{f'{at}: ' if at else ''}{entry.label}, {ratio.axis} {ratio.at} / {ratio.over}"
            measured = ratio_of(above, below, ratio.metric)
            judged = judge_ratio(measured, ratio, (*above.reasons, *below.reasons))
            cells = (Cell(number(measured, TWO)), Cell(_stated(ratio)), Cell(judged.verdict if judged else ABSENT))
            table.rows.append(Row(label, cells, detail=judged.note if judged else ""))
    return table


def _stated(ratio: Ratio) -> str:
    """The study's statement about the ratio, and the range of numbers as which s80lab reads the statement."""
    bounds = [f"{word} {bound:g}" for word, bound in (("from", ratio.low), ("to", ratio.high)) if bound is not None]
    return f"{ratio.says} (read as {' '.join(bounds)})" if bounds else ratio.says


def _caption(groups: Sequence[Group]) -> str:
    grid = sweep_grid(groups).varying()
    across = grid.across()
    others = ", ".join(axis.key for axis in grid.without(across).axes)
    lines = f"; one line per combination of {others}" if others else ""
    bars = f" Bars are 95% intervals over {units_text(groups)}." if any(len(group.runs) > 1 for group in groups) else ""
    ideal = " Dashed: throughput in proportion to the processors, from the first point of the first line."
    return f"x axis: {across.key}{lines}.{bars}{ideal if across.key in PROCESSORS else ''}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

# SPDX-License-Identifier: GPL-2.0-or-later
"""The miss-ratio curve of a workload: L2 misses over the size of the L2, from replays of the workload's captures
that differ in the size of the L2 only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from s80lab.analysis.groups import Group
from s80lab.analysis.interval import Estimate, estimate
from s80lab.base.strict import size_text
from s80lab.base.terminal import counted
from s80lab.report.figures.all import Picture, drawn_picture
from s80lab.report.figures.chart import WIDTH_PX, Scale, draw_y_axis, plain, titled
from s80lab.report.figures.drawing import LINE_PX, SMALL_PX, Drawing
from s80lab.report.figures.style import GROUP_COLOURS
from s80lab.results.database import connect, list_runs

SIZE, MPKI = "l2.size", "l2_mpki.all"
_SAME = ("experiment", "workload", "scale", "machine", "protocol", "server", "image")


@dataclass(frozen=True)
class Replayed:
    """A valid replay: size of the L2 in bytes, seed and form of the capture, L2 misses per 1000 instructions."""

    size: int
    seed: int
    form: str
    mpki: float


def replays_over_sizes(database: Path, manifest: Mapping[str, Any]) -> list[Replayed]:
    """The valid replays of captures of a run's workload on its machine with any size of the L2.

    The full capture of a seed and size stands before the filtered one. manifest: of the run.
    """
    runs = {
        str(row["id"]): row
        for row in (list_runs(database) if database.is_file() else [])
        if row["engine"] == "replay"
        and row["status"] == "valid"
        and all(str(row[key]) == str(manifest[key]) for key in _SAME)
    }
    wanted = {key: str(value) for key, value in manifest.get("design", {}).items() if key != SIZE}
    if not runs:
        return []
    found = []
    with closing(connect(database)) as connection:
        for name, row in runs.items():
            design = {key: str(value) for key, value in connection.execute(_DESIGN, (name,))}
            size = design.pop(SIZE, None)
            (mpki,) = connection.execute(_MPKI, (name, MPKI)).fetchone() or (None,)
            if size is not None and mpki is not None and design == wanted:
                found.append(Replayed(int(size), int(row["seed"]), str(row["form"]), float(mpki)))
    return sorted(found, key=lambda one: (one.size, one.seed, one.form != "full"))


_DESIGN = "SELECT key, value FROM design WHERE run = ?"
_MPKI = "SELECT value FROM metric WHERE run = ? AND name = ?"


FEWEST_SIZES = 3
_HEIGHT_PX, _LEFT_PX, _EDGE_PX = 150, 44, 22
_CAPTION = (
    "Miss-ratio curve: L2 misses per 1000 instructions over the size of the L2 (logarithmic), from replays of captures "
    "of this workload; the rest of the machine is as above. Bars are 95% intervals over the captures. The ring is the "
    "live run. "
)


def miss_ratio_pictures(groups: Sequence[Group], database: Path | None) -> list[Picture]:
    """A figure with one chart per group of which the database has replays with at least FEWEST_SIZES sizes."""
    charts, sources = [], []
    for group, colour in zip(groups, cycle(GROUP_COLOURS), strict=False):
        if database is None or group.imported or not group.design:
            continue
        replays = _one_form(replays_over_sizes(database, group.runs[0].manifest))
        by_size = {size: [one.mpki for one in replays if one.size == size] for size in {one.size for one in replays}}
        points = {size: found for size, values in sorted(by_size.items()) if (found := estimate(values)) is not None}
        if len(points) >= FEWEST_SIZES:
            charts.append(_draw(group, points, colour))
            captures = counted(len({one.seed for one in replays}), f"{replays[0].form} capture")
            sources.append(f"{group.label}: {captures}.")
    return (
        [drawn_picture("miss_ratio", "Miss-ratio curve", _CAPTION + " ".join(sources), charts, "sources")]
        if charts
        else []
    )


def _one_form(replays: Sequence[Replayed]) -> list[Replayed]:
    """The replays of the full captures if there are enough of them, else those of the filtered captures."""
    full = [one for one in replays if one.form == "full"]
    enough = len({one.size for one in full}) >= FEWEST_SIZES
    return full if enough else [one for one in replays if one.form != "full"]


def _draw(group: Group, points: Mapping[int, Estimate], colour: str) -> Drawing:
    chart, y = titled(group.label)
    top, bottom = y + 8, y + 8 + _HEIGHT_PX
    live = None if group.replayed else group.estimate(MPKI)
    own = int(group.design[SIZE])
    sizes = sorted({*points, *([own] if live else [])})
    across = Scale(sizes[0], sizes[-1], _LEFT_PX + _EDGE_PX, WIDTH_PX - _EDGE_PX, logarithmic=True)
    ends = [one.mean + (one.half_width or 0.0) for one in (*points.values(), *([live] if live else []))]
    up = Scale(0.0, 1.05 * (max(ends) or 1.0), bottom, top)
    draw_y_axis(chart, up, _LEFT_PX, WIDTH_PX, plain)
    places = {size: (across.px(size), up.px(one.mean)) for size, one in points.items()}
    chart.curve(list(places.values()), colour)
    for size, (x, height) in places.items():
        half = points[size].half_width
        if half is not None:
            chart.curve([(x, up.px(points[size].mean - half)), (x, up.px(points[size].mean + half))], colour, width=1)
        chart.dot(x, height, 3.5, colour)
    if live:
        chart.ring(across.px(own), up.px(live.mean), 6)
    room = (WIDTH_PX - _LEFT_PX - 2 * _EDGE_PX) // 46
    for size in sizes[:: -(-len(sizes) // room)]:
        chart.text(across.px(size), bottom + SMALL_PX + 2, size_text(size), small=True, anchor="middle")
    chart.text(
        (_LEFT_PX + WIDTH_PX) / 2, bottom + SMALL_PX + 2 + LINE_PX, "size of each L2", small=True, anchor="middle"
    )
    return chart

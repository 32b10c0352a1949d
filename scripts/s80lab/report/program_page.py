# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a program's run (`s80lab exec --html`): one self-contained file without dates and paths of the host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from shlex import join

from s80lab.base.terminal import plain
from s80lab.base.vocabulary import LABELS
from s80lab.exec.contention import Contention, Line, Sum
from s80lab.exec.folder import Counts, ExecRun, counts_of, stored_lines
from s80lab.report.figures.all import Picture, drawn_picture
from s80lab.report.figures.chart import WIDTH_PX, Scale, draw_legend, draw_x_axis, draw_y_axis, titled
from s80lab.report.figures.chart import plain as tick
from s80lab.report.figures.drawing import Drawing
from s80lab.report.figures.machine import machine_picture
from s80lab.report.figures.style import COLOURS
from s80lab.report.figures.supply import supply_pictures_of
from s80lab.report.misses.lines import lines_html
from s80lab.report.misses.tables import supply_table
from s80lab.report.page import Topic, render
from s80lab.report.program import PER_CALL, SIDES, count_rows, machine_line, simulated, verdicts_of
from s80lab.report.tables import Cell, Row, Table
from s80lab.results.metrics.registry import Measurement, compute_all
from s80lab.results.snapshots import Delta, program_of

SHOWN_LINES, SHOWN_SUMS = 25, 15
_COLUMNS: Mapping[str, str] = {
    "transfers": "transfers",
    **{state: state for state in LABELS["state"]},
    "upgrades": "upgrades",
    "reads": "loads",
    "writes": "stores",
    "true_sharing": "true",
    "false_sharing": "false",
    "stall_cycles": "stall cycles",
}
_MEANING = (
    "Transfers: misses that another cache serviced, which held the line in state M, O, E or S; loads and stores are "
    "their parts. Upgrades: stores to a line that other caches held. true, false: transfers because of true and of "
    "false sharing; sharing is true if the access uses bytes that another core has written since."
)
_LINES_NOTE = "The choice of a process hides the lines and rows of other processes; the numbers still count them."
_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
_RATES: Mapping[str, Callable[[Delta], int]] = {
    "memory": lambda part: part.total("miss_source", source="memory"),
    "cache": lambda part: sum(part.total("miss_source", source=state) for state in LABELS["state"]),
    "upgrade": lambda part: part.total("upgrades"),
}
"""Requests by their keys in COLOURS."""
_HEIGHT_PX, _LEFT_PX, _EDGE_PX = 130, 48, 8


def program_page(run: ExecRun) -> str:
    """The page as HTML text."""
    record, counts, found = run.record, counts_of(run.region), run.contention
    topics = [
        Topic("Counts", [_machine(run)], [_counts(counts), *_per_call(run, counts)], tables_first=True),
        Topic("In the course of the run", _timeline(run), []),
    ]
    if found is not None:
        topics += _contention(found)
    lead = (
        f"{machine_line(run.machine)}. Region: {record.region}. Exit code {record.code}. Simulated time "
        f"{simulated(counts.simulated_ns)}. Boot {record.boot}, seed {record.seed}."
    )
    return render(
        plain(join(record.words)),
        lead,
        verdicts=verdicts_of(run),
        notes=[],
        topics=[topic for topic in topics if topic.pictures or topic.tables or topic.html],
        origins=[
            Table(
                "Inputs of the run",
                ("SHA-256",),
                [Row(name, (Cell(value),)) for name, value in sorted(record.inputs.items())],
            )
        ],
    )


def _machine(run: ExecRun) -> Picture:
    metrics = compute_all(Measurement(program_of(run.region), None))
    return machine_picture("machine", run.machine.name, run.machine.design(), metrics.get)


def _counts(counts: Counts) -> Table:
    table = Table(
        "Counts",
        SIDES,
        note="CPI: cycles per instruction, with its parts. The columns are of the program: idle processors "
        f"({counts.idle:,} instructions) and the relay of its output ({counts.relay:,}) are left out.",
    )
    for whole, label, cells in count_rows(counts):
        name = f"{whole}: {label}" if whole == "CPI" else f"{whole} {label}".strip()
        table.rows.append(Row(name, tuple(map(Cell, cells))))
    return table


def _per_call(run: ExecRun, counts: Counts) -> list[Table]:
    """The counts for each call of the function of --per."""
    if not run.calls:
        return []
    table = Table(f"For each of {run.calls:,} calls of {run.record.per}", SIDES)
    for name, count in PER_CALL.items():
        cells = (Cell(f"{count(side) / run.calls:.3f}") for side in (counts.all, counts.user, counts.kernel))
        table.rows.append(Row(name.strip(), tuple(cells)))
    return [table]


def _contention(found: Contention) -> list[Topic]:
    lines = stored_lines(found.lines[:SHOWN_LINES])
    processes: Counter[str] = Counter()
    for line in lines:
        for access in line.accesses:
            processes.update(access.processes)
    ordered = [name for name, _ in processes.most_common()]
    supply = supply_table(found.supply)
    advice = _advice(found.lines)
    text = (
        f"{found.number:,} lines moved between caches: {found.transfers:,} transfers, {found.upgrades:,} upgrades. "
        f"{100 * found.attributed:.0f}% of all misses and upgrades have names."
    )
    return [
        Topic(
            "Contended lines",
            [],
            [],
            text=text,
            html=lines_html(lines, ordered, _COLUMNS, _MEANING, _LINES_NOTE) if lines else None,
        ),
        *([Topic(advice.title, [], [advice])] if advice.rows else []),
        Topic("Functions", [], [_sums("Functions", found.functions)]),
        Topic("Variables and fields", [], [_sums("Variables and fields", found.fields)]),
        Topic("Who supplied", supply_pictures_of(supply), [supply] if any(map(any, found.supply)) else []),
    ]


def _advice(lines: Sequence[Line]) -> Table:
    table = Table("False sharing: advice", ("transfers", "upgrades"))
    for line in lines[:SHOWN_LINES]:
        if line.advice:
            cells = (Cell(f"{line.transfers:,}"), Cell(f"{line.upgrades:,}"))
            table.rows.append(Row(", ".join(line.data[:2]), cells, detail=line.advice))
    return table


def _sums(title: str, sums: Sequence[Sum]) -> Table:
    table = Table(
        title,
        ("stall cycles", "misses", "transfers", "upgrades", "false"),
        note="Of all requests that left the L2, those with the most stall cycles first. Misses: all L2 misses; "
        "transfers: those that another cache serviced; false: misses because of false sharing. The CSV file has all "
        "rows.",
        shown=SHOWN_SUMS,
    )
    for one in sums:
        cells = (one.stall_cycles, one.misses, one.transfers, one.upgrades, one.false)
        table.rows.append(Row(one.name, tuple(Cell(f"{value:,}") for value in cells)))
    return table


def _timeline(run: ExecRun) -> list[Picture]:
    """Requests by source and the time of the processors, over simulated time; none if the region is a single
    interval."""
    intervals = run.intervals
    if len(intervals) < 2:
        return []
    end_ns = intervals[-1][0] + intervals[-1][1].clock_ns
    unit, size = next((unit, size) for unit, size in _UNITS if end_ns >= size)
    places = [(begin + part.clock_ns / 2) / size for begin, part in intervals]
    program = [program_of(part) for _, part in intervals]
    rates = {
        name: [1000 * count(part) / (part.total("instructions") or 1) for part in program]
        for name, count in _RATES.items()
    }
    words = {"memory": "misses from memory", "cache": "misses from other caches", "upgrade": "upgrades"}
    label = f"simulated time since the region began, {unit}"
    charts = [
        _chart("Per 1,000 instructions", places, end_ns / size, rates, words, label),
        _chart(
            "Processors that execute the program", places, end_ns / size, {"base": _busy(run, intervals)}, {}, label
        ),
    ]
    caption = "One point per sampling interval; intervals grow with the run."
    return [drawn_picture("timeline", "Course of the run", caption, charts)]


def _busy(run: ExecRun, intervals: Sequence[tuple[int, Delta]]) -> list[float]:
    """The mean number of processors that execute the program, in each interval."""
    hertz = run.machine.processors.clock_hz
    return [counts_of(part).all.cycles / (part.clock_ns * hertz / 1e9) for _, part in intervals]


def _chart(
    title: str,
    places: Sequence[float],
    end: float,
    curves: Mapping[str, Sequence[float]],
    words: Mapping[str, str],
    label: str,
) -> Drawing:
    """Curves over time. curves: values by their keys in COLOURS. words: the legend."""
    chart, y = titled(title)
    top = (draw_legend(chart, y, words) if words else y) + 4
    bottom = top + _HEIGHT_PX
    across = Scale(0.0, end, _LEFT_PX, WIDTH_PX - _EDGE_PX)
    highest = max((value for values in curves.values() for value in values), default=1.0) or 1.0
    up = Scale(0.0, 1.05 * highest, bottom, top)
    draw_y_axis(chart, up, _LEFT_PX, WIDTH_PX - _EDGE_PX, tick)
    for key, values in curves.items():
        points = [(across.px(x), up.px(value)) for x, value in zip(places, values, strict=True)]
        chart.curve(points, COLOURS[key])
        for x, height in points if len(points) < 60 else ():
            chart.dot(x, height, 1.6, COLOURS[key])
    draw_x_axis(chart, across, top, bottom, tick, label, 5)
    return chart

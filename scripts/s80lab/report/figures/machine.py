# SPDX-License-Identifier: GPL-2.0-or-later
"""The diagram of a machine: a core with its caches, the bus, and what supplies the misses, with sizes and rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Any

from s80lab.analysis.groups import NOT_WARM, Group
from s80lab.base.strict import size_text
from s80lab.base.terminal import counted
from s80lab.base.vocabulary import LABELS
from s80lab.report.figures.all import Picture, drawn_picture
from s80lab.report.figures.drawing import LINE_PX, Drawing
from s80lab.report.figures.style import COLOURS

Rate = Callable[[str], float | None]
"""The value of a metric by its name; None if it does not exist."""
Lines = Sequence[tuple[str, str]]
"""Lines of a box: words at its left and at its right side. The first line is bold."""

MOST_MACHINES = 6
_WIDTH = 352
"""Pixels: the diagram fits on a screen of 400 pixels without scrolling."""
_TITLE_CHARACTERS = 46
_PAD = 10
_CARD = 4
"""Offset of the two cards behind the core, which stand for the other cores."""
_HALF = (_WIDTH - 2 * _CARD - 3 * _PAD) / 2
_STATES = LABELS["state"]
_CAPTION = (
    "Sizes, and rates of the measured region (means over the runs). MPKI: misses per 1000 instructions of the "
    "machine. Shares are of all L2 misses. Cycles are the stall of one access, without queueing."
)


def machine_pictures(groups: Sequence[Group]) -> list[Picture]:
    """A diagram for each of the first groups whose design is recorded."""
    pictures: list[Picture] = []
    for group in [one for one in groups if one.design][:MOST_MACHINES]:
        name = "machine" if not pictures else f"machine-{len(pictures) + 1}"
        drawn = machine_picture(name, group.label, group.design, _means(group), group.runs[0].load_processors)
        remark = "" if group.warm else f" {NOT_WARM[:1].upper()}{NOT_WARM[1:]}."
        pictures.append(replace(drawn, caption=drawn.caption + remark))
    return pictures


def machine_picture(name: str, title: str, design: Mapping[str, Any], rate: Rate, load_processors: int = 0) -> Picture:
    """The diagram as a figure of the section on the machine. For the arguments, see `machine_drawing`."""
    drawing = machine_drawing(title, design, rate, load_processors)
    words = f"Machine: {'; '.join(drawing.words)}"
    return drawn_picture(name, words, _CAPTION, [drawing], "machine")


def machine_drawing(title: str, design: Mapping[str, Any], rate: Rate, load_processors: int = 0) -> Drawing:
    """The machine of a design. design: its values by the keys of the machine file. load_processors: processors that run
    only the load generator."""
    drawing = Drawing(_WIDTH)
    y = 0.0
    for line in wrap(title, _TITLE_CHARACTERS):
        y += LINE_PX
        drawing.text(0, y, line, bold=True)
    threads = int(design["processors.threads_per_core"])
    cores = int(design["processors.count"]) // threads
    bottom = _draw_core(drawing, y + _PAD, design, rate, cores, load_processors // threads)
    centre = (_WIDTH - 2 * _CARD) / 2
    drawing.path(f"M{centre:g} {bottom:g}v{2 * _PAD}")
    if "group.size" in design:
        lines = _group_lines(design, rate, cores)
        bottom = _box(drawing, 0, bottom + 2 * _PAD, _WIDTH - 2 * _CARD, lines, bar=COLOURS["group"])
        drawing.path(f"M{centre:g} {bottom:g}v{2 * _PAD}")
    bottom = _box(drawing, 0, bottom + 2 * _PAD, _WIDTH - 2 * _CARD, _bus_lines(design, rate))
    if "llc.size" in design:
        drawing.path(f"M{centre:g} {bottom:g}v{2 * _PAD}")
        lines = _llc_lines(design, rate)
        bottom = _box(drawing, 0, bottom + 2 * _PAD, _WIDTH - 2 * _CARD, lines, bar=COLOURS["llc"])
    _draw_suppliers(drawing, bottom, design, rate, cores)
    return drawing


def _draw_core(
    drawing: Drawing, top: float, design: Mapping[str, Any], rate: Rate, cores: int, load_cores: int
) -> float:
    """The core with its caches, in front of the other cores; returns the lower edge."""
    threads = int(design["processors.threads_per_core"])
    of_threads = f" of {threads} threads" if threads > 1 else ""
    lines = [
        (f"{counted(cores, 'core')}{of_threads}", _clock(int(design["processors.clock_hz"]))),
        (_value("CPI {:.2f}", rate("cpi.all")), _value("{:.1%} busy", rate("utilisation"))),
    ]
    if load_cores:
        lines.append((f"{counted(load_cores, 'core')} for the load generator alone", ""))
    y = _lines(drawing, _PAD, top, _WIDTH - 2 * _CARD - 2 * _PAD, lines) + _PAD
    fetch, *data = LABELS["kind"]
    for number, (key, title, kinds) in enumerate((("l1i", "L1I", [fetch]), ("l1d", "L1D", data))):
        found = [value for kind in kinds if (value := rate(f"l1_mpki.{kind}")) is not None]
        misses = _value("{:.2f} MPKI", sum(found) if found else None)
        cache = [(f"{title} {_size(design, key)}", ""), (_ways(design, key), ""), (misses, "")]
        below = _box(drawing, _PAD + number * (_HALF + _PAD), y, _HALF, cache)
    l2 = [
        (f"L2 {_size(design, 'l2')}", _value("{:.3f} MPKI", rate("l2_mpki.all"))),
        (f"{_ways(design, 'l2')}, {design['l2.inclusion']}", f"hit: {design['latency.l2_hit']} cycles"),
    ]
    bottom = _box(drawing, _PAD, below + _PAD, 2 * _HALF + _PAD, l2) + _PAD
    width = _WIDTH - 2 * _CARD
    drawing.box(0, top, width, bottom - top)
    for card in range(1, min(cores, 3)):
        # The part of a card behind the core that the core does not cover.
        drawing.path(
            f"M{card * _CARD:g} {bottom + (card - 1) * _CARD:g}v{_CARD}h{width:g}V{top + card * _CARD:g}h-{_CARD}"
        )
    return bottom


def _bus_lines(design: Mapping[str, Any], rate: Rate) -> Lines:
    service = int(design.get("bandwidth.bus", 0))
    busy = _value("{:.1%} busy", rate("queue_utilisation.bus"))
    counts = {"fills": "fills", "writebacks": "writebacks", "upgrades": "upgrades"}
    traffic = ", ".join(
        f"{name} {value:.3f}" for key, name in counts.items() if (value := rate(f"traffic_pki.{key}")) is not None
    )
    return [
        (
            f"{'home' if 'llc.size' in design else 'bus'}, {design['protocol']}",
            busy if service else "unlimited bandwidth",
        ),
        *([("per 1000 instructions:", ""), (traffic, "")] if traffic else []),
        (f"upgrade: {design['latency.upgrade']} cycles", f"{service} cycles per request" if service else ""),
        *([("mean wait of a request", wait)] if (wait := _value("{:.1f} cycles", rate("queue_wait.bus"))) else []),
    ]


def _group_lines(design: Mapping[str, Any], rate: Rate, cores: int) -> Lines:
    of_group = int(design["group.cores"])
    return [
        (f"group cache {_size(design, 'group')}", _value("{:.1%} of the misses", rate("miss_source.all.group"))),
        (f"{_ways(design, 'group')}, {counted(of_group, 'core')} each", f"{design['latency.group']} cycles"),
        (f"{counted(cores // of_group, 'group cache')}", ""),
    ]


def _llc_lines(design: Mapping[str, Any], rate: Rate) -> Lines:
    slices = counted(int(design["llc.slices"]), "slice")
    recalled = _value("{:.1%} of the misses after a recall", rate("after_recall_share.llc"))
    return [
        (f"LLC {_size(design, 'llc')}", _value("{:.1%} of the misses", rate("miss_source.all.llc"))),
        (f"{_ways(design, 'llc')}, {slices}", f"{design['latency.llc']} cycles"),
        (recalled, ""),
    ]


def _draw_suppliers(drawing: Drawing, top: float, design: Mapping[str, Any], rate: Rate, cores: int) -> None:
    """What supplies the misses: memory, and the L2s of the other cores."""
    shares = {source: rate(f"miss_source.all.{source}") for source in ("memory", *_STATES)}
    memory = [
        ("memory", ""),
        (_value("{:.1%} of the misses", shares["memory"]), ""),
        (f"{design['latency.memory']} cycles", ""),
    ]
    if design.get("bandwidth.memory"):
        banks = counted(int(design.get("bandwidth.banks", 1)), "bank")
        memory += [(banks, _value("{:.1%} busy", rate("queue_utilisation.memory")))]
        memory += [(f"{design['bandwidth.memory']} cycles per line", "")]
    y = top + 2 * _PAD
    drawing.path(f"M{_HALF / 2:g} {top:g}V{y:g}")
    _box(drawing, 0, y, _HALF, memory, bar=COLOURS["memory"])
    if cores == 1:
        return
    known = [shares[state] for state in _STATES if shares[state] is not None]
    states = [f"{state} {share:.1%}" for state in _STATES if (share := shares[state])]
    caches = [
        (counted(cores - 1, "other L2"), ""),
        (_value("{:.1%} of the misses", sum(filter(None, known)) if known else None), ""),
        (f"{design['latency.cache']} cycles", ""),
        *((", ".join(states[at : at + 2]), "") for at in range(0, len(states), 2)),
    ]
    left = _HALF + _PAD
    drawing.path(f"M{left + _HALF / 2:g} {top:g}V{y:g}")
    _box(drawing, left, y, _WIDTH - 2 * _CARD - left, caches, dashed=True, bar=COLOURS["M"])


def _box(
    drawing: Drawing, x: float, y: float, width: float, lines: Lines, *, dashed: bool = False, bar: str = ""
) -> float:
    """A box with lines of text; returns its lower edge. bar: colour of its left edge, which figures also use."""
    bottom = _lines(drawing, x + _PAD, y, width - 2 * _PAD, lines) + _PAD
    drawing.box(x, y, width, bottom - y, dashed=dashed)
    if bar:
        drawing.box(x, y, _CARD, bottom - y, fill=bar, frame=False)
    return bottom


def _lines(drawing: Drawing, x: float, y: float, width: float, lines: Lines) -> float:
    """Lines of text below each other; returns the last base line. Lines without words are left out."""
    for number, (left, right) in enumerate(line for line in lines if any(line)):
        y += LINE_PX
        for words, at, anchor in ((left, x, "start"), (right, x + width, "end")):
            if words:
                drawing.text(at, y, words, bold=number == 0 and anchor == "start", anchor=anchor)
    return y


def _means(group: Group) -> Rate:
    def mean(metric: str) -> float | None:
        found = group.estimate(metric)
        return None if found is None else found.mean

    return mean


def _value(form: str, value: float | None) -> str:
    return "" if value is None else form.format(value)


def _size(design: Mapping[str, Any], cache: str) -> str:
    """For example `128 KiB`."""
    text = size_text(int(design[f"{cache}.size"]))
    number = text.rstrip("KMGTiB")
    return f"{number} {text.removeprefix(number) or 'bytes'}"


def _ways(design: Mapping[str, Any], cache: str) -> str:
    ways = int(design[f"{cache}.ways"])
    return "direct-mapped" if ways == 1 else f"{ways}-way"


def _clock(hertz: int) -> str:
    return f"{hertz / 1e9:g} GHz" if hertz >= 1_000_000_000 else f"{hertz / 1e6:g} MHz"

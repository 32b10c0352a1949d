# SPDX-License-Identifier: GPL-2.0-or-later
"""All figures of a report, in the order of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from s80lab.report.data import NOT_WARM, Group
from s80lab.report.figures.caches import cpi, e_state, instruction_mix, miss_source
from s80lab.report.figures.load import busy, executed_mix, latency
from s80lab.report.figures.style import style, svg
from s80lab.report.figures.warmup import warm_up

# Pictures of the load generator's side.
_OF_LOAD = ("latency", "executed_mix")

Draw = Callable[[Sequence[Group]], Figure]


@dataclass(frozen=True)
class Picture:
    """A drawn figure. caption says what it shows, and "not warm" where its numbers are."""

    name: str
    title: str
    caption: str
    svg: str


_PICTURES: tuple[tuple[str, str, str, bool, Draw], ...] = (
    (
        "miss_source",
        "Who serviced the L2 misses",
        "Share of the L2 misses of each kind, by user and kernel code where they are told apart; percent in the bars.",
        True,
        miss_source,
    ),
    (
        "e_state",
        "Blocks that entered an L2, and the fate of those in E",
        "Above: all blocks by their state at fill. Below: what ended the E of blocks that had entered in E.",
        True,
        e_state,
    ),
    (
        "warm_up",
        "Warm-up",
        "Each statistics window since the mix began, a line a seed: faint in the warm-up, strong in the region.",
        False,
        warm_up,
    ),
    (
        "cpi",
        "Cycles per instruction",
        "Base cycles, and stalls by where the access was serviced.",
        True,
        cpi,
    ),
    (
        "instruction_mix",
        "Instruction mix",
        "Retired instructions by class; the paper states loads and stores in one number, branches in another.",
        False,
        instruction_mix,
    ),
    (
        "latency",
        "Response times",
        "Modelled response time by transaction type (and their number): median, 90th, 95th, 99th percentile.",
        True,
        latency,
    ),
    (
        "executed_mix",
        "Transactions, as run and as stated",
        "Share of each type among the executed transactions, beside Table 1 and what the driver lets expect.",
        False,
        executed_mix,
    ),
    (
        "busy",
        "Busy cores",
        "Busy cycles of each core as a share of the measured region; the thin lines span the seeds.",
        True,
        busy,
    ),
)


def draw_all(groups: Sequence[Group]) -> list[Picture]:
    """Draws every figure of these groups that has something to show: a replay has no load generator's side."""
    loaded = [group for group in groups if not group.replayed]
    marked = [group.label for group in groups if not group.warm]
    words = f" {', '.join(marked)}: {NOT_WARM}." if marked else ""
    with style():
        return [
            Picture(name, title, caption + (words if of_caches else ""), svg(draw(shown)))
            for name, title, caption, of_caches, draw in _PICTURES
            if (shown := loaded if name in _OF_LOAD else groups)
        ]

# SPDX-License-Identifier: GPL-2.0-or-later
"""All figures of a report, in the order of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s80lab.report.data import NOT_WARM, Group
from s80lab.report.figures import caches, load, warmup
from s80lab.report.figures.registry import PICTURES, Declared
from s80lab.report.figures.style import style, svg

# Importing a module of figures declares them.
DECLARING_MODULES = (caches, load, warmup)
# The headline first; a figure that is not named here comes last.
ORDER = ("miss_source", "e_state", "warm_up", "cpi", "instruction_mix", "latency", "executed_mix", "busy")


@dataclass(frozen=True)
class Picture:
    """A drawn figure. caption says what it shows, and "not warm" where its numbers are."""

    name: str
    title: str
    caption: str
    svg: str


def in_order() -> list[Declared]:
    """Every declared figure, in the order of the page."""
    later = [name for name in PICTURES if name not in ORDER]
    return [PICTURES[name] for name in (*ORDER, *later)]


def draw_all(groups: Sequence[Group]) -> list[Picture]:
    """Draws every figure of these groups that has something to show: a replay has no load generator's side."""
    loaded = [group for group in groups if not group.replayed]
    marked = [group.label for group in groups if not group.warm]
    words = f" {', '.join(marked)}: {NOT_WARM}." if marked else ""
    with style():
        return [
            Picture(one.name, one.title, one.caption + (words if one.of_caches else ""), svg(one.draw(shown)))
            for one in in_order()
            if (shown := loaded if one.of_load else groups)
        ]

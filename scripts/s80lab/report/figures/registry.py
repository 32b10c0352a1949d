# SPDX-License-Identifier: GPL-2.0-or-later
"""Registry of a report's figures. `@picture(...)` on a function that draws a figure declares it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from s80lab.analysis.groups import Group
from s80lab.report.figures.drawing import Drawing

Draw = Callable[[Sequence[Group]], Sequence[Drawing]]
"""Draws groups as one chart or several."""


@dataclass(frozen=True)
class Declared:
    """A declared figure. of_caches: its numbers depend on the caches, so they need steady state. of_load: it shows the
    load generator's result, which replays lack."""

    name: str
    title: str
    caption: str
    of_caches: bool
    of_load: bool
    draw: Draw


PICTURES: dict[str, Declared] = {}


def picture(title: str, caption: str, *, of_caches: bool = True, of_load: bool = False) -> Callable[[Draw], Draw]:
    """Declares the decorated function, which draws groups of runs, as the figure of its name."""

    def declare(draw: Draw) -> Draw:
        name = draw.__name__
        if name in PICTURES:
            raise ValueError(f"the figure {name} is declared twice")
        PICTURES[name] = Declared(name, title, caption, of_caches, of_load, draw)
        return draw

    return declare

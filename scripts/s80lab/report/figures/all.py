# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws all figures of a report; report/page.py decides where each one appears."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from s80lab.analysis.groups import NOT_WARM, Group
from s80lab.base.errors import UserError
from s80lab.base.suggest import hint
from s80lab.report.figures import caches, load, warmup
from s80lab.report.figures.drawing import Drawing, beside
from s80lab.report.figures.registry import PICTURES

FIGURES = "figures"
# Importing a module of figures declares them.
DECLARING_MODULES = (caches, load, warmup)


@dataclass(frozen=True)
class Picture:
    """A drawn figure.

    title: the text alternative, for readers that do not see the figure.
    caption: what the figure shows, and which groups had not reached steady state.
    svg: the figure as one SVG.
    section: the section of a report that shows the figure, if the section does not name the figure.
    parts: the charts of the figure with their text alternatives, which a page shows in their own size beside or below
        each other; empty for a figure that a page shows as wide as the page.
    """

    name: str
    title: str
    caption: str
    svg: str
    section: str = ""
    parts: tuple[str, ...] = ()

    @property
    def labelled(self) -> tuple[str, ...]:
        """The parts of the figure for a page, each with a title for readers that do not see the figure."""
        return self.parts or (_labelled(self.svg, self.title),)


def drawn_picture(name: str, title: str, caption: str, charts: Sequence[Drawing], section: str = "") -> Picture:
    """A figure of charts. Of several charts, the text alternative of each ends with its own title."""
    several = len(charts) > 1
    parts = (_labelled(chart.svg(), f"{title}: {chart.words[0]}" if several else title) for chart in charts)
    return Picture(name, title, caption, beside(charts), section, tuple(parts))


def _labelled(svg: str, title: str) -> str:
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)


def draw_all(groups: Sequence[Group]) -> list[Picture]:
    """Draws every figure that applies to these groups; replays have no figures of the load."""
    return draw(groups, list(PICTURES))


def draw(groups: Sequence[Group], names: Sequence[str]) -> list[Picture]:
    """Draws the named figures. UserError names the first one that is not declared."""
    for name in names:
        if name not in PICTURES:
            raise UserError(f"unknown figure `{name}`: {hint(name, PICTURES)}")
    return [_picture(groups, name, shown) for name in names if (shown := _drawable(groups, name))]


def _drawable(groups: Sequence[Group], name: str) -> Sequence[Group]:
    return [group for group in groups if not group.replayed] if PICTURES[name].of_load else groups


def _picture(groups: Sequence[Group], name: str, shown: Sequence[Group]) -> Picture:
    declared = PICTURES[name]
    marked = [group.label for group in groups if not group.warm]
    words = f" {NOT_WARM[:1].upper()}{NOT_WARM[1:]}: {', '.join(marked)}." if marked else ""
    caption = declared.caption + (words if declared.of_caches else "")
    return drawn_picture(name, declared.title, caption, declared.draw(shown))

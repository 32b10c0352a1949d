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
from s80lab.report.figures.registry import PICTURES
from s80lab.report.figures.style import style, svg

# Importing a module of figures declares them.
DECLARING_MODULES = (caches, load, warmup)


@dataclass(frozen=True)
class Picture:
    """A drawn figure. caption: what the figure shows, and which groups had not reached steady state."""

    name: str
    title: str
    caption: str
    svg: str

    @property
    def labelled(self) -> str:
        """The SVG with its title for readers that do not see it."""
        return self.svg.replace("<svg ", f'<svg role="img" aria-label="{escape(self.title)}" ', 1)


def draw_all(groups: Sequence[Group]) -> list[Picture]:
    """Draws every figure that applies to these groups; replays have no figures of the load."""
    return draw(groups, list(PICTURES))


def draw(groups: Sequence[Group], names: Sequence[str]) -> list[Picture]:
    """Draws the named figures. UserError names the first one that is not declared."""
    for name in names:
        if name not in PICTURES:
            raise UserError(f"unknown figure `{name}`: {hint(name, PICTURES)}")
    loaded = [group for group in groups if not group.replayed]
    marked = [group.label for group in groups if not group.warm]
    words = f" {NOT_WARM[:1].upper()}{NOT_WARM[1:]}: {', '.join(marked)}." if marked else ""
    with style():
        return [
            Picture(one.name, one.title, one.caption + (words if one.of_caches else ""), svg(one.draw(shown)))
            for one in (PICTURES[name] for name in names)
            if (shown := loaded if one.of_load else groups)
        ]

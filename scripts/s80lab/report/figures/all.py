# SPDX-License-Identifier: GPL-2.0-or-later
"""All figures of a report; the page says where each stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s80lab.base.errors import UserError
from s80lab.base.strict import hint
from s80lab.report.data import NOT_WARM, Group
from s80lab.report.figures import caches, load, warmup
from s80lab.report.figures.registry import PICTURES
from s80lab.report.figures.style import style, svg

# Importing a module of figures declares them.
DECLARING_MODULES = (caches, load, warmup)


@dataclass(frozen=True)
class Picture:
    """A drawn figure. caption says what it shows, and "not warm" where its numbers are."""

    name: str
    title: str
    caption: str
    svg: str


def draw_all(groups: Sequence[Group]) -> list[Picture]:
    """Draws every figure of these groups that has something to show: a replay has no load generator's side."""
    return draw(groups, list(PICTURES))


def draw(groups: Sequence[Group], names: Sequence[str]) -> list[Picture]:
    """The same of the named figures. UserError names one that is not declared."""
    for name in names:
        if name not in PICTURES:
            raise UserError(f"there is no figure `{name}`: {hint(name, PICTURES)}")
    loaded = [group for group in groups if not group.replayed]
    marked = [group.label for group in groups if not group.warm]
    words = f" {', '.join(marked)}: {NOT_WARM}." if marked else ""
    with style():
        return [
            Picture(one.name, one.title, one.caption + (words if one.of_caches else ""), svg(one.draw(shown)))
            for one in (PICTURES[name] for name in names)
            if (shown := loaded if one.of_load else groups)
        ]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws all figures of a report; report/page.py decides where each one appears."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from pathlib import Path

from s80lab.analysis.groups import NOT_WARM, Group
from s80lab.analysis.transactions import types
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash, value_hash
from s80lab.base.suggest import hint
from s80lab.report.figures import caches, load, warmup
from s80lab.report.figures.registry import PICTURES
from s80lab.report.figures.style import inline, style, svg
from s80lab.results import paper

FIGURES = "figures"
KEY = ".figures"
"""Name of the file beside report.html that holds the key of its figures."""
_CODE = (Path(__file__).parent, Path(__file__).parents[2] / "analysis")
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
    with style():
        return [
            _picture(groups, name, svg(PICTURES[name].draw(shown))) for name in names if (shown := _shown(groups, name))
        ]


def keep_or_draw(groups: Sequence[Group], folder: Path) -> list[Picture]:
    """Every figure that applies to these groups. The figures of the report in `folder` are read and not
    drawn again if they show the same numbers and the same code drew them."""
    names = [name for name in PICTURES if _shown(groups, name)]
    try:
        if (folder / KEY).read_text(encoding="utf-8") == drawing_key(groups):
            return [
                _picture(groups, name, inline((folder / FIGURES / f"{name}.svg").read_text("utf-8"))) for name in names
            ]
    except (OSError, ValueError):
        pass
    return draw(groups, names)


def drawing_key(groups: Sequence[Group]) -> str:
    """Hash of everything that the figures of these groups depend on: numbers, code and the version of matplotlib."""
    numbers = [
        [group.label, group.warm, [[run.manifest["seed"], run.stats, run.result] for run in group.runs], _types(group)]
        for group in groups
    ]
    code = [file_hash(path) for folder in _CODE for path in sorted(folder.rglob("*.py"))]
    stated = [file_hash(path) for path in sorted(paper.PAPER.glob("*.tsv"))]
    return value_hash([numbers, code, stated, version("matplotlib")])


def _types(group: Group) -> list[str]:
    """The transactions as the figures show them: with the shares that the workload's profile and the paper state."""
    return [] if group.replayed else [repr(one) for one in types(group)]


def _shown(groups: Sequence[Group], name: str) -> Sequence[Group]:
    return [group for group in groups if not group.replayed] if PICTURES[name].of_load else groups


def _picture(groups: Sequence[Group], name: str, drawn: str) -> Picture:
    declared = PICTURES[name]
    marked = [group.label for group in groups if not group.warm]
    words = f" {NOT_WARM[:1].upper()}{NOT_WARM[1:]}: {', '.join(marked)}." if marked else ""
    return Picture(name, declared.title, declared.caption + (words if declared.of_caches else ""), drawn)

# SPDX-License-Identifier: GPL-2.0-or-later
"""A drawing in SVG. Sizes are in pixels: a page shows a drawing in its own size, so that its text can be read on a
screen of any width."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

FONT = 'system-ui, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif'
TEXT_PX, SMALL_PX = 12, 11
LINE_PX = 17
"""From one line of text to the next."""
MARGIN_PX = 5
"""Below the lowest part."""
COLUMNS, GAP_PX = 2, 24
"""Of several drawings in one SVG."""


class Drawing:
    """Boxes, lines, dots and text. words: all text in the order in which it was added, which describes the drawing."""

    def __init__(self, width: float) -> None:
        self.words: list[str] = []
        self.width = width
        self._bottom = 0.0
        self._parts: list[str] = []

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "none",
        opacity: float = 1.0,
        frame: bool = True,
        dashed: bool = False,
        tip: str = "",
    ) -> None:
        """A rectangle. tip: the text that a browser shows beside the pointer."""
        stroke = ' stroke="currentColor" stroke-opacity="0.55"' if frame else ""
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self._bottom = max(self._bottom, y + height)
        body = f"><title>{escape(tip)}</title></rect>" if tip else "/>"
        self._parts.append(
            f'<rect x="{x:.6g}" y="{y:.6g}" width="{width:.6g}" height="{height:.6g}" fill="{fill}" '
            f'fill-opacity="{opacity:.3g}"{stroke}{dashes}{body}'
        )

    def line(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """A faint line, such as a line of a grid."""
        self._parts.append(
            f'<line x1="{x:.6g}" y1="{y:.6g}" x2="{to_x:.6g}" y2="{to_y:.6g}" stroke="currentColor" '
            'stroke-opacity="0.18"/>'
        )

    def curve(
        self, points: Sequence[tuple[float, float]], colour: str, *, width: float = 1.3, opacity: float = 1.0
    ) -> None:
        """A line through points."""
        listed = " ".join(f"{x:.6g},{y:.6g}" for x, y in points)
        self._parts.append(
            f'<polyline points="{listed}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            f'stroke-opacity="{opacity:g}"/>'
        )

    def dot(self, x: float, y: float, radius: float, colour: str, opacity: float = 1.0) -> None:
        self._parts.append(
            f'<circle cx="{x:.6g}" cy="{y:.6g}" r="{radius:g}" fill="{colour}" fill-opacity="{opacity:g}"/>'
        )

    def ring(self, x: float, y: float, radius: float) -> None:
        self._parts.append(
            f'<circle cx="{x:.6g}" cy="{y:.6g}" r="{radius:g}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
        )

    def path(self, points: str) -> None:
        """A line through points in the notation of SVG."""
        self._parts.append(f'<path d="{points}" fill="none" stroke="currentColor" stroke-opacity="0.55"/>')

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        bold: bool = False,
        small: bool = False,
        anchor: str = "start",
        fill: str = "",
    ) -> None:
        """One line of text; y is its base line. fill: its colour, instead of that of the page's text."""
        self._bottom = max(self._bottom, y)
        weight = ' font-weight="600"' if bold else ""
        size = f' font-size="{SMALL_PX}"' if small else ""
        side = "" if anchor == "start" else f' text-anchor="{anchor}"'
        colour = f' fill="{fill}"' if fill else ""
        self._parts.append(f'<text x="{x:.6g}" y="{y:.6g}"{size}{weight}{side}{colour}>{escape(words)}</text>')
        self.words.append(words)

    @property
    def height(self) -> float:
        return self._bottom + MARGIN_PX

    def svg(self, place: str = "") -> str:
        """The SVG text. place: attributes that place the drawing inside another one."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {place}width="{self.width:g}" height="{self.height:g}" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" font-family="{escape(FONT)}" font-size="{TEXT_PX}" '
            'fill="currentColor">'
        )
        return "\n".join([head, *self._parts, "</svg>"])


def beside(drawings: Sequence[Drawing]) -> str:
    """One SVG with all drawings, COLUMNS in a row."""
    if len(drawings) == 1:
        return drawings[0].svg()
    parts, y, widest = [], 0.0, 0.0
    for first in range(0, len(drawings), COLUMNS):
        row, x = drawings[first : first + COLUMNS], 0.0
        for drawing in row:
            parts.append(drawing.svg(f'x="{x:g}" y="{y:g}" '))
            x += drawing.width + GAP_PX
        widest, y = max(widest, x - GAP_PX), y + max(drawing.height for drawing in row) + GAP_PX
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{widest:g}" height="{y:g}" viewBox="0 0 {widest:g} {y:g}">'
    return "\n".join([head, *parts, "</svg>"])

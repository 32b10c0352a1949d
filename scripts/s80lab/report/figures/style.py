# SPDX-License-Identifier: GPL-2.0-or-later
"""The look of all figures: one colour per miss source or state in every figure. Curves and comparisons are drawn with
matplotlib, as SVG that follows the page's light or dark colours, and as PNG.

Functions import matplotlib when they draw, because the import is slow and most commands draw nothing.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN = 8.2
PNG_DPI = 150
_ABREAST = 3  # panels that fit in one row

# Placeholder for the colour of the surrounding text; svg() replaces it by `currentColor`.
INK = "#010203"
QUIET = "#808488"

COLOURS = {
    "memory": "#8d99a6",
    "llc": "#4fa3a8",
    "group": "#b08fc7",
    "M": "#b8452c",
    "O": "#d9922e",
    "E": "#2f7ca8",
    "S": "#5d9e6f",
    "base": "#a9b1b9",
    "l2": "#5d9e6f",
    "cache": "#d9922e",
    "upgrade": "#8560ad",
    "issue": "#2f7ca8",
    "order": "#b8452c",
    "evicted": "#8d99a6",
    "invalidated": "#8560ad",
}
GROUP_COLOURS = ("#2f7ca8", "#b8452c", "#5d9e6f", "#8560ad", "#d9922e", "#7b8794")

_STYLE: Any = {  # matplotlib types its keys as literals
    "svg.fonttype": "none",
    "svg.hashsalt": "s80lab",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial"],
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "axes.linewidth": 0.8,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": QUIET,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}

_STANDALONE = (
    "<style>:root{color:#1d2125;background:#fff}"
    "@media(prefers-color-scheme:dark){:root{color:#dfe3e6;background:#15181b}}</style>"
)


@contextmanager
def style() -> Iterator[None]:
    """Context with our matplotlib settings. All drawing happens inside, because matplotlib reads settings at
    creation."""
    import matplotlib

    matplotlib.use("svg")
    with matplotlib.rc_context(_STYLE):
        yield


def panels(rows: int, columns: int, height_in: float, *, share_x: bool = True) -> tuple[Figure, list[Axes]]:
    """A figure with rows x columns equal panels, and its axes row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex=share_x)
    return figure, [axis for row in axes for axis in row]


def panel_each(count: int, height_in: float, columns: int = 0) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels, `columns` side by side (0: chosen by count). height_in: height of a row in
    inches."""
    columns = columns or (2 if count == 4 else min(count, _ABREAST))
    rows = -(-count // columns)
    figure, axes = panels(rows, columns, height_in * rows)
    for below in axes[count:]:
        below.set_visible(False)
    for lowest in axes[max(0, count - columns) : count]:
        lowest.xaxis.set_tick_params(labelbottom=True)
    return figure, axes[:count]


def svg(figure: Figure) -> str:
    """The figure as SVG text for a page. Equal numbers give equal bytes."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text = io.StringIO()
    # Figure.savefig() writes equal bytes, but draws each figure twice.
    canvas: Any = FigureCanvasSVG(figure)  # matplotlib does not type print_svg()
    canvas.print_svg(text, metadata={"Date": None, "Creator": None})
    picture = text.getvalue().replace(INK, "currentColor")
    return picture[picture.index("<svg") :]


def png(figure: Figure) -> bytes:
    """The figure as PNG on a white background, for slides and papers."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=PNG_DPI, facecolor="white", metadata={"Software": None})
    return content.getvalue()


def standalone(picture: str) -> str:
    """The SVG as a separate file, with its own light and dark colours."""
    return re.sub(r"(<svg[^>]*>)", rf"\1{_STANDALONE}", picture, count=1)


def on(colour: str) -> str:
    """White or black, whichever is read more easily on the colour `#rrggbb`."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return "#1d2125" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.21 else "#ffffff"


def percent_axis(axis: Axes) -> None:
    """Formats the y axis of shares in percent, with ticks at round percentages."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{round(100 * share, 6):g}%"))

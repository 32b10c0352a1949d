# SPDX-License-Identifier: GPL-2.0-or-later
"""The look of all figures: one colour per miss source or state in every figure, few lines, and SVG that follows the
page's light or dark colours.

Functions import matplotlib when they draw, because the import is slow and most commands draw nothing.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN = 8.2
PNG_DPI = 150
_LABEL_CHARACTERS, _LABEL_LINES = 30, 3
_ABREAST = 3  # panels that fit in one row

# Placeholder for the colour of the surrounding text; svg() replaces it by `currentColor`.
INK = "#010203"
QUIET = "#808488"

COLOURS = {
    "memory": "#7b8794",
    "M": "#c8553d",
    "O": "#d9922e",
    "E": "#2f7ca8",
    "S": "#5d9e6f",
    "base": "#a9b1b9",
    "l2": "#5d9e6f",
    "cache": "#d9922e",
    "upgrade": "#8c6bb1",
    "issue": "#2f7ca8",
    "order": "#c8553d",
    "evicted": "#7b8794",
    "invalidated": "#8c6bb1",
}
GROUP_COLOURS = ("#2f7ca8", "#c8553d", "#5d9e6f", "#8c6bb1", "#d9922e", "#7b8794")

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


def label_lines(text: str) -> str:
    """A label of a panel or bar, in lines that leave room for the figure."""
    return "\n".join(wrap(text, _LABEL_CHARACTERS, max_lines=_LABEL_LINES, placeholder=" ..."))


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


def inline(file: str) -> str:
    """The SVG for a page, from the text of a separate file."""
    return file.replace(_STANDALONE, "", 1)


def stacked(axis: Axes, rows: Sequence[tuple[str, Sequence[float]]], names: Sequence[str], unit: float) -> None:
    """Draws horizontal stacked bars, the first row on top. A part that is wide enough shows its number (value x unit).
    names: for each part, its key in COLOURS."""
    left = [0.0] * len(rows)
    places = range(len(rows) - 1, -1, -1)
    panel_in = WIDTH_IN / columns_of(axis) - 1.1
    widest = 1.0 if unit > 1 else max((sum(values) for _, values in rows), default=1.0) or 1.0
    for part, name in enumerate(names):
        widths = [values[part] for _, values in rows]
        axis.barh(places, widths, left=left, height=0.72, color=COLOURS[name], linewidth=0)
        for place, start, width in zip(places, left, widths, strict=True):
            text = f"{width * unit:.0f}" if unit > 1 else f"{width:.2f}"
            if width / widest * panel_in > 0.09 * len(text):
                axis.text(
                    start + width / 2, place, text, ha="center", va="center", color=_on(COLOURS[name]), fontsize=8
                )
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axis.set_yticks(list(places), [label for label, _ in rows])
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    axis.set_xlim(0, widest)


def _on(colour: str) -> str:
    """White or black, whichever is read more easily on the colour."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return "#1d2125" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.6 else "#ffffff"


def columns_of(axis: Axes) -> int:
    """Number of panels in this panel's row."""
    place = axis.get_subplotspec()
    return 1 if place is None else int(place.get_gridspec().ncols)


def percent_axis(axis: Axes, whole: str, which: str = "x") -> None:
    """Formats an axis of shares in percent and labels it `share of the WHOLE`."""
    from matplotlib.ticker import PercentFormatter

    one = axis.xaxis if which == "x" else axis.yaxis
    one.set_major_formatter(PercentFormatter(1.0, decimals=0))
    one.set_label_text(f"share of the {whole}" if whole else "")


def key(on: Figure | Axes, names: Sequence[tuple[str, str]], title: str = "") -> None:
    """Draws a one-line legend above a figure, or above one panel with a title. names: pairs (key in COLOURS, label)."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    handles = [Patch(color=COLOURS[name], linewidth=0, label=word) for name, word in names]
    legend = on.legend(
        handles=handles,
        ncols=len(handles),
        frameon=False,
        handlelength=0.9,
        handleheight=0.9,
        columnspacing=1.4,
        borderaxespad=0.2,
        borderpad=0,
        alignment="left",
        title=title or None,
        title_fontproperties={"weight": "bold", "size": 9.5},
        **({"loc": "outside upper left"} if isinstance(on, Figure) else _ABOVE),
    )
    legend.set_in_layout(True)


_ABOVE: Any = {"loc": "lower left", "bbox_to_anchor": (0, 1.04)}

# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of the page of misses that lists contended lines: sorted and filtered in the browser, by a script that the
page contains. Without scripts, the lines are sorted by transfers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from s80lab.analysis.misses.store import Access, Line, MissStore, number_of, requests
from s80lab.report.misses.lines import COLUMNS, MEANING, shares, source
from s80lab.report.page import TEMPLATES, prose

SHOWN = 200
# Rows of a line: the accesses with most requests.
ROWS = 40
# Processes that the page can select.
PROCESSES = 30


_NOTE = (
    "A choice of a process hides the lines and rows that the process did not request; the numbers still count all "
    "processes. The option `--process` of `s80lab misses` counts one process."
)


def lines_section(store: MissStore) -> Markup:
    """The lines with the most transfers."""
    return lines_html(store.lines(SHOWN), list(store.processes), COLUMNS, MEANING, _NOTE)


def lines_html(
    lines: Sequence[Line], processes: Sequence[str], columns: Mapping[str, str], meaning: str, note: str
) -> Markup:
    """The table of these lines. processes: by their requests, most first. columns: headings of the numbers. meaning: of
    the numbers; note: a text behind the table."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    environment.filters["number"] = number_of
    environment.filters["prose"] = prose
    text = environment.get_template("lines.html.j2").render(
        lines=[(line, most_accesses(line)) for line in lines],
        columns=columns,
        meaning=meaning,
        note=note,
        processes=processes[:PROCESSES],
        style=(TEMPLATES / "lines.css").read_text(encoding="utf-8"),
        script=(TEMPLATES / "lines.js").read_text(encoding="utf-8"),
        source=source,
        shares=shares,
    )
    return Markup(text)


def most_accesses(line: Line) -> Sequence[Access]:
    """The accesses that the page lists, by offset."""
    most = sorted(line.accesses, key=lambda access: -requests(access.counts))[:ROWS]
    return sorted(most, key=lambda access: access.offset)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Renders an explained trace as one HTML file without scripts: the state of each cache after each access."""

from __future__ import annotations

from collections.abc import Callable

from s80lab.report.page import template
from s80lab.trace.step import Lesson, Step

MOST_LINES = 40
"""Lines up to which the page shows all lines after each access."""


def page(lesson: Lesson) -> str:
    """The page as HTML text."""
    return template("step.html.j2", compact=True).render(lesson=lesson, rows=_rows(lesson), few=_is_long(lesson))


def _is_long(lesson: Lesson) -> bool:
    """Whether the lines of the trace are too many to be shown after each access."""
    return len(lesson.lines) > MOST_LINES


def _rows(lesson: Lesson) -> Callable[[Step], list[tuple[int, str]]]:
    """The lines in the table of an access, with their letters: all, or those that the access concerns."""
    if not _is_long(lesson):
        return lambda step: list(lesson.lines.items())

    def concerned(step: Step) -> list[tuple[int, str]]:
        lines = dict.fromkeys([step.line, *(line for _, line in step.changes)])
        return [(line, lesson.lines[line]) for line in lines if line in lesson.lines]

    return concerned

# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson as a page for teaching: one file, no script needed, the state of every cache after each access."""

from __future__ import annotations

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from s80lab.report.page import TEMPLATES
from s80lab.trace.step import Lesson


def page(lesson: Lesson) -> str:
    """The whole page as text."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("step.html.j2").render(lesson=lesson)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Renders an explained trace as one HTML file without scripts: the state of each cache after each access."""

from __future__ import annotations

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from s80lab.report.page import TEMPLATES
from s80lab.trace.step import Lesson


def page(lesson: Lesson) -> str:
    """The page as HTML text."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("step.html.j2").render(lesson=lesson)

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab metrics`: the list of all metrics, from their declarations."""

from __future__ import annotations

from pathlib import Path

from s80lab.base import paths
from s80lab.base.files import write_file
from s80lab.commands.output import print_json
from s80lab.results.metrics.derive import REGISTRY, markdown

PAGE = paths.HOME / "docs" / "reference" / "metrics.md"
COLUMNS = ("name", "unit", "description", "formula", "of_caches", "of_load")
HEAD = "| metric | unit |"


def metrics_command(docs: bool, as_json: bool) -> None:
    """Print every metric with its unit, meaning and formula, as a Markdown table."""
    if as_json:
        print_json([{key: getattr(one, key) for key in COLUMNS} for one in REGISTRY.values()])
        return
    if not docs:
        print(markdown(), end="")
        return
    print(f"page: {write_page().relative_to(paths.HOME)}")


def write_page() -> Path:
    """Rewrite the table in docs/reference/metrics.md from the declarations; return the page's path."""
    text = PAGE.read_text(encoding="utf-8")
    write_file(PAGE, text[: text.index(HEAD)] + markdown())
    return PAGE

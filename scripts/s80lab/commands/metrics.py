# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab metrics`: the list of all metrics, from their declarations."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import write_file
from s80lab.base.suggest import hint
from s80lab.base.terminal import say
from s80lab.commands.line.maintain import MetricsArguments
from s80lab.commands.output import print_json
from s80lab.results.metrics.derive import REGISTRY, markdown
from s80lab.results.metrics.registry import Metric

PAGE = paths.HOME / "docs" / "reference" / "metrics.md"
COLUMNS = ("name", "unit", "description", "formula", "of_caches", "of_load")
HEAD = "| metric | unit |"
INDENT = "    "


def metrics_command(args: MetricsArguments) -> None:
    """Print metrics with unit and meaning, named ones also with formula."""
    if args.docs:
        print(f"page: {write_page().relative_to(paths.HOME)}")
        return
    chosen = _chosen(args.names) if args.names else list(REGISTRY.values())
    if args.as_json:
        print_json([{key: getattr(one, key) for key in COLUMNS} for one in chosen])
        return
    for one in chosen:
        unit = f" ({one.unit})" if one.unit else ""
        say(f"{one.name}{unit}", sys.stdout)
        say(f"{INDENT}{one.description}", sys.stdout, len(INDENT))
        if args.names:
            say(f"{INDENT}= {one.formula}", sys.stdout, len(INDENT))


def _chosen(names: Sequence[str]) -> list[Metric]:
    """The metrics with these names, or with names that contain them. A name may be flattened: `cpi.memory`."""
    chosen: dict[str, Metric] = {}
    for name in names:
        stem = name.split(".", 1)[0]
        found = [stem] if stem in REGISTRY else [one for one in REGISTRY if name in one]
        if not found:
            raise UserError(f"there is no metric `{name}`: {hint(name, REGISTRY)}; `s80lab metrics` lists all metrics")
        chosen |= {one: REGISTRY[one] for one in found}
    return list(chosen.values())


def write_page() -> Path:
    """Rewrite the table in docs/reference/metrics.md from the declarations; return the page's path."""
    text = PAGE.read_text(encoding="utf-8")
    write_file(PAGE, text[: text.index(HEAD)] + markdown())
    return PAGE

# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables and views of the database with what they contain, from the comments of results/schema.sql."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from s80lab.base.paths import ROOT

SCHEMA_FILE = ROOT / "results" / "schema.sql"
_STATEMENT = re.compile(r"((?:^-- .*\n)+)CREATE (TABLE|VIEW) (\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Listed:
    """A table or view. text: the first sentence of its comment."""

    name: str
    kind: Literal["table", "view"]
    text: str


def list_tables() -> list[Listed]:
    """The views of valid runs, then the views of all runs, then the tables, each in the order of the schema."""
    found = []
    for comment, kind, name in _STATEMENT.findall(SCHEMA_FILE.read_text(encoding="utf-8")):
        text = " ".join(line.removeprefix("-- ") for line in comment.splitlines())
        found.append(Listed(name, "view" if kind == "VIEW" else "table", re.split(r"(?<=\.) ", text)[0]))
    return sorted(found, key=lambda one: (one.kind == "table", one.name.endswith("_all")))

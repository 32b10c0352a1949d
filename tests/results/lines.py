# SPDX-License-Identifier: GPL-2.0-or-later
"""Small changes to the snapshots.jsonl of a made run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Line = dict[str, Any]


def change(run_dir: Path, number: int, edit: Callable[[Line], None]) -> None:
    """Applies `edit` to the JSON of one line, counted from 1."""
    path = run_dir / "snapshots.jsonl"
    lines = path.read_text().splitlines()
    line = json.loads(lines[number - 1])
    edit(line)
    lines[number - 1] = json.dumps(line)
    path.write_text("".join(text + "\n" for text in lines))


def change_from(run_dir: Path, first: int, edit: Callable[[Line], None]) -> None:
    """The same for that line and all after it: counters stay counters."""
    for number in range(first, len((run_dir / "snapshots.jsonl").read_text().splitlines()) + 1):
        change(run_dir, number, edit)

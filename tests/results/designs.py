# SPDX-License-Identifier: GPL-2.0-or-later
"""A database with runs of two designs, valid and invalid."""

from __future__ import annotations

import json
from pathlib import Path

from s80lab.results.database import insert_run
from s80lab.results.run_folder import RunFolder


def database_of_two_designs(runs: Path) -> Path:
    """Three invalid runs of imapb, two valid runs of imape, and a valid run of imape with another design."""
    change(runs / "imape-3", protocol="mesi")
    path = runs.parent / "s80lab.sqlite"
    for folder in sorted(runs.glob("imap?-?")):
        insert_run(path, RunFolder(folder))
    return path


def change(folder: Path, **values: object) -> None:
    """Replace values in the manifest of a run."""
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))

# SPDX-License-Identifier: GPL-2.0-or-later
"""A database with runs of two designs, valid and invalid. The rows of results/reference/starts.tsv."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from functools import cache
from pathlib import Path

from s80lab.base import paths
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


@cache
def starts() -> dict[tuple[str, str], list[dict[str, str]]]:
    found: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    with (paths.ROOT / "results" / "reference" / "starts.tsv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found[row["workload"], row["server"]].append(row)
    return found

# SPDX-License-Identifier: GPL-2.0-or-later
"""The starts of results/reference/starts.tsv: a row each."""

from __future__ import annotations

import csv
from collections import defaultdict
from functools import cache

from s80lab.base import paths


@cache
def starts() -> dict[tuple[str, str], list[dict[str, str]]]:
    found: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    with (paths.ROOT / "results" / "reference" / "starts.tsv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found[row["workload"], row["server"]].append(row)
    return found

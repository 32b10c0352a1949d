# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the files that show a run's attributed misses.

Files in the run's folder: misses.json (the tables), misses.html (the page), misses.collapsed and stalls.collapsed
(stacks for speedscope, weighted by misses and by stall cycles).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from s80lab.analysis.misses.run import analyse
from s80lab.analysis.misses.stacks import collapsed
from s80lab.base.files import write_file
from s80lab.report.figures.supply import supply_pictures_of
from s80lab.report.misses.tables import all_tables
from s80lab.report.page import Topic, render
from s80lab.report.tables import Table
from s80lab.results.run_folder import MISS_PAGE, MISS_STACKS, MISS_TABLES, STALL_STACKS, RunFolder


def write_misses(run: Path) -> Sequence[Table]:
    """Writes all files that are made from the log of misses; returns the tables."""
    found = analyse(run)
    log, named = found.log, found.named
    tables = all_tables(log, named, found.lines)
    write_file(run / MISS_TABLES, json.dumps([asdict(table) for table in tables], indent=1) + "\n")
    title = f"Attributed misses of {RunFolder(run).manifest['run']}"
    topics = [Topic(table.title, supply_pictures_of(table), [table]) for table in tables]
    lead = "All L2 misses and upgrades of the measured region, by the function that missed and the data in the line."
    write_file(run / MISS_PAGE, render(title, lead, verdicts=[], notes=[], topics=topics, origins=[]))
    write_file(run / MISS_STACKS, collapsed(log, named, log.misses.astype(np.int64)))
    write_file(run / STALL_STACKS, collapsed(log, named, log.records["stall"].astype(np.int64)))
    return tables

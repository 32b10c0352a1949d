# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the files that show a run's attributed misses.

Files in the run's folder: misses.sqlite (all requests by line), misses.json (the tables), misses.html (the page),
misses.collapsed and stalls.collapsed (stacks for speedscope, weighted by misses and by stall cycles).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from s80lab.analysis.misses.run import Analysis, analyse, keep, kept
from s80lab.analysis.misses.stacks import collapsed
from s80lab.analysis.misses.store import MissStore
from s80lab.base.files import write_file
from s80lab.report.figures.supply import supply_pictures_of
from s80lab.report.misses.line_page import lines_section
from s80lab.report.misses.lines import Selection, fields_table, lines_table
from s80lab.report.misses.tables import all_tables
from s80lab.report.page import Topic, render
from s80lab.report.tables import Table, table_from
from s80lab.results.run_folder import MISS_PAGE, MISS_STACKS, MISS_TABLES, STALL_STACKS, RunFolder

_FILES = (MISS_PAGE, MISS_STACKS, MISS_TABLES, STALL_STACKS)
_LINES = "Contended lines"


@dataclass(frozen=True)
class Misses:
    """The tables of the page, and the requests by line."""

    tables: Sequence[Table]
    store: MissStore


def write_misses(run: Path) -> Misses:
    """Writes all files that are made from the log of misses. A current result is read instead of computed again."""
    store = kept(run)
    if store is not None and all((run / name).is_file() for name in _FILES):
        return Misses([table_from(each) for each in RunFolder(run).misses], store)
    return _write(run, analyse(run))


def _write(run: Path, found: Analysis) -> Misses:
    log, named = found.log, found.named
    store = keep(run, found)
    tables = tables_of(found, store)
    write_file(run / MISS_TABLES, json.dumps([asdict(table) for table in tables], indent=1) + "\n")
    write_file(run / MISS_PAGE, misses_page(RunFolder(run).manifest["run"], tables, store))
    write_file(run / MISS_STACKS, collapsed(log, named, log.misses.astype(np.int64)))
    write_file(run / STALL_STACKS, collapsed(log, named, log.records["stall"].astype(np.int64)))
    return Misses(tables, store)


def tables_of(found: Analysis, store: MissStore) -> list[Table]:
    """All tables, most important first; the report of a run shows the first ones."""
    coverage, things, *others = all_tables(found.log, found.named, found.details, found.lines)
    selection = Selection()
    lines = lines_table(store.lines(selection.top), selection)
    return [coverage, things, lines, fields_table(store, selection), *others]


def misses_page(run: str, tables: Sequence[Table], store: MissStore) -> str:
    """The page. The table of lines is replaced by one that can be sorted and filtered."""
    coverage, things, _, *others = tables
    topics = [
        Topic(coverage.title, [], [coverage]),
        Topic(_LINES, [], [], html=lines_section(store)),
        *(Topic(table.title, supply_pictures_of(table), [table]) for table in (things, *others)),
    ]
    lead = "All L2 misses and upgrades of the measured region, by the function that missed and the data in the line."
    return render(f"Attributed misses of {run}", lead, verdicts=[], notes=[], topics=topics, origins=[])

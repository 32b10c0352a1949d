# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the files that show a run's attributed misses.

Files in the run's folder: misses.sqlite (all requests by line), misses.json (the tables, and the hashes of all these
files), misses.html (the page), misses.collapsed and stalls.collapsed (stacks for speedscope, weighted by misses and by
stall cycles). A file that does not have its hash is computed again from the log.
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
from s80lab.base.errors import UserError
from s80lab.base.files import is_special, write_file
from s80lab.base.hashing import value_hash
from s80lab.base.records import is_unchanged, record_file
from s80lab.report.figures.supply import supply_pictures_of
from s80lab.report.misses.lines import Selection, fields_table, lines_section, lines_table
from s80lab.report.misses.tables import all_tables
from s80lab.report.page import Topic, render
from s80lab.report.tables import Table, table_from
from s80lab.results.products import check_logs
from s80lab.results.run_folder import (
    MEMORY_MAP,
    MISS_LOG,
    MISS_PAGE,
    MISS_STACKS,
    MISS_STORE,
    MISS_TABLES,
    STALL_STACKS,
    RunFolder,
)

_FILES = (MISS_STORE, MISS_PAGE, MISS_STACKS, STALL_STACKS)
_LINES = "Contended lines"


@dataclass(frozen=True)
class Misses:
    """The tables of the page, and the requests by line."""

    tables: Sequence[Table]
    store: MissStore


def write_misses(run: Path) -> Misses:
    """Writes all files that are made from the log of misses. A current result is read instead of computed again.

    UserError if the log is not the one that the run's manifest lists.
    """
    folder = RunFolder(run)
    if folder.has_misses():
        check_logs(folder, MISS_LOG, MEMORY_MAP)
    derived = folder.derived()
    if derived.keys() == set(_FILES) and all(is_unchanged(run / name, record) for name, record in derived.items()):
        store = kept(run)
        if store is not None:
            return Misses([table_from(each) for each in folder.misses], store)
    for name in (*_FILES, MISS_TABLES):  # a pipe or a device would be written to
        if is_special(run / name):
            raise UserError(f"{run / name}: is a folder, a pipe or a device; remove it, then repeat the command")
    return _write(run, analyse(run))


def _write(run: Path, found: Analysis) -> Misses:
    log, named = found.log, found.named
    store = keep(run, found)
    tables = tables_of(found, store)
    write_file(run / MISS_PAGE, misses_page(RunFolder(run).manifest["run"], tables, store))
    write_file(run / MISS_STACKS, collapsed(log, named, log.misses.astype(np.int64)))
    write_file(run / STALL_STACKS, collapsed(log, named, log.records["stall"].astype(np.int64)))
    # JSON has no tuples: the hash is that of the tables as they will be read.
    content = json.loads(json.dumps([asdict(table) for table in tables]))
    files = {name: record_file(run / name).model_dump() for name in _FILES}
    record = {"sha256": value_hash(content), "files": files, "tables": content}
    write_file(run / MISS_TABLES, json.dumps(record, indent=1) + "\n")
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

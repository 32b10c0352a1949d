# SPDX-License-Identifier: GPL-2.0-or-later
"""The summary of a report: verdict, what differs from the experiment's file, and six headline rows.

The page begins with the summary. The terminal prints only the summary, in at most LINES lines, unless all tables or one
section are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from s80lab.analysis.groups import Group
from s80lab.analysis.interval import number
from s80lab.analysis.sections import ENTRIES, Entry
from s80lab.base.terminal import counted
from s80lab.config.differences import SEPARATOR, words
from s80lab.report.seeds import averaged_text, seeds_text, units_text
from s80lab.report.tables import (
    Cell,
    Row,
    Table,
    comparison_note,
    has_value,
    paper_says,
    table_by_group,
)
from s80lab.report.validity import verdicts

LINES = 29
"""Most lines of the summary on a terminal of 80 columns; the line with the path of the page follows."""
# Metrics of the six rows, with the titles of their columns if the groups are rows.
ROWS = {
    "l2_mpki.all": "L2 MPKI",
    "miss_source.all.memory": "from memory",
    "miss_source.all.M": "from M",
    "e_share": "E share",
    "e_to_m_share": "E to M",
    "kernel_share.cycles": "kernel",
}
MOST_GROUPS = 5
"""Rows of the terminal's table if the groups do not fit beside each other."""
MOST_VERDICTS = 3
MOST_CONDITIONS = 4
"""Rows of the table of violated conditions on the terminal, which shows it for a single group only."""
MOST_CHARACTERS = 79
"""Characters of one verdict or list of differences on the terminal."""
LONGEST_LABEL = 36
MORE = "The page has all tables. --all prints them here, and --section NAME prints one section."


def summary_entries() -> list[Entry]:
    """The six rows of the headline, in the order of ROWS."""
    by_metric = {entry.metric: entry for entry in ENTRIES}
    return [by_metric[metric] for metric in ROWS]


def summary_table(groups: Sequence[Group]) -> Table:
    """One row per metric and one column per group, and the paper's number in the last column."""
    entries = [entry for entry in summary_entries() if has_value(entry, groups)]
    stated = [paper_says(entry.metric, groups) for entry in entries]
    table = Table("Headline", (*(group.label for group in groups), *(("paper",) if any(stated) else ())))
    for entry, says in zip(entries, stated, strict=True):
        cells = tuple(
            Cell(number(group.estimate(entry.metric), entry.style), warm=not group.marked(entry.metric))
            for group in groups
        )
        table.rows.append(Row(entry.label, (*cells, *((Cell(says),) if any(stated) else ())), title=entry.title))
    several = any(len(group.runs) > 1 for group in groups)
    table.note = intervals_text(groups) if several else comparison_note(groups)
    return table


def intervals_text(groups: Sequence[Group]) -> str:
    """What ± stands for; with the boots and seeds of the runs, if a group has several boots."""
    note = f"±: half-width of the 95% interval over {units_text(groups)} (Student t).{averaged_text(groups)}"
    boots = dict.fromkeys(seeds_text(group, group.runs) for group in groups if group.unit == "boot")
    return f"{note} Runs: {'; '.join(boots)}." if len(boots) == 1 else note


def summary_lines(groups: Sequence[Group]) -> list[tuple[str, str]]:
    """The lines above the table, with the style of each: verdicts, then what differs from the experiment's file."""
    found = verdicts(groups)
    lines = [(_shortened(f"{head} {why}"), "bold yellow") for head, why in found[:MOST_VERDICTS]]
    if len(found) > MOST_VERDICTS:
        lines.append((f"... and {counted(len(found) - MOST_VERDICTS, 'further verdict')} on the page", "bold yellow"))
    lines += [(_shortened(text), "bold") for text in valid_groups(groups)]
    lines += [(_shortened(text), "") for text in changed_values(groups)]
    return lines


def valid_groups(groups: Sequence[Group]) -> list[str]:
    """A sentence that names the groups whose runs are valid; no sentence if there is none."""
    valid = [f"{group.label} ({counted(len(group.runs), 'run')})" for group in groups if not group.reasons]
    return [f"Valid: {', '.join(valid)}."] if valid else []


def changed_values(groups: Sequence[Group]) -> list[str]:
    """A sentence with the differences from the experiments' files; no sentence if there is none."""
    changed = dict.fromkeys(", ".join(words(group.differences)) for group in groups if group.differences)
    return [f"Different from the experiment's file: {'; '.join(changed)}."] if changed else []


def summary_by_group(groups: Sequence[Group]) -> Table:
    """The table with one row per group, for groups that do not fit beside each other on a terminal."""
    entries = [
        Entry(ROWS[entry.metric], entry.metric, entry.style) for entry in summary_entries() if has_value(entry, groups)
    ]
    table = table_by_group("Headline", groups[:MOST_GROUPS], entries)
    more = len(groups) - MOST_GROUPS
    table.note = (f"{counted(more, 'further group')} on the page. " if more > 0 else "") + summary_table(groups).note
    return table


def with_short_labels(groups: Sequence[Group]) -> list[Group]:
    """The groups with labels for a terminal: without the words that all have in common after the first word, and cut
    if they are still long."""
    labels = [group.label.split(SEPARATOR) for group in groups]
    common = set.intersection(*(set(label[1:]) for label in labels)) if len(groups) > 1 else set()
    short = (SEPARATOR.join([label[0], *(word for word in label[1:] if word not in common)]) for label in labels)
    return [
        replace(group, label=label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 3]}...")
        for group, label in zip(groups, short, strict=True)
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 4]} ..."

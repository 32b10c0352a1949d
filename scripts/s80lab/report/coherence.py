# SPDX-License-Identifier: GPL-2.0-or-later
"""Miss sources and E states of the sessions: one row per workload and server, ordered by the share of misses serviced
by memory, with the paper's statements on the matching workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from s80lab.analysis.groups import Group, read_groups
from s80lab.analysis.sections import Entry
from s80lab.base.errors import UserError
from s80lab.base.format import ABSENT, PERCENT
from s80lab.config.grid import Grid
from s80lab.report.tables import Cell, Table, table_by_group
from s80lab.results import paper

STARTS = 3
"""Runs that a row needs for a meaningful interval."""
MEMORY, E_TO_M = "miss_source_of.session.all.memory", "e_to_m_share_of.session"
COLUMNS: Mapping[str, str] = {
    MEMORY: "from memory",
    "miss_source_of.session.all.M": "from a cache in M",
    "miss_source_of.session.all.O": "from O",
    "miss_source_of.session.all.E": "from E",
    "miss_source_of.session.all.S": "from S",
    "e_share_of.session": "E share",
    E_TO_M: "E-to-M upgrades per E fill",
}
CLAIMS = ("C15", "C16", "C20", "C21", "C22")


def coherence_groups(run_dirs: Sequence[Path]) -> list[Group]:
    """The runs of each workload on each server, labelled with both; highest share serviced by memory first."""
    if not run_dirs:
        raise UserError(
            "the experiments behind this figure have no runs; make runs with `s80lab reproduce` or `s80lab run`"
        )
    groups = [replace(group, label=_label(group)) for group in read_groups(run_dirs)]
    return sorted(groups, key=lambda group: group.mean(MEMORY), reverse=True)


def coherence_table(groups: Sequence[Group]) -> Table:
    """One row per group; the rank by silent E-to-M upgrades is a column."""
    lowest = sorted(groups, key=lambda group: group.mean(E_TO_M))
    last = {
        "rank by E-to-M upgrades per E fill": lambda group: Cell(
            str(lowest.index(group) + 1) if group.estimate(E_TO_M) else ABSENT
        ),
        "valid runs": lambda group: Cell(_starts(group)),
    }
    table = table_by_group(
        "Misses and fills of sessions, ordered by the share serviced by memory",
        groups,
        [Entry(title, metric, PERCENT) for metric, title in COLUMNS.items()],
        last,
        lambda group: " ".join(filter(None, (_point(group), _says(group.workload)))),
    )
    table.note = (
        "Sessions are the processes or threads that serve the clients. The first five columns are the "
        "sources of the sessions' L2 misses. E-to-M upgrades are silent upgrades; rank 1 is the lowest "
        "share. If the intervals of two rows overlap, the order of these rows is not certain. In the "
        "paper (Koka and Lipasti), memory services more of the misses of IMAP (75 to 85%) than of "
        "SPECmail (at most 15%). Of the paper's workloads, IMAP has the lowest share of E-to-M upgrades "
        "per E fill, and SPECweb_SSL the highest (61%). The paper states neither number for SPECjbb2000."
    )
    return table


def _label(group: Group) -> str:
    manifest = group.runs[0].manifest
    return f"{manifest['workload']} on {manifest['server']}"


def _point(group: Group) -> str:
    """A sentence with the values of the sweep's point, except workload and server, which are in the label."""
    varied = group.runs[0].manifest.get("varied", {})
    at = {key: value for key, value in varied.items() if key not in ("workload", "server")}
    return f"At {Grid.of_points([at]).label(at)}." if at else ""


def _starts(group: Group) -> str:
    results = sum(not run.reasons for run in group.runs)
    if results >= STARTS:
        return str(results)
    return f"{results} of {STARTS}" if results else "invalid"


def _says(mix: str) -> str:
    name = paper.STAND_INS.get(mix, mix)
    own = [claim for claim in paper.claims() if claim.id in CLAIMS and name in claim.workloads]
    statements = "; ".join(f"{claim.quantity}: {claim.stated or claim.words} ({claim.id})" for claim in own)
    return f"The paper on {name}: {statements}." if statements else ""

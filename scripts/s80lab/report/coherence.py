# SPDX-License-Identifier: GPL-2.0-or-later
"""Who serviced the misses of the sessions and what became of E, a row for each workload on each server, by memory's
share; beside each what the paper says of its like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.config.axes import axes_of, row_label
from s80lab.report.data import Group, read_groups
from s80lab.report.rows import PERCENT
from s80lab.report.tables import ABSENT, Cell, Row, Table, number
from s80lab.results import paper

STARTS = 3
"""As many independent starts a row needs for an interval that says something."""
MEMORY, E_TO_M = "miss_source_of.session.all.memory", "e_to_m_share_of.session"
COLUMNS: Mapping[str, str] = {
    MEMORY: "memory",
    "miss_source_of.session.all.M": "a cache in M",
    "miss_source_of.session.all.O": "in O",
    "miss_source_of.session.all.E": "in E",
    "miss_source_of.session.all.S": "in S",
    "e_share_of.session": "blocks that enter in E",
    E_TO_M: "of those, to M",
}
CLAIMS = ("C15", "C16", "C20", "C21", "C22")


def coherence_groups(run_dirs: Sequence[Path]) -> list[Group]:
    """The runs of each workload on each server, called after both, memory's share from the highest."""
    if not run_dirs:
        raise UserError("there is no run of any of its experiments: `s80lab run` or `s80lab reproduce` makes them")
    groups = [replace(group, label=_label(group)) for group in read_groups(run_dirs)]
    return sorted(groups, key=lambda group: group.mean(MEMORY), reverse=True)


def coherence_table(groups: Sequence[Group]) -> Table:
    """A row a group; their order by E to M is a column."""
    table = Table(
        "Sessions' misses and blocks, by memory's share",
        (*COLUMNS.values(), "place from the lowest", "starts"),
        note="Of the sessions: the processes, or threads, that serve the clients. Places are those of the means; where "
        "two intervals overlap no order is shown. The paper's own order: by memory's share IMAP (75 to 85%) before "
        "SPECmail (at most 15%); by E to M IMAP is the lowest, and SPECweb_SSL's 61% is the upper end of its span. Of "
        "SPECjbb2000 it states neither.",
    )
    lowest = sorted(groups, key=lambda group: group.mean(E_TO_M))
    for group in groups:
        cells = [Cell(number(group.estimate(metric), PERCENT), warm=not group.marked(metric)) for metric in COLUMNS]
        place = Cell(str(lowest.index(group) + 1) if group.estimate(E_TO_M) else ABSENT)
        details = " ".join(filter(None, (_point(group), _says(group.mix))))
        table.rows.append(Row(group.label, (*cells, place, Cell(_starts(group))), detail=details))
    return table


def _label(group: Group) -> str:
    manifest = group.runs[0].manifest
    return f"{manifest['workload']} on {manifest['server']}"


def _point(group: Group) -> str:
    """Of a sweep: where else it lies than its label says."""
    varied = group.runs[0].manifest.get("varied", {})
    at = {key: value for key, value in varied.items() if key not in ("workload", "server")}
    return f"At {row_label(axes_of([at]), list(at.values()))}." if at else ""


def _starts(group: Group) -> str:
    results = sum(not run.reasons for run in group.runs)
    if results >= STARTS:
        return str(results)
    return f"{results} of {STARTS}" if results else "not a result"


def _says(mix: str) -> str:
    name = paper.STAND_INS.get(mix, mix)
    own = [claim for claim in paper.claims() if claim.id in CLAIMS and name in claim.workloads]
    said = "; ".join(f"{claim.quantity}: {claim.stated or claim.words} ({claim.id})" for claim in own)
    return f"The paper of {name}: {said}." if said else ""

# SPDX-License-Identifier: GPL-2.0-or-later
"""How far one measurement is from another, and what a filtered capture loses: the table that the project measured.

A filtered capture is without the accesses that its L1s absorb. An L2 that evicts a line would have taken it out of the
L1 too (inclusion), and its next access would have been a miss: that is lost, and the more the smaller the L2 is.
results/reference/filter-error.json holds what it came to, by protocol and L2 size (docs/guides/exploration.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import size_text
from s80lab.capture.design import Design
from s80lab.capture.store import Capture

TABLE = paths.ROOT / "results" / "reference" / "filter-error.json"
SCHEMA = 1

Metrics = Mapping[str, float | None]
Errors = dict[str, float | None]


@dataclass(frozen=True)
class Quantity:
    """metric: its name in stats.json. relative: compared in percent of the first, else in points of a share."""

    name: str
    metric: str
    title: str
    relative: bool = False

    def difference(self, true: Metrics, other: Metrics) -> float | None:
        """other - true, None where one of them has no such value."""
        a, b = true.get(self.metric), other.get(self.metric)
        if a is None or b is None or (self.relative and not a):
            return None
        return 100 * (b - a) / (a if self.relative else 1.0)

    @property
    def unit(self) -> str:
        return "%" if self.relative else "points"


QUANTITIES = (
    Quantity("memory_share", "miss_source.all.memory", "memory share"),
    Quantity("e_share", "e_share", "E share"),
    Quantity("e_to_m_share", "e_to_m_share", "E to M"),
    Quantity("mpki", "l2_mpki.all", "MPKI", relative=True),
    Quantity("upgrades", "upgrade_pki.made", "upgrades", relative=True),
)
# The largest difference of any share of the miss sources, of the fill states and of E: in points.
ANY_SHARE = "any_share"
_SHARES = tuple(
    Quantity(name, name, name)
    for name in (
        *(f"miss_source.all.{source}" for source in ("memory", "M", "O", "E", "S")),
        *(f"fill_state.{state}" for state in "MOES"),
        "e_to_m_share",
    )
)


def differences(true: Metrics, other: Metrics) -> Errors:
    """By the names of QUANTITIES, and ANY_SHARE."""
    of_shares = [share.difference(true, other) for share in _SHARES]
    known = [abs(difference) for difference in of_shares if difference is not None]
    return {
        **{one.name: one.difference(true, other) for one in QUANTITIES},
        ANY_SHARE: max(known) if known else None,
    }


def filter_error(capture: Capture, design: Design, table: Path = TABLE) -> dict[str, Any] | None:
    """What to say with a replay of this design: {"statement", "errors", ...}; None of a full capture.

    The row of the same protocol and L2 organisation, of the next smaller L2 that was measured (which loses more).
    """
    if capture.form == "full":
        return None
    size = design.machine.l2.size
    rows = [row for row in _rows(table) if row["l2.inclusion"] == design.machine.l2.inclusion]
    same = [row for row in rows if row["protocol"] == design.protocol_name]
    fitting = [row for row in same if row["l2.size"] <= size]
    what = f"a {size_text(size)} {design.machine.l2.inclusion} L2 under {design.protocol_name}"
    if not fitting:
        smallest = f", only down to {size_text(min(row['l2.size'] for row in same))}" if same else ""
        return {
            "errors": {},
            "statement": f"What the filtered capture loses of {what} has not been measured{smallest}: compare with a "
            "full capture (s80lab filter-error).",
        }
    row = max(fitting, key=lambda one: one["l2.size"])
    errors = row["errors"]
    measured = "" if row["l2.size"] == size else f" (measured with {size_text(row['l2.size'])})"
    said = ", ".join(f"{one.title} {_signed(errors[one.name])} {one.unit}" for one in QUANTITIES)
    return {
        "l2.size": row["l2.size"],
        "errors": errors,
        "statement": f"Replayed from a filtered capture; filtered minus full for {what}{measured}: {said}.",
    }


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def _rows(table: Path) -> Sequence[Mapping[str, Any]]:
    """Nothing where the table has not been made."""
    if not table.is_file():
        return []
    content = json.loads(table.read_text(encoding="utf-8"))
    if content.get("schema") != SCHEMA:
        raise UserError(f"{table}: has schema {content.get('schema')}, this version reads {SCHEMA}; measure it again")
    rows: Sequence[Mapping[str, Any]] = content["rows"]
    return rows

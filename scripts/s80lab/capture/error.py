# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences between two measurements, and the measured error of filtered captures.

A filtered capture lacks the accesses that hit in the L1s. An inclusive L2 that evicts a line also removes the line from
the L1, and the next access to the line misses. A filtered capture loses these misses; the smaller the L2, the more
misses it loses. results/reference/filter-error.json has the error by protocol and L2 size (docs/guides/exploration.md).
It was measured with a mail mix. The error of another program, such as a short one with cold caches, may differ much.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s80lab.analysis.groups import NO_WORKLOAD
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import size_text
from s80lab.base.vocabulary import LABELS
from s80lab.capture.design import Design
from s80lab.capture.store import Capture

TABLE = paths.ROOT / "results" / "reference" / "filter-error.json"
SCHEMA = 1

Metrics = Mapping[str, float | None]
Errors = dict[str, float | None]


@dataclass(frozen=True)
class Quantity:
    """A metric that is compared. metric: its name in stats.json. relative: in percent of the first, else in points."""

    name: str
    metric: str
    title: str
    relative: bool = False

    def difference(self, true: Metrics, other: Metrics) -> float | None:
        """`other` minus `true` (both are the metrics of a replay), or None if one of them does not have the metric."""
        a, b = true.get(self.metric), other.get(self.metric)
        if a is None or b is None or (self.relative and not a):
            return None
        return 100 * (b - a) / (a if self.relative else 1.0)

    @property
    def unit(self) -> str:
        return "%" if self.relative else "points"


QUANTITIES = (
    Quantity("memory_share", "miss_source.all.memory", "misses serviced by memory"),
    Quantity("e_share", "e_share", "E share"),
    Quantity("e_to_m_share", "e_to_m_share", "E-to-M upgrades per E fill"),
    Quantity("mpki", "l2_mpki.all", "L2 MPKI", relative=True),
    Quantity("upgrades", "upgrade_pki.made", "upgrades", relative=True),
)
# The largest difference of any share of the miss sources, of the fill states and of E: in points.
ANY_SHARE = "any_share"
_SHARES = tuple(
    Quantity(name, name, name)
    for name in (
        *(f"miss_source.all.{source}" for source in ("memory", *LABELS["state"])),
        *(f"fill_state.{state}" for state in LABELS["state"]),
        "e_to_m_share",
    )
)


def differences(true: Metrics, other: Metrics) -> Errors:
    """The differences of all QUANTITIES by name, and of ANY_SHARE."""
    of_shares = [share.difference(true, other) for share in _SHARES]
    known = [abs(difference) for difference in of_shares if difference is not None]
    return {
        **{one.name: one.difference(true, other) for one in QUANTITIES},
        ANY_SHARE: max(known) if known else None,
    }


def filter_error(capture: Capture, design: Design, table: Path = TABLE) -> dict[str, Any] | None:
    """The error of a filtered capture for this design, as {"statement", "errors", ...}. None for a full capture.

    The row of the table has the same protocol and L2 organisation, and this L2 size or the next smaller one that was
    measured (which has a larger error). A capture without a workload, of a program or of another tool, has no row.
    """
    if capture.form == "full":
        return None
    if capture.origin.get("workload", NO_WORKLOAD) == NO_WORKLOAD:
        return {
            "errors": {},
            "statement": "The error of filtered captures has been measured with a mail server, not with this program. "
            "To see the error, compare with a replay of a full capture.",
        }
    size = design.machine.l2.size
    rows = [row for row in _rows(table) if row["l2.inclusion"] == design.machine.l2.inclusion]
    same = [row for row in rows if row["protocol"] == design.protocol_name]
    fitting = [row for row in same if row["l2.size"] <= size]
    what = f"a {size_text(size)} {design.machine.l2.inclusion} L2 under {design.protocol_name}"
    if not fitting:
        smallest = f" (smallest measured L2: {size_text(min(row['l2.size'] for row in same))})" if same else ""
        return {
            "errors": {},
            "statement": f"The error of filtered captures with {what} has not been measured{smallest}. Measure this "
            "error with `s80lab filter-error`, or repeat the replay with a full capture.",
        }
    row = max(fitting, key=lambda one: one["l2.size"])
    errors = row["errors"]
    measured = "" if row["l2.size"] == size else f" (measured at {size_text(row['l2.size'])})"
    differences = ", ".join(f"{one.title} {_signed(errors[one.name])} {one.unit}" for one in QUANTITIES)
    return {
        "l2.size": row["l2.size"],
        "errors": errors,
        "statement": "Replayed from a filtered capture. Its error (value from a filtered capture minus value from a "
        f"full capture) with {what}{measured}: {differences}.",
    }


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def _rows(table: Path) -> Sequence[Mapping[str, Any]]:
    """The rows of the table; no rows if the table does not exist."""
    if not table.is_file():
        return []
    content = json.loads(table.read_text(encoding="utf-8"))
    if content.get("schema") != SCHEMA:
        raise UserError(
            f"{table}: has schema {content.get('schema')}, but this version of s80lab reads schema {SCHEMA}; "
            "make the table again with `s80lab filter-error`"
        )
    rows: Sequence[Mapping[str, Any]] = content["rows"]
    return rows

# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences between two measurements, and the measured error of filtered captures.

A filtered capture lacks the accesses that hit in the L1s. An inclusive L2 that evicts a line also removes the line from
the L1, and the next access to the line misses. A filtered capture loses these misses; the smaller the L2, the more
misses it loses. Recalls remove lines from the L1s, too. results/reference/filter-error.json has the error by protocol
and L2 size, and filter-error-llc.json that of machines with a last-level cache (LLC) or a directory, by their sizes
(docs/guides/exploration.md). Both were measured with a mail mix. The error of another program, such as a short one with
cold caches, may differ much.
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
LLC_TABLE = TABLE.with_name("filter-error-llc.json")
"""The tables of designs without and with a last-level cache or directory: each was measured on one capture."""
SCHEMA = 1

Metrics = Mapping[str, float | None]
Errors = dict[str, float | None]


@dataclass(frozen=True)
class Quantity:
    """A metric that is compared. metric: its name in stats.json. relative: in percent of the first, else in points.
    times: a metric of which `metric` is a share; the product is compared."""

    name: str
    metric: str
    title: str
    relative: bool = False
    times: str | None = None

    def value(self, metrics: Metrics) -> float | None:
        """The value of a replay with these metrics; None if the replay does not have the metric."""
        value, whole = metrics.get(self.metric), 1.0 if self.times is None else metrics.get(self.times)
        return None if value is None or whole is None else value * whole

    def difference(self, true: Metrics, other: Metrics) -> float | None:
        """`other` minus `true` (both are the metrics of a replay), or None if one of them does not have the metric."""
        a, b = self.value(true), self.value(other)
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
HOME_QUANTITIES = (
    Quantity("llc_share", "miss_source.all.llc", "misses serviced by the LLC"),
    Quantity("llc_misses", "miss_source.all.memory", "LLC misses", relative=True, times="l2_mpki.all"),
    Quantity("recalls_llc", "recalls_pki.llc", "recalls by the LLC", relative=True),
    Quantity("recalls_directory", "recalls_pki.directory", "recalls by the directory", relative=True),
)
"""What only machines with a last-level cache or a directory have."""
SIZES = ("l2.size", "llc.size", "directory.entries")
"""The sizes on which the error depends. Most machines have the first only: the smaller the L2, the larger the error."""
# The largest difference of any share of the miss sources, of the fill states and of E: in points.
ANY_SHARE = "any_share"
_SHARES = tuple(
    Quantity(name, name, name)
    for name in (
        *(f"miss_source.all.{source}" for source in ("memory", "llc", *LABELS["state"])),
        *(f"fill_state.{state}" for state in LABELS["state"]),
        "e_to_m_share",
    )
)


def quantities(metrics: Metrics) -> tuple[Quantity, ...]:
    """The quantities of a replay with these metrics."""
    return (*QUANTITIES, *(HOME_QUANTITIES if metrics.get("recalls_pki.llc") is not None else ()))


def differences(true: Metrics, other: Metrics) -> Errors:
    """The differences of all quantities by name, and of ANY_SHARE."""
    of_shares = [share.difference(true, other) for share in _SHARES]
    known = [abs(difference) for difference in of_shares if difference is not None]
    return {
        **{one.name: one.difference(true, other) for one in quantities(true)},
        ANY_SHARE: max(known) if known else None,
    }


def size_key(design: Mapping[str, Any]) -> dict[str, int]:
    """The sizes of a design on which the error depends."""
    return {key: design[key] for key in SIZES if design.get(key) is not None}


def sizes_text(sizes: Mapping[str, int]) -> str:
    """The sizes behind the L2, as an addition to a text about the L2."""
    llc = f", {size_text(sizes['llc.size'])} LLC" if "llc.size" in sizes else ""
    entries = sizes.get("directory.entries")
    return llc + (f", directory of {entries:,} entries" if entries else "")


def filter_error(
    capture: Capture, design: Design, tables: Sequence[Path] = (TABLE, LLC_TABLE)
) -> dict[str, Any] | None:
    """The error of a filtered capture for this design, as {"statement", "errors", ...}. None for a full capture.

    The row of the tables has the same protocol and L2 organisation, and these sizes or the next smaller ones that were
    measured. A capture without a workload, of a program or of another tool, has no row.
    """
    if capture.form == "full":
        return None
    if capture.origin.get("workload", NO_WORKLOAD) == NO_WORKLOAD:
        return {
            "errors": {},
            "statement": "The error of filtered captures has been measured with a mail server, not with this program. "
            "To see the error, compare with a replay of a full capture.",
        }
    machine = design.machine
    sizes = size_key(machine.design())
    rows = [row for row in _rows(tables) if row["l2.inclusion"] == machine.l2.inclusion]
    same = [row for row in rows if row["protocol"] == design.protocol_name and size_key(row).keys() == sizes.keys()]
    fitting = [row for row in same if all(row[key] <= size for key, size in sizes.items())]
    what = f"a {size_text(machine.l2.size)} {machine.l2.inclusion} L2{sizes_text(sizes)} under {design.protocol_name}"
    if not fitting:
        smallest = min(same, key=_sizes_of, default=None)
        hint = f" (smallest measured L2: {_measured(smallest)})" if smallest else ""
        return {
            "errors": {},
            "statement": f"The error of filtered captures with {what} has not been measured{hint}. Measure this "
            "error with `s80lab filter-error`, or repeat the replay with a full capture.",
        }
    row = max(fitting, key=_sizes_of)
    errors = row["errors"]
    measured = "" if size_key(row) == sizes else f" (measured at {_measured(row)})"
    listed = [one for one in (*QUANTITIES, *HOME_QUANTITIES) if one in QUANTITIES or errors.get(one.name) is not None]
    differences = ", ".join(f"{one.title} {_signed(errors[one.name])} {one.unit}" for one in listed)
    return {
        "l2.size": row["l2.size"],
        "errors": errors,
        "statement": "Replayed from a filtered capture. Its error (value from a filtered capture minus value from a "
        f"full capture) with {what}{measured}: {differences}.",
    }


def _sizes_of(row: Mapping[str, Any]) -> list[int]:
    return list(size_key(row).values())


def _measured(row: Mapping[str, Any]) -> str:
    return f"{size_text(row['l2.size'])}{sizes_text(row)}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def _rows(tables: Sequence[Path]) -> list[Mapping[str, Any]]:
    """The rows of the tables that exist."""
    rows: list[Mapping[str, Any]] = []
    for table in tables:
        if not table.is_file():
            continue
        content = json.loads(table.read_text(encoding="utf-8"))
        if content.get("schema") != SCHEMA:
            raise UserError(
                f"{table}: has schema {content.get('schema')}, but this version of s80lab reads schema {SCHEMA}; "
                "make the table again with `s80lab filter-error`"
            )
        rows += content["rows"]
    return rows

# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the table of filter errors: replays of a filtered capture compared with replays of the full one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from s80lab.analysis.groups import Run
from s80lab.base.files import is_special, write_file
from s80lab.base.format import ABSENT
from s80lab.base.strict import size_text
from s80lab.capture.error import (
    ANY_SHARE,
    HOME_QUANTITIES,
    QUANTITIES,
    SCHEMA,
    Quantity,
    differences,
    quantities,
    size_key,
    sizes_text,
)
from s80lab.capture.store import Capture
from s80lab.report.tables import Cell, Row, Table, markdown
from s80lab.results.metrics.derive import render

_DESIGN = ("protocol", "l2.inclusion")


def table_text(filtered: Capture, of_full: Sequence[Run], of_filtered: Sequence[Run], out: Path | None = None) -> str:
    """The table in JSON. Both sequences have the same designs, in order.

    out: an existing table. Its rows of other designs are kept if they were measured on the same capture.
    """
    measured = [_row(full, other) for full, other in zip(of_full, of_filtered, strict=True)]
    rows = [*_kept(filtered, measured, out), *measured]
    first = of_full[0]
    content = {
        "schema": SCHEMA,
        "capture": filtered.name,
        "warm_up": filtered.origin["skip"],
        "measured": filtered.origin["measure"],
        "versions": first.manifest["versions"],
        "units": {one.name: one.unit for one in _quantities(rows)} | {ANY_SHARE: "points"},
        "rows": rows,
    }
    return json_text(content)


def _kept(filtered: Capture, rows: Sequence[Mapping[str, Any]], out: Path | None) -> list[Mapping[str, Any]]:
    if out is None or is_special(out) or not out.is_file():
        return []
    content = json.loads(out.read_text(encoding="utf-8"))
    if (content["capture"], content["schema"]) != (filtered.name, SCHEMA):
        return []
    again = [_key(row) for row in rows]
    return [row for row in content["rows"] if _key(row) not in again]


def _key(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: row[key] for key in _DESIGN}, **size_key(row)}


def json_text(content: Mapping[str, Any]) -> str:
    """The table in JSON, with one row per line."""
    rows = ",\n  ".join(" ".join(render(row).split()) for row in content["rows"])
    return render({**content, "rows": []}).replace('"rows": []', f'"rows": [\n  {rows}\n ]')


def write_table(out: Path, text: str) -> Table:
    """Writes the table in JSON to `out`, and a Markdown file of the same name unless `out` is a device or a pipe."""
    write_file(out, text)
    return _table(json.loads(text)) if is_special(out) else write_markdown(out)


def write_markdown(out: Path) -> Table:
    """Writes the Markdown file of the same name as `out`, an existing table in JSON."""
    table = _table(json.loads(out.read_text(encoding="utf-8")))
    write_file(out.with_suffix(".md"), markdown(table, "design"))
    return table


def _quantities(rows: Sequence[Mapping[str, Any]]) -> list[Quantity]:
    """The quantities of any row."""
    measured = {name for row in rows for name in row["errors"]}
    return [one for one in (*QUANTITIES, *HOME_QUANTITIES) if one.name in measured]


def _row(full: Run, filtered: Run) -> dict[str, Any]:
    design = full.manifest["design"]
    return {
        **_key(design),
        "full": {one.name: one.value(full.metrics) for one in quantities(full.metrics)},
        "filtered": {one.name: one.value(filtered.metrics) for one in quantities(full.metrics)},
        "errors": differences(full.metrics, filtered.metrics),
    }


def _table(content: Mapping[str, Any]) -> Table:
    listed = _quantities(content["rows"])
    columns = [f"{one.title}, {one.unit}" for one in listed]
    table = Table(
        "Error of filtered captures: value from the filtered capture minus value from the full capture",
        (*columns, "any share, points"),
    )
    table.note = (
        "Each row compares two replays on one design: of the filtered capture and of the full capture of one "
        f"live run ({content['capture']}). Both replays start from cold caches, with "
        f"{content['warm_up'] / 1e9:.2f} G instructions of warm-up and {content['measured'] / 1e9:.2f} G "
        "instructions measured. Shares: differences in points. MPKI (misses per 1000 instructions) and "
        "upgrades: differences in percent of the full capture's value. any share: the largest difference of "
        "any miss source, state at fill, or E-to-M upgrades per E fill."
    )
    if len(listed) > len(QUANTITIES):
        table.note += (
            " LLC misses: the L2 misses per 1000 instructions that memory serviced. They and the recalls per 1000 "
            "instructions have differences in percent, too."
        )
    for row in content["rows"]:
        errors = row["errors"]
        cells = [_cell(errors.get(one.name)) for one in listed]
        last = errors[ANY_SHARE]
        cells.append(Cell(ABSENT if last is None else f"{last:.2f}"))
        label = f"{row['protocol']}, {size_text(row['l2.size'])} {row['l2.inclusion']}{sizes_text(row)}"
        table.rows.append(Row(label, tuple(cells)))
    return table


def _cell(value: float | None) -> Cell:
    return Cell(ABSENT if value is None else f"{value:+.2f}")

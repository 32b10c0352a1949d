# SPDX-License-Identifier: GPL-2.0-or-later
"""Registry of derived metrics, which the report, the database and the docs read.

`@metric(...)` on a function such as `_l2_mpki` declares the metric `l2_mpki`, which the function computes from a
Measurement. The function returns a number, None if the value is undefined (division by zero), or a mapping from labels
to such values. Mappings are flattened with dots, as in `l2_mpki.user`. The declaration also says which rows the metric
has in the report's tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from s80lab.base.format import Format
from s80lab.results.snapshots import Delta

Value = float | int | None | Mapping[str, "Value"]


@dataclass(frozen=True)
class Measurement:
    """The input of all metrics. region: the statistics of the measured region. result: the load generator's result,
    None for a replay. wanted: the keys of [guest] in the machine file."""

    region: Delta
    result: Mapping[str, Any] | None
    wanted: Mapping[str, Any] = field(default_factory=dict)

    @property
    def load(self) -> Mapping[str, Any]:
        """The load generator's result, for metrics declared with `of_load`."""
        assert self.result is not None
        return self.result

    @property
    def seconds(self) -> float:
        """Length of the region in simulated seconds."""
        return self.region.clock_ns / 1e9

    @property
    def server_cores(self) -> slice:
        """The server's cores: all cores except those reserved for the load generator (`guest.load_processors`)."""
        apart = int(self.wanted.get("load_processors", 0)) // self.region.header.threads_per_core
        return slice(self.region.header.cores - apart)

    @property
    def core_cycles(self) -> float:
        """Cycles of one core in the region, summed over its threads."""
        return self.seconds * self.region.header.clock_hz * self.region.header.threads_per_core

    @property
    def capacity_cycles(self) -> float:
        """Cycles of all cores in the region, summed over their threads."""
        return self.region.header.cores * self.core_cycles


@dataclass(frozen=True)
class Rows:
    """Rows of a metric in a table of the report. section: the key of the table in analysis/sections.py. text: the label
    of the row, or the label of the row of each flattened value. head: the heading above the rows."""

    section: str
    style: Format
    text: str | Mapping[str, str]
    head: str = ""


@dataclass(frozen=True)
class Metric:
    """A declared metric. of_caches: the value depends on the content of the caches, so it needs steady state. of_load:
    the value needs the load generator's result, so replays do not have it. rows: its rows in the report."""

    name: str
    unit: str
    description: str
    formula: str
    of_caches: bool
    of_load: bool
    rows: tuple[Rows, ...]
    compute: Callable[[Measurement], Value]


REGISTRY: dict[str, Metric] = {}


def metric(
    unit: str,
    description: str,
    formula: str,
    *rows: Rows,
    of_caches: bool = True,
    of_load: bool = False,
) -> Callable[[Callable[[Measurement], Value]], Callable[[Measurement], Value]]:
    """Declares the decorated function as the metric of its name, without the underscore at the beginning."""

    def declare(compute: Callable[[Measurement], Value]) -> Callable[[Measurement], Value]:
        name = compute.__name__.removeprefix("_")
        if name in REGISTRY:
            raise ValueError(f"metric {name} is declared twice")
        REGISTRY[name] = Metric(name, unit, description, formula, of_caches, of_load, rows, compute)
        return compute

    return declare


def flatten(name: str, value: Value) -> dict[str, float | int | None]:
    """{"a": {"b": 1}} under the name m becomes {"m.a.b": 1}."""
    if not isinstance(value, Mapping):
        return {name: value}
    flat: dict[str, float | int | None] = {}
    for label, part in value.items():
        flat.update(flatten(f"{name}.{label}", part))
    return flat


def within(label: str, texts: Mapping[str, str]) -> dict[str, str]:
    """The texts of rows whose values are flattened below this label: `load.M` for the label `load`."""
    return {f"{label}.{key}": text for key, text in texts.items()}


def each_in(texts: Mapping[str, str], last: str) -> dict[str, str]:
    """The texts of rows whose values are this last label of each label: `user.misses` for the last label `misses`."""
    return {f"{key}.{last}": text for key, text in texts.items()}


def compute_all(measurement: Measurement) -> dict[str, float | int | None]:
    """Every declared metric, flattened."""
    flat: dict[str, float | int | None] = {}
    for declared in REGISTRY.values():
        known = measurement.result is not None or not declared.of_load
        flat.update(flatten(declared.name, declared.compute(measurement) if known else None))
    return flat


def ratio(part: float, whole: float) -> float | None:
    """part / whole; None if whole is 0."""
    return float(part) / float(whole) if whole else None


def markdown() -> str:
    """The registry as a Markdown table for the docs."""
    rows = ["| metric | unit | meaning | formula |", "| --- | --- | --- | --- |"]
    for declared in REGISTRY.values():
        rows.append(f"| `{declared.name}` | {declared.unit} | {declared.description} | {declared.formula} |")
    return "\n".join(rows) + "\n"

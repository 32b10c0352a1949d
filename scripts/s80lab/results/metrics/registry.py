# SPDX-License-Identifier: GPL-2.0-or-later
"""The one place where derived metrics are declared; the report, the database and the docs read it.

A metric is declared with `@metric(...)` on the function that computes it from a Measurement. The
function returns a number, None where it is undefined (nothing to divide by), or a mapping from
labels to such values; a mapping is flattened with dots, as in `l2_mpki.user`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from s80lab.results.snapshots import Delta

Value = float | int | None | Mapping[str, "Value"]


@dataclass(frozen=True)
class Measurement:
    """What metrics are computed from: the region's statistics and the load generator's result, which a replay lacks.
    wanted: of the guest's kernel, by the machine file (its keys of [guest])."""

    region: Delta
    result: Mapping[str, Any] | None
    wanted: Mapping[str, Any] = field(default_factory=dict)

    @property
    def load(self) -> Mapping[str, Any]:
        """The load generator's result, for metrics that are declared `of_load`."""
        assert self.result is not None
        return self.result

    @property
    def seconds(self) -> float:
        """Modelled length of the region."""
        return self.region.clock_ns / 1e9

    @property
    def server_cores(self) -> slice:
        """Of statistics by core: all but those that the load generator has for itself (`guest.load_processors`)."""
        apart = int(self.wanted.get("load_processors", 0)) // self.region.header.threads_per_core
        return slice(self.region.header.cores - apart)

    @property
    def core_cycles(self) -> float:
        """Cycles in which a core could have been busy in the region: those of all its threads."""
        return self.seconds * self.region.header.clock_hz * self.region.header.threads_per_core

    @property
    def capacity_cycles(self) -> float:
        """The same of all cores together."""
        return self.region.header.cores * self.core_cycles


@dataclass(frozen=True)
class Metric:
    """A declaration. of_caches: the value depends on what the caches hold, so it needs warm ones.
    of_load: it needs the load generator's side, so a replay has no such value."""

    name: str
    unit: str
    description: str
    formula: str
    of_caches: bool
    of_load: bool
    compute: Callable[[Measurement], Value]


REGISTRY: dict[str, Metric] = {}


def metric(
    name: str, unit: str, description: str, formula: str, *, of_caches: bool = True, of_load: bool = False
) -> Callable[[Callable[[Measurement], Value]], Callable[[Measurement], Value]]:
    """Declares the decorated function as the metric `name`."""

    def declare(compute: Callable[[Measurement], Value]) -> Callable[[Measurement], Value]:
        if name in REGISTRY:
            raise ValueError(f"metric {name} is declared twice")
        REGISTRY[name] = Metric(name, unit, description, formula, of_caches, of_load, compute)
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


def compute_all(measurement: Measurement) -> dict[str, float | int | None]:
    """Every declared metric, flattened."""
    flat: dict[str, float | int | None] = {}
    for declared in REGISTRY.values():
        known = measurement.result is not None or not declared.of_load
        flat.update(flatten(declared.name, declared.compute(measurement) if known else None))
    return flat


def ratio(part: float, whole: float) -> float | None:
    """part / whole, undefined where there is nothing to divide by."""
    return float(part) / float(whole) if whole else None


def markdown() -> str:
    """The registry as a table for the docs."""
    rows = ["| metric | unit | meaning | formula |", "| --- | --- | --- | --- |"]
    for declared in REGISTRY.values():
        rows.append(f"| `{declared.name}` | {declared.unit} | {declared.description} | {declared.formula} |")
    return "\n".join(rows) + "\n"

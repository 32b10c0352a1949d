# SPDX-License-Identifier: GPL-2.0-or-later
"""Computes the metrics of a measured region and writes stats.json.

stats.json: {"schema", "inputs", "region", "metrics", "batches", "sampling_intervals", "warmup", "standing"}. region
holds the raw counts: `totals` are sums over the cores, `by_core` sums over all other dimensions, `labels` names the
dimensions. metrics: all metrics of `declared.REGISTRY`, flattened. batches: batch means of the headline metrics.
sampling_intervals: those of warm-up and region. warmup ({"verdict": "steady" | "not steady", "drift_points": {...},
...}) is the verdict on steady state, standing ({"verdict": "valid" | "invalid", "reasons": [...]}) that on the run.
The file holds nothing that depends on the host or the time of day."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from s80lab.results.metrics.declared import REGISTRY
from s80lab.results.metrics.registry import Measurement, Metric, compute_all, markdown
from s80lab.results.metrics.sampling import curve
from s80lab.results.metrics.standing import HEADLINE, headline_batches, standing
from s80lab.results.metrics.warmup import ALLOWED_DRIFT_POINTS, NO_WARM_UP, WarmUp, judge
from s80lab.results.run_folder import SCHEMA, STATS, RunFolder
from s80lab.results.snapshots import Delta, Snapshots, program_of

SIGNIFICANT_DIGITS = 9

__all__ = ["REGISTRY", "find_metric", "markdown", "stats", "warm_up", "write_stats"]


def find_metric(flat_name: str) -> Metric:
    """The declaration behind a flattened name such as `cpi.memory`."""
    return REGISTRY[flat_name.split(".", 1)[0]]


def stats(
    run: Snapshots,
    load: Mapping[str, Any] | None,
    inputs: Mapping[str, str],
    warm: Snapshots | None,
    wanted: Mapping[str, Any] | None = None,
    drift_limit: float = ALLOWED_DRIFT_POINTS,
    mail_may_wait: bool = False,
    epoch_cycles: int | None = None,
    program: bool = False,
) -> dict[str, Any]:
    """The content of stats.json. wanted: the keys of [guest] in the machine file. drift_limit: the largest drift of a
    warm-up, in points. mail_may_wait: see `standing`. epoch_cycles: see `epoch_of`. program: whether the region is the
    run of a program, which has its own begin and end: it has no steady state."""
    region = run.region()
    # Of a region in parts, intervals between the parts are not measured.
    intervals = [] if run.region_count > 1 else curve(run, warm)
    metrics = compute(run, load, wanted, program)
    clients = None if load is None else int(load["clients"])
    warmup = NO_WARM_UP if program else judge(intervals, clients, region.begin.clients_finished, drift_limit)
    batches = dict.fromkeys(HEADLINE) if program else headline_batches(run, load)
    epoch_us = None if epoch_cycles is None else 1e6 * epoch_cycles / run.header.clock_hz
    return {
        "schema": SCHEMA,
        "inputs": dict(inputs),
        "region": _raw(region),
        "metrics": metrics,
        "batches": {name: None if found is None else found.record() for name, found in batches.items()},
        "sampling_intervals": [interval.record() for interval in intervals],
        "warmup": asdict(warmup),
        "standing": asdict(standing(metrics, warmup, mail_may_wait=mail_may_wait, epoch_us=epoch_us)),
    }


def compute(
    run: Snapshots, load: Mapping[str, Any] | None, wanted: Mapping[str, Any] | None = None, program: bool = False
) -> dict[str, float | int | None]:
    """All metrics of the measured region. load: the load generator's result, None for a replay. program: leave out what
    is not of the program."""
    region = program_of(run.region()) if program else run.region()
    return compute_all(Measurement(region, load, wanted or {}))


def write_stats(run: RunFolder) -> dict[str, Any]:
    """Writes stats.json of a run that has a manifest, from its snapshots, its warm-up and the load generator's result
    (absent for a replay); returns the content. UserError if a file is missing or incomplete."""
    manifest = run.manifest
    drift_limit = float(manifest.get("drift_points", ALLOWED_DRIFT_POINTS))
    mail_may_wait = bool(manifest.get("mail_may_wait", False))
    result = stats(
        run.snapshots,
        run.load,
        manifest["inputs"],
        run.warm_snapshots,
        run.wanted,
        drift_limit,
        mail_may_wait,
        epoch_of(manifest),
        "program" in manifest,
    )
    partial = run / f"{STATS}.partial"
    partial.write_text(render(result), encoding="utf-8")
    partial.replace(run / STATS)
    return result


def epoch_of(manifest: Mapping[str, Any]) -> int | None:
    """Length of the epochs of a live run in cycles. A replay cannot correct a processor that is ahead or behind: its
    epochs execute what was recorded, so the error of its epochs says nothing."""
    return manifest.get("design", {}).get("clock.epoch_cycles") if manifest.get("engine") in ("qemu", "exec") else None


def warm_up(warm_snapshots: Path, clients: int | None = None, drift_limit: float = ALLOWED_DRIFT_POINTS) -> WarmUp:
    """The verdict on a warm checkpoint, from its snapshots; the plugin may still be writing the file."""
    snapshots = Snapshots.read(warm_snapshots, growing=True)
    return judge(curve(snapshots), clients, snapshots.lines[-1].clients_finished, drift_limit)


def render(value: Any) -> str:
    """JSON with the same bytes on every host: sorted keys, floats of nine digits, lists of numbers on one line."""
    text = json.dumps(_rounded(value), sort_keys=True, indent=1, allow_nan=False)
    return re.sub(r"\[[^\[\]{}]*\]", lambda found: re.sub(r"\s+", " ", found[0]), text) + "\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    if isinstance(value, Mapping):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return value


def _raw(region: Delta) -> dict[str, Any]:
    header = region.header
    totals: dict[str, Any] = {}
    by_core: dict[str, list[int]] = {}
    for name, statistic in header.statistics.items():
        others = [dim for dim in statistic.dims if dim != "core"]
        totals[name] = {"dims": others, "values": region.by(name, *others).reshape(-1).tolist()}
        if "core" in statistic.dims:
            by_core[name] = region.by(name, "core").tolist()
    return {
        "cores": header.cores,
        "clock_hz": header.clock_hz,
        "instructions": region.instructions,
        "clock_ns": region.clock_ns,
        "idle_ns": region.idle_ns,
        "labels": {dim: list(names) for dim, names in header.labels.items() if dim != "core"},
        "totals": totals,
        "by_core": by_core,
        "guest": region.guest,
    }

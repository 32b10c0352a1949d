# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report is made from: run folders, and groups of runs that differ in the seed alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s80lab.base.errors import UserError
from s80lab.base.folder import read_load, read_manifest, read_misses, read_stats
from s80lab.report.interval import Estimate, estimate
from s80lab.results.metrics.derive import of
from s80lab.results.metrics.standing import standing_of

NOT_WARM = "not warm"

# What tells groups apart, the telling ones first.
_IDENTITY = ("mix", "experiment", "scale", "protocol", "machine", "workload", "image", "server", "engine")


@dataclass(frozen=True)
class Run:
    """One whole run's folder, read. result: the load generator's, None of a replay. misses: its tables of misses by
    name, none where they were not logged."""

    manifest: Mapping[str, Any]
    stats: Mapping[str, Any]
    result: Mapping[str, Any] | None
    misses: Sequence[Mapping[str, Any]] = ()

    @property
    def load(self) -> Mapping[str, Any]:
        """The load generator's result, of runs that are known to have one."""
        assert self.result is not None
        return self.result

    @property
    def metrics(self) -> Mapping[str, float | None]:
        metrics: Mapping[str, float | None] = self.stats["metrics"]
        return metrics

    @property
    def warm(self) -> bool:
        return bool(self.stats["warmup"]["verdict"] == "warm")

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is no result; empty where it is one."""
        return standing_of(self.stats)[1]


@dataclass(frozen=True)
class Group:
    """Runs that differ in the seed alone, in the order of their seeds. Where some are results and some are not, the
    latter are `excluded`: no number of theirs is shown."""

    label: str
    runs: tuple[Run, ...]
    excluded: tuple[Run, ...] = ()

    @property
    def mix(self) -> str:
        return str(self.runs[0].manifest["mix"])

    @property
    def replayed(self) -> bool:
        """Without a load generator's side: no response times, no throughput."""
        return any(run.result is None for run in self.runs)

    @property
    def warm(self) -> bool:
        return all(run.warm for run in self.runs)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why its runs are no results; empty where all are."""
        return tuple(reason for run in self.runs for reason in run.reasons)

    def estimate(self, metric: str) -> Estimate | None:
        return estimate([run.metrics.get(metric) for run in self.runs])

    def has(self, metric: str) -> bool:
        """Whether the engine has such a metric at all; it may still be undefined."""
        return any(metric in run.metrics for run in self.runs)

    def mean(self, metric: str) -> float:
        """The mean over the seeds, 0 where a run has no such value: for pictures."""
        found = self.estimate(metric)
        return 0.0 if found is None else found.mean

    def marked(self, metric: str) -> bool:
        """Whether the metric's numbers must be marked as those of unsettled caches."""
        return not self.warm and of(metric).of_caches


def read_run(run_dir: Path) -> Run:
    """Raises UserError when a file is missing or the run is not whole."""
    manifest = read_manifest(run_dir)
    return Run(manifest, read_stats(run_dir), read_load(run_dir, manifest), read_misses(run_dir))


def read_groups(run_dirs: Sequence[Path]) -> list[Group]:
    """Groups the runs; a group's label is whatever tells it from the others, its mix at least."""
    if not run_dirs:
        raise UserError("there is no run to report on; run an experiment first")
    by_identity: dict[tuple[str, ...], list[Run]] = {}
    for run in map(read_run, run_dirs):
        identity = (*(str(run.manifest[key]) for key in _IDENTITY), varied(run.manifest))
        by_identity.setdefault(identity, []).append(run)
    groups = []
    for identity, runs in by_identity.items():
        ordered = sorted(runs, key=lambda run: (run.manifest["seed"], run.manifest["run"]))
        results = tuple(run for run in ordered if not run.reasons)
        counted = results or tuple(ordered)
        excluded = tuple(run for run in ordered if run not in counted)
        groups.append(Group(_label(identity, list(by_identity)), counted, excluded))
    return groups


def _label(identity: tuple[str, ...], all_identities: Sequence[tuple[str, ...]]) -> str:
    shown = identity[:1]
    others = [other for other in all_identities if other[:1] == shown and other != identity]
    differing = [word for place, word in enumerate(identity) if any(other[place] != word for other in others)]
    # An experiment's name says by itself what else differs.
    return " ".join([*shown, *differing[:1]]) if differing else shown[0]


def varied(manifest: Mapping[str, Any]) -> str:
    """What a replay changed of its capture's own design, `mesi, l2.size=1MiB`; nothing of a live run."""
    changed: Mapping[str, Any] = manifest.get("varied", {})
    return ", ".join(str(value) if key == "protocol" else f"{key}={value}" for key, value in changed.items())

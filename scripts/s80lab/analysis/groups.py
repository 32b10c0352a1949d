# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs as values, and groups of runs that differ in seed and boot only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from s80lab.analysis.interval import Estimate, Unit, estimate, observation, observations, sample, unit_of
from s80lab.base.errors import UserError
from s80lab.config.differences import SEPARATOR, design_text, differences, label
from s80lab.results.metrics.derive import find_metric
from s80lab.results.metrics.standing import standing_of
from s80lab.results.products import check_products
from s80lab.results.run_folder import RunFolder

NOT_WARM = "not in steady state"
PAPERS_MACHINE = "s80"
# Names in an experiment's file that are not of the modelled machine.
NAMES_OF_LOAD = ("scale", "workload", "server", "image")
NO_WORKLOAD = "-"
"""The mix in the manifest of a replay whose capture is an imported trace."""

# Keys of the manifest that distinguish groups of one mix.
_IDENTITY = ("experiment", "engine", "scale", "protocol", "machine", "workload", "image", "server")


@dataclass(frozen=True, repr=False)
class Run:
    """The content of one complete run's folder. result: the load generator's result, None for a replay. misses: tables
    of attributed misses, empty if the run did not log them. folder: the folder of the files."""

    manifest: Mapping[str, Any]
    stats: Mapping[str, Any]
    result: Mapping[str, Any] | None
    misses: Sequence[Mapping[str, Any]] = ()
    folder: Path = Path()

    def __repr__(self) -> str:
        return f"Run({self.name})"

    @property
    def name(self) -> str:
        return str(self.manifest["run"])

    @property
    def engine(self) -> str:
        return str(self.manifest["engine"])

    @property
    def seed(self) -> int:
        return int(self.manifest["seed"])

    @property
    def boot(self) -> int:
        """The number of the boot that the run resumed from (`s80lab run --boots`)."""
        return int(self.manifest.get("boot", 1))

    @property
    def load_processors(self) -> int:
        """Number of processors that run only the load generator."""
        return int(RunFolder(self.folder).wanted.get("load_processors", 0))

    @property
    def observation(self) -> str:
        """Runs with equal text are one observation (interval.py)."""
        return observation(self.manifest)

    @property
    def load(self) -> Mapping[str, Any]:
        """The load generator's result, for runs that have one."""
        assert self.result is not None
        return self.result

    @property
    def metrics(self) -> Mapping[str, float | None]:
        metrics: Mapping[str, float | None] = self.stats["metrics"]
        return metrics

    @property
    def differences(self) -> Mapping[str, str]:
        """What differs from the experiment's file (config/differences.py)."""
        return differences(self.manifest)

    @property
    def warm(self) -> bool:
        return bool(self.stats["warmup"]["verdict"] == "steady")

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the run is invalid; empty for a valid run."""
        return standing_of(self.stats)[1]


@dataclass(frozen=True, repr=False)
class Group:
    """Runs that differ in seed and boot only, ordered by seed and boot. If some are valid, the invalid ones are
    `excluded`: the report shows none of their numbers. If all are invalid, `runs` holds all of them."""

    label: str
    runs: tuple[Run, ...]
    excluded: tuple[Run, ...] = ()

    def __repr__(self) -> str:
        return f"Group({self.label!r}, {', '.join(run.name for run in self.runs)})"

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest of the first run; its design is that of all runs."""
        return self.runs[0].manifest

    @property
    def engine(self) -> str:
        return self.runs[0].engine

    @property
    def unit(self) -> Unit:
        """What the intervals are over: boots if the runs come from several boots, else seeds."""
        return unit_of(self.runs)

    @cached_property
    def observations(self) -> dict[str, list[Run]]:
        """The runs of each boot or capture."""
        return observations(self.runs)

    @property
    def workload(self) -> str:
        return str(self.runs[0].manifest["workload"])

    @property
    def differences(self) -> Mapping[str, str]:
        """What differs from the experiment's file (config/differences.py)."""
        return self.runs[0].differences

    @property
    def design(self) -> Mapping[str, Any]:
        """All values of the modelled machine, by dotted keys; empty for a run that has no record of them."""
        design: Mapping[str, Any] = self.runs[0].manifest.get("design", {})
        return design

    @property
    def has_design_of_paper(self) -> bool:
        """Whether the runs are of the machine that Koka and Lipasti measured, without a change of its design."""
        alike = (*NAMES_OF_LOAD, "clients", "think_ms")
        machine = str(self.runs[0].manifest["machine"])
        return not self.imported and machine == PAPERS_MACHINE and not self.differences.keys() - set(alike)

    @property
    def imported(self) -> bool:
        """Whether the runs replay an imported trace, of whose workload nothing is known."""
        return self.workload == NO_WORKLOAD

    @property
    def replayed(self) -> bool:
        """Whether the runs lack a load generator, and so response times and throughput."""
        return any(run.result is None for run in self.runs)

    @property
    def warm(self) -> bool:
        return all(run.warm for run in self.runs)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the runs are invalid; empty if all are valid."""
        return tuple(reason for run in self.runs for reason in run.reasons)

    def estimate(self, metric: str) -> Estimate | None:
        """Mean and interval over the boots, or over the seeds of one boot (interval.py)."""
        return estimate(sample(self.runs, lambda run: run.metrics.get(metric)))

    def has(self, metric: str) -> bool:
        """Whether any run has the metric; its value may still be undefined."""
        return any(metric in run.metrics for run in self.runs)

    def mean(self, metric: str) -> float:
        """The mean of `estimate`, for figures; 0 if a run has no such value."""
        found = self.estimate(metric)
        return 0.0 if found is None else found.mean

    def marked(self, metric: str) -> bool:
        """Whether to mark the metric's numbers: they depend on the caches, and a run had not reached steady state."""
        return not self.warm and find_metric(metric).of_caches


def read_run(run: RunFolder) -> Run:
    """Raises UserError if a file is missing or the run is incomplete."""
    check_products(run)
    return Run(run.manifest, run.stats, run.load, run.misses, run.path)


def read_runs(run_dirs: Sequence[Path]) -> list[Run]:
    """Reads the runs in these folders."""
    return [read_run(RunFolder(folder)) for folder in run_dirs]


def read_groups(run_dirs: Sequence[Path]) -> list[Group]:
    """Reads the runs in these folders and groups them; see `group_runs`."""
    return group_runs(read_runs(run_dirs))


def group_runs(selected: Sequence[Run]) -> list[Group]:
    """Groups the runs. A group's label is its experiment and what differs from the experiment's file, for example
    `imapb · mesi · l2.size=2MiB`."""
    if not selected:
        raise UserError("there are no runs for the report; run an experiment first")
    by_identity: dict[tuple[str, ...], list[Run]] = {}
    for run in selected:
        manifest = run.manifest
        others = (str(manifest[key]) for key in _IDENTITY)
        by_identity.setdefault((_workload(run), *others, design_text(manifest), varied(manifest)), []).append(run)
    labels = _labels([runs[0] for runs in by_identity.values()])
    groups = []
    for name, runs in zip(labels, by_identity.values(), strict=True):
        ordered = sorted(runs, key=lambda run: (run.seed, run.boot, run.name))
        results = tuple(run for run in ordered if not run.reasons)
        counted = results or tuple(ordered)
        excluded = tuple(run for run in ordered if run not in counted)
        groups.append(Group(name, counted, excluded))
    return groups


def _workload(run: Run) -> str:
    workload = str(run.manifest["workload"])
    return str(run.manifest["experiment"]) if workload == NO_WORKLOAD else workload


def _labels(runs: Sequence[Run]) -> list[str]:
    """The label of each run's group. Groups of equal labels get the experiment, the engine, ... if these differ."""
    names = [str(run.manifest["experiment"]) for run in runs]
    labels = [label(name, run.differences) for name, run in zip(names, runs, strict=True)]
    for key in (*_IDENTITY, ""):
        for same in (
            [place for place, other in enumerate(labels) if other == one]
            for one in dict.fromkeys(labels)
            if labels.count(one) > 1
        ):
            words = [str(runs[place].manifest[key]) if key else str(number) for number, place in enumerate(same, 1)]
            if len(set(words)) > 1:
                for place, word in zip(same, words, strict=True):
                    if word != names[place]:
                        labels[place] += SEPARATOR + word
    return labels


def varied(manifest: Mapping[str, Any]) -> str:
    """What a replay or a sweep point changed, `mesi, l2.size=1MiB`; empty for other runs."""
    changed: Mapping[str, Any] = manifest.get("varied", {})
    return ", ".join(str(value) if key == "protocol" else f"{key}={value}" for key, value in changed.items())

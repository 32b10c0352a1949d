# SPDX-License-Identifier: GPL-2.0-or-later
"""A selection of runs of a lab, with their metrics and means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from s80lab.analysis.groups import Group, Run, read_groups, read_run
from s80lab.api.frames import frame
from s80lab.base.errors import UserError
from s80lab.base.suggest import hint
from s80lab.config.differences import SEPARATOR, words
from s80lab.report.record import metric_names, run_record
from s80lab.report.write import write_experiment_report
from s80lab.results.metrics.derive import of

if TYPE_CHECKING:
    import pandas


class Runs(Sequence[Run]):
    """A sequence of runs. Each run has these attributes:

    manifest: the inputs of the run.
    metrics: values by flattened names.
    stats: the content of stats.json.
    reasons: the reasons why the run is invalid; empty for a valid run.

    >>> runs = lab.reference("small")
    >>> len(runs.groups()), runs[0].manifest["mix"], runs[0].reasons
    (2, 'imapb', ())
    >>> runs.metrics("miss_source.all")
    ['miss_source.all.E', 'miss_source.all.M', 'miss_source.all.O', 'miss_source.all.S', 'miss_source.all.memory']
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = list(folders)
        self._runs = [read_run(folder) for folder in self.folders]

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Runs: ...
    def __getitem__(self, index: int | slice) -> Run | Runs:
        return Runs(self.folders[index]) if isinstance(index, slice) else self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def __repr__(self) -> str:
        return f"Runs({', '.join(folder.name for folder in self.folders)})"

    def results(self) -> Runs:
        """The valid runs: in steady state, long enough, and consistent with the response-time law.

        >>> len(lab.reference("small").results()) == len(lab.reference("small"))
        True
        """
        return Runs([folder for folder, run in zip(self.folders, self, strict=True) if not run.reasons])

    def metrics(self, prefix: str = "") -> list[str]:
        """The flattened names of all metrics that any run has. prefix: return only names that begin with this
        prefix."""
        return [
            name for name in metric_names(self) if name == prefix or name.startswith(f"{prefix}." if prefix else "")
        ]

    def frame(self, *metrics: str) -> pandas.DataFrame:
        """One row per run: columns that identify the run (mix, seed, differences from the experiment's file, ...), and
        the named metrics in their own units. All metrics if none is named.

        >>> lab.reference("small").frame("e_share")[["mix", "seed"]].head(3)
             mix  seed
        0  imapb     1
        1  imapb     2
        2  imapb     3
        """
        chosen = self._chosen(metrics)
        rows = []
        for record in map(run_record, self):
            values = record.pop("metrics")
            record["differences"] = SEPARATOR.join(words(record["differences"]))
            rows.append({**record, **{name: values.get(name) for name in chosen}})
        return frame(rows)

    def estimates(self, *metrics: str) -> pandas.DataFrame:
        """Means over the seeds with the half-width of the 95% confidence interval (Student t). One seed has no
        interval.

        There is one row per metric and group of runs that differ only in the seed. Invalid runs are left out if their
        group has valid runs.

        >>> found = lab.reference("small").estimates("e_share").set_index(["group", "metric"])
        >>> list(found.columns)
        ['mean', 'half_width', 'n', 'unit']
        >>> bool(0.3 < found.loc[("imapb", "e_share"), "mean"] < 0.6)
        True
        """
        rows: list[dict[str, Any]] = []
        for group in self.groups():
            for name in self._chosen(metrics):
                found = group.estimate(name)
                values = (None, None, 0) if found is None else (found.mean, found.half_width, found.n)
                numbers = dict(zip(("mean", "half_width", "n"), values, strict=True))
                rows.append({"group": group.label, "metric": name, **numbers, "unit": of(name).unit})
        return frame(rows)

    def windows(self) -> pandas.DataFrame:
        """One row per sampling interval (about 250 million instructions), warm-up first. The rows show how the caches
        fill.

        >>> sorted(set(lab.reference("small").windows()["phase"]))
        ['measured', 'warm-up']
        """
        identity = ("run", "experiment", "mix", "seed")
        return frame(
            {**{key: run.manifest[key] for key in identity}, **window}
            for run in self
            for window in run.stats["windows"]
        )

    def groups(self) -> list[Group]:
        """The runs in groups that differ only in the seed."""
        return read_groups(self.folders)

    def report(self, folder: str | Path, title: str = "Runs") -> Path:
        """Write a report over all runs into a folder; return the path of its page."""
        return write_experiment_report(title, self.folders, Path(folder))

    def _chosen(self, metrics: Sequence[str]) -> list[str]:
        names = self.metrics()
        for name in metrics:
            if name not in names:
                raise UserError(f"no run has a metric `{name}`: {hint(name, names)}")
        return list(metrics) or names

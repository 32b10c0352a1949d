# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of a lab, with data frames of its attributed misses and its profile. A selection of runs, with their metrics
and means."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from s80lab.analysis import groups
from s80lab.analysis.comparison.contrast import Comparison, Contrast
from s80lab.analysis.comparison.sides import read_side
from s80lab.analysis.groups import Group, read_groups, read_run
from s80lab.analysis.misses.stacks import read_stacks
from s80lab.analysis.profile import read_profile
from s80lab.api.frames import frame, html_table
from s80lab.api.warning import MisleadingMeanWarning
from s80lab.base.errors import UserError
from s80lab.base.suggest import hint
from s80lab.report.comparison.words import notes
from s80lab.report.misses.page import write_misses
from s80lab.report.record import metric_names
from s80lab.report.summary import summary_entries
from s80lab.report.write import write_experiment_report
from s80lab.results.identity import COLUMNS, identity
from s80lab.results.metrics.derive import find_metric
from s80lab.results.run_folder import MISS_STACKS, RunFolder

if TYPE_CHECKING:
    import pandas


class Run:
    """One run.

    >>> run = lab.reference("small")[0]
    >>> run.manifest["workload"], run.reasons, round(run.metrics["e_share"], 3)
    ('imapb', (), 0.387)
    """

    def __init__(self, read: groups.Run) -> None:
        self.read = read

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self.read.folder

    @property
    def name(self) -> str:
        return self.read.name

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The inputs of the run."""
        return self.read.manifest

    @property
    def metrics(self) -> Mapping[str, float | None]:
        """Values by flattened names."""
        return self.read.metrics

    @property
    def stats(self) -> Mapping[str, Any]:
        """The content of stats.json."""
        return self.read.stats

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons why the run is invalid; empty for a valid run."""
        return self.read.reasons

    @property
    def identity(self) -> dict[str, Any]:
        """What distinguishes the run from others: the columns of the view v_run of the database."""
        return identity(self.manifest, self.stats)

    def __repr__(self) -> str:
        return f"Run({self.name}, {self.identity['design']}, {'invalid' if self.reasons else 'valid'})"

    def _repr_html_(self) -> str:
        rows = [(entry.label, _text(self.metrics.get(entry.metric), entry)) for entry in summary_entries()]
        head = f"{self.name}: {self.identity['design']}, {'invalid' if self.reasons else 'valid'}"
        return html_table(("", head), rows)

    def misses(self) -> pandas.DataFrame:
        """The attributed L2 misses, one row per stack: process, kernel entry cause, function, data, and number of
        misses, most misses first. The run must have been made with `s80lab run --misses`."""
        folder = RunFolder(self.folder)
        if folder.has_misses():
            write_misses(self.folder)
        elif not (folder / MISS_STACKS).is_file():
            raise UserError(f"{self.name}: this run has no log of misses; repeat the run with --misses")
        rows = [
            {"process": frames[0], "entry": "; ".join(frames[1:-2]), "function": frames[-2], "data": frames[-1]}
            | {"misses": misses}
            for frames, misses in read_stacks(folder / MISS_STACKS)
        ]
        return frame(sorted(rows, key=lambda row: -int(row["misses"])))

    def profile(self) -> pandas.DataFrame:
        """The sampled instructions, one row per process, class, kernel entry cause and function, most samples first.
        The run must have been made with `s80lab run --profile`."""
        return frame(
            {"process": one.process, "class": one.process_class, "entry": one.entry, "program": one.program}
            | {"function": one.function, "samples": one.count}
            for one in sorted(read_profile(self.folder).samples, key=lambda one: -one.count)
        )


def _text(value: float | None, entry: Any) -> str:
    return "-" if value is None else entry.style.text(value) + entry.style.suffix


if TYPE_CHECKING:
    import pandas


_NAMED, _HTML_ROWS = 3, 20
"""Numbers of runs that a representation as text and as HTML shows."""
_HTML_COLUMNS = ("run", "workload", "seed", "boot", "scale", "design", "status")
_OF_ONE_RUN = ("run", "seed", "boot")


class Runs(Sequence[Run]):
    """A sequence of runs (see Run).

    >>> runs = lab.reference("small")
    >>> len(runs.groups()), runs[0].manifest["workload"], runs[0].reasons
    (2, 'imapb', ())
    >>> runs.metrics("miss_source.all")
    ['miss_source.all.E', 'miss_source.all.M', 'miss_source.all.O', 'miss_source.all.S', 'miss_source.all.memory']
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = list(folders)
        self._runs = [Run(read_run(RunFolder(folder))) for folder in self.folders]

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
        names = ", ".join(folder.name for folder in self.folders[:_NAMED])
        return f"Runs({names})" if len(self) <= _NAMED else f"Runs({len(self)} runs: {names}, ...)"

    def _repr_html_(self) -> str:
        rows = [[str(run.identity[column]) for column in _HTML_COLUMNS] for run in self._runs[:_HTML_ROWS]]
        if len(self) > _HTML_ROWS:
            rows.append([f"... and {len(self) - _HTML_ROWS} more"] + [""] * (len(_HTML_COLUMNS) - 1))
        return html_table(_HTML_COLUMNS, rows)

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
            name for name in self._metric_names() if name == prefix or name.startswith(f"{prefix}." if prefix else "")
        ]

    def frame(self, *metrics: str) -> pandas.DataFrame:
        """One row per run: the columns of the view v_run of the database (workload, seed, boot, design, status, ...),
        and the named metrics in their own units. All metrics if none is named.

        A mean over rows that differ in design, scale, server, image, engine or status gives a MisleadingMeanWarning.

        >>> lab.reference("small").frame("e_share")[["workload", "boot"]].head(3)
          workload  boot
        0    imapb     1
        1    imapb     2
        2    imapb     3
        """
        chosen = self._chosen(metrics)
        return frame({**run.identity, **{name: run.metrics.get(name) for name in chosen}} for run in self)

    def estimates(self, *metrics: str) -> pandas.DataFrame:
        """Means with the half-width of the 95% confidence interval (Student t), over the boots if the runs come from
        several boots, else over the seeds. `over` states which. One boot or seed has no interval.

        There is one row per metric and group of runs that differ in seed and boot only, with the columns of v_run that
        its runs have in common. Invalid runs are left out if their group has valid runs. A group without valid runs has
        status `invalid`, and gives a MisleadingMeanWarning.

        >>> found = lab.reference("small").estimates("e_share").set_index(["group", "metric"])
        >>> list(found.columns[:5])
        ['mean', 'half_width', 'n', 'over', 'unit']
        >>> found.loc[("imapb", "e_share"), ["over", "scale", "status"]].to_list()
        ['boot', 'small', 'valid']
        >>> bool(0.3 < found.loc[("imapb", "e_share"), "mean"] < 0.6)
        True
        """
        rows: list[dict[str, Any]] = []
        for group in self.groups():
            common = Run(group.runs[0]).identity
            common = {column: common[column] for column in COLUMNS if column not in _OF_ONE_RUN}
            if group.reasons:
                text = f"{group.label}: these means are over invalid runs ({group.reasons[0]})"
                warnings.warn(text, MisleadingMeanWarning, stacklevel=2)
            for name in self._chosen(metrics):
                found = group.estimate(name)
                values = (None, None, 0) if found is None else (found.mean, found.half_width, found.n)
                numbers = dict(zip(("mean", "half_width", "n"), values, strict=True))
                own = {
                    "group": group.label,
                    "metric": name,
                    **numbers,
                    "over": group.unit,
                    "unit": find_metric(name).unit,
                }
                rows.append(own | common)
        return frame(rows)

    def compare(self, other: Runs) -> pandas.DataFrame:
        """The differences between these runs and other runs, each of one design, as `s80lab compare` computes them: one
        row per metric with both values, the difference (other minus these) with the half-width of its 95% interval, the
        ratio, the p-value corrected for the number of tested rows, and the verdict.

        Invalid runs are left out. `frame.attrs["notes"]` has sentences on method and limits.

        >>> found = lab.runs("imape")[:1].compare(lab.runs("imape")[1:])
        >>> list(found.columns)
        ['row', 'label', 'first', 'second', 'difference', 'half_width', 'ratio', 'p_value', 'verdict']
        >>> found.loc[0, ["row", "verdict"]].to_list()
        ['l2_mpki', 'not tested']
        """
        comparison = Comparison(self._side("the first runs"), other._side("the other runs"))
        compared = frame(map(_contrast, (*comparison.tested, *comparison.further)))
        compared.attrs["notes"] = notes(comparison)
        return compared

    def intervals(self) -> pandas.DataFrame:
        """One row per sampling interval (about 250 million instructions), warm-up first. The rows show how the caches
        fill.

        >>> sorted(set(lab.reference("small").intervals()["phase"]))
        ['measured', 'warm-up']
        """
        return frame({**run.identity, **interval} for run in self for interval in run.stats["sampling_intervals"])

    def groups(self) -> list[Group]:
        """The runs in groups that differ in seed and boot only."""
        return read_groups(self.folders)

    def report(self, folder: str | Path, title: str = "Runs") -> Path:
        """Write a report over all runs into a folder; return the path of its page."""
        return write_experiment_report(title, self.folders, Path(folder))

    def _metric_names(self) -> list[str]:
        return metric_names(run.read for run in self)

    def _side(self, label: str) -> Group:
        """The valid runs as one side of a comparison."""
        valid = self.results().folders
        if not valid:
            raise UserError(f"{label}: none of the {len(self)} runs is valid, and invalid runs are not compared")
        return read_side(label, valid)

    def _chosen(self, metrics: Sequence[str]) -> list[str]:
        names = self.metrics()
        for name in metrics:
            if name not in names:
                raise UserError(f"no run has a metric `{name}`: {hint(name, names)}")
        return list(metrics) or names


def _contrast(one: Contrast) -> dict[str, Any]:
    return {"row": one.row.name, **one.values(), "p_value": one.corrected, "verdict": one.verdict}

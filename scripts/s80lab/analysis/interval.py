# SPDX-License-Identifier: GPL-2.0-or-later
"""Means with 95% confidence intervals (Alameldeen and Wood, HPCA 2003, explain why one run is not enough), and which
runs are independent: the one rule for the intervals of reports, comparisons and the Python interface.

Two live runs are independent if their guests were booted separately. The boot of a run is its ready checkpoint:
`inputs.ready` in manifest.json, the hash of everything that determines the ready checkpoint, the number of the boot
included (`s80lab run --boots`). Two ready checkpoints that were built from equal inputs, the second after the first was
removed, count as one boot. A sample then has fewer observations than there are, and no interval is too narrow.

A replay does not have a boot of its own. Its observation is the capture, `inputs.capture`.

If runs come from several boots, an observation is a boot: the mean over the runs of the boot. Runs from one boot have
the placement of data in memory in common, so an interval over their seeds does not cover other boots
(docs/background/precision.md). If all runs come from one boot, the interval is over the seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Literal, Protocol, TypeVar

from s80lab.base.format import ABSENT, Format
from s80lab.base.student import student_t


@dataclass(frozen=True)
class Estimate:
    """Mean of n runs that differ in the seed, and the half-width of its interval (None for a single run)."""

    mean: float
    half_width: float | None
    n: int

    def holds(self, value: float) -> bool:
        """Whether the interval contains the value; False for a single run, which has no interval."""
        return self.half_width is not None and abs(value - self.mean) <= self.half_width

    def overlaps(self, other: Estimate) -> bool | None:
        """Whether the two intervals overlap; None if either estimate has no interval."""
        if self.half_width is None or other.half_width is None:
            return None
        return abs(self.mean - other.mean) <= self.half_width + other.half_width


def number(value: Estimate | None, style: Format) -> str:
    """The value as text, "73.1 ± 0.8%"; a dash without a value."""
    if value is None:
        return ABSENT
    half = "" if value.half_width is None else f" ± {style.text(value.half_width)}"
    return style.text(value.mean) + half + style.suffix


def estimate(values: Sequence[float | None]) -> Estimate | None:
    """The mean of the values with its interval; None if there are no values or one is None."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    n = len(known)
    half = student_t(n - 1) * stdev(known) / math.sqrt(n) if n > 1 else None
    return Estimate(fmean(known), half, n)


REPLAY = "replay"
Unit = Literal["boot", "seed"]


class Made(Protocol):
    """A run with its manifest."""

    @property
    def manifest(self) -> Mapping[str, Any]: ...


R = TypeVar("R", bound=Made)


def observation(manifest: Mapping[str, Any]) -> str:
    """Runs with equal text are one observation: the boot of a live run, the capture of a replay."""
    key = "capture" if manifest["engine"] == REPLAY else "ready"
    return str(manifest["inputs"].get(key, manifest["run"]))


def observations(runs: Iterable[R]) -> dict[str, list[R]]:
    """The runs of each observation, in the order of the runs."""
    found: dict[str, list[R]] = {}
    for run in runs:
        found.setdefault(observation(run.manifest), []).append(run)
    return found


def observed_means(runs: Iterable[R], value: Callable[[R], float | None]) -> dict[str, float | None]:
    """For each observation the mean of a value over its runs; None if a run does not have the value."""
    means: dict[str, float | None] = {}
    for key, of_key in observations(runs).items():
        known = [found for run in of_key if (found := value(run)) is not None]
        means[key] = fmean(known) if len(known) == len(of_key) else None
    return means


def sample(runs: Iterable[R], value: Callable[[R], float | None]) -> list[float | None]:
    """The values of which an interval is computed: one per observation, or one per run if there is one observation."""
    chosen = list(runs)
    means = observed_means(chosen, value)
    return list(means.values()) if len(means) > 1 else [value(run) for run in chosen]


def unit_of(runs: Iterable[Made]) -> Unit:
    """What a value of `sample` stands for: a boot, if live runs come from several recorded boots; else a seed."""
    manifests = [run.manifest for run in runs]
    recorded = all(manifest["engine"] != REPLAY and "ready" in manifest["inputs"] for manifest in manifests)
    return "boot" if recorded and len(set(map(observation, manifests))) > 1 else "seed"

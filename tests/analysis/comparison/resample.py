# SPDX-License-Identifier: GPL-2.0-or-later
"""Calibration of comparisons by resampling runs of one design: `python -m tests.analysis.comparison.resample RUN...`.

Each draw takes boots for both sides at random, with replacement, from the boots of the runs. Both sides then come from
one distribution, so each verdict "higher" or "lower" is false. With a planted difference, the values of one row on the
second side are larger by two standard deviations (between boots), and the verdict must be "higher".

RUN: folders of valid runs of one design.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import stdev

import numpy as np

from s80lab.analysis.comparison.contrast import HEADLINE, Comparison
from s80lab.analysis.comparison.sides import read_side
from s80lab.analysis.groups import Group, Run

DRAWS = 2000
SEED = 39


@dataclass(frozen=True)
class Calibration:
    """Counts over all draws.

    rows: how often each row was called higher or lower. comparisons: how often any row was.
    found: for each row, how often the verdict was "higher" with a difference planted in this row.
    """

    draws: int
    rows: Mapping[str, int]
    comparisons: int
    found: Mapping[str, int]


def calibrate(side: Group, boots: int, planted_boots: int = 10, draws: int = DRAWS) -> Calibration:
    """Resample the runs of a side with several boots.

    boots: number of boots on each side. planted_boots: the same for comparisons with a planted difference.
    """
    draw = np.random.default_rng(SEED)
    rows: Counter[str] = Counter()
    comparisons = 0
    for _ in range(draws):
        one, other = (_drawn(side, name, boots, draw) for name in ("A", "B"))
        wrong = [found.row.name for found in Comparison(one, other).tested if found.verdict in ("higher", "lower")]
        rows.update(wrong)
        comparisons += bool(wrong)
    found = {}
    for metric in (name for row in HEADLINE for name in _metrics(row.name)):
        step = 2 * _deviation(side, metric)
        hits = 0
        for _ in range(draws):
            one, other = (_drawn(side, name, planted_boots, draw) for name in ("A", "B"))
            comparison = Comparison(one, _planted(other, metric, step))
            hits += any(one.verdict == "higher" for one in comparison.tested if metric in _metrics(one.row.name))
        found[metric] = hits
    return Calibration(draws, rows, comparisons, found)


def _metrics(row: str) -> tuple[str, ...]:
    """The metric of a row; the row of transfers has no metric of its own."""
    known = {"l2_mpki": "l2_mpki.all", "e_share": "e_share", "e_to_m_share": "e_to_m_share", "cpi": "cpi.all"}
    return (known[row],) if row in known else ()


def _drawn(side: Group, name: str, boots: int, draw: np.random.Generator) -> Group:
    groups = list(side.observations.values())
    runs: list[Run] = []
    for number, place in enumerate(draw.integers(0, len(groups), boots).tolist()):
        for run in groups[place]:
            inputs = {**run.manifest["inputs"], "ready": f"{name}{number}"}
            identity = {"inputs": inputs, "run": f"{name}{number}-{run.name}"}
            runs.append(replace(run, manifest={**run.manifest, **identity}))
    return Group(name, tuple(runs))


def _planted(side: Group, metric: str, step: float) -> Group:
    return Group(side.label, tuple(_with(run, metric, (run.metrics[metric] or 0.0) + step) for run in side.runs))


def _with(run: Run, metric: str, value: float) -> Run:
    return replace(run, stats={**run.stats, "metrics": {**run.metrics, metric: value}})


def _deviation(side: Group, metric: str) -> float:
    """The standard deviation of the metric between the boots."""
    means = [float(np.mean([run.metrics[metric] or 0.0 for run in runs])) for runs in side.observations.values()]
    return stdev(means)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the shares of false verdicts, and of planted differences that were found."""
    parser = argparse.ArgumentParser(description="Calibration of comparisons by resampling runs of one design.")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder of a valid run")
    parser.add_argument("--boots", type=int, default=4, help="boots on each side (default: 4)")
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"number of draws (default: {DRAWS})")
    chosen = parser.parse_args(arguments)
    side = read_side("the runs", chosen.runs)
    found = calibrate(side, chosen.boots, draws=chosen.draws)
    print(f"{len(side.runs)} runs of {len(side.observations)} boots, {found.draws} draws, {chosen.boots} boots a side")
    for row in HEADLINE:
        print(f"{found.rows.get(row.name, 0) / found.draws:7.1%} false verdicts: {row.label}")
    print(f"{found.comparisons / found.draws:7.1%} of comparisons with a false verdict")
    for metric, hits in found.found.items():
        print(f"{hits / found.draws:7.1%} of planted differences found with 10 boots a side: {metric}")


if __name__ == "__main__":
    main()

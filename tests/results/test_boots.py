# SPDX-License-Identifier: GPL-2.0-or-later
"""The analysis of variance in docs/background/precision.md agrees with results/reference/starts.tsv.

The analysis compares the variance between boots with the variance between the seeds of one boot.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import permutations
from statistics import mean

import pytest
from tests.results.designs import starts

from s80lab.analysis.interval import estimate
from s80lab.base import paths

# Row of the table: the metric, and whether its values are divided by the mean of their workload.
ROWS = {
    "share of misses serviced by memory": ("miss_source.all.memory", False),
    "share of misses serviced from M": ("miss_source.all.M", False),
    "share of the sessions' misses serviced by memory": ("miss_source_of.session.all.memory", False),
    "E share": ("e_share", False),
    "silent E-to-M upgrades per E fill": ("e_to_m_share", False),
    "L2 misses per 1000 instructions": ("l2_mpki.all", True),
    "throughput": ("throughput", True),
}


def boots(metric: str, relative: bool) -> list[list[list[float]]]:
    """For each workload and server with several boots: the values of each boot's seeds."""
    several = []
    for of in starts().values():
        by_boot: dict[tuple[str, str], list[float]] = defaultdict(list)
        for start in of:
            by_boot[start["initramfs"], start["boot"]].append(float(start[metric]))
        if len(by_boot) > 1:
            several.append(list(by_boot.values()))
    unit = [mean(value for values in of for value in values) if relative else 1.0 for of in several]
    return [[[value / one for value in values] for values in of] for of, one in zip(several, unit, strict=True)]


def quotient(several: list[list[list[float]]]) -> tuple[float, int, int, float]:
    """The variance between boots over that within them, the degrees of freedom of both, and the runs per boot."""
    between = within = 0.0
    groups = starts = 0
    for of in several:
        middle = mean(value for values in of for value in values)
        between += sum(len(values) * (mean(values) - middle) ** 2 for values in of)
        within += sum((value - mean(values)) ** 2 for values in of for value in values)
        groups += len(of)
        starts += sum(map(len, of))
    above, below = groups - len(several), starts - groups
    return between / above / (within / below), above, below, starts / groups


def coverage(several: list[list[list[float]]]) -> list[bool]:
    """For each pair of boots with three seeds or more: whether the first's interval holds the second's mean."""
    held = []
    for of in several:
        for first, second in permutations([values for values in of if len(values) >= 3], 2):
            found = estimate(first)
            assert found is not None
            held.append(found.holds(mean(second)))
    return held


@pytest.mark.parametrize("label", ROWS)
def test_variance_table_agrees_with_the_boots(label: str) -> None:
    text = (paths.ROOT / "docs" / "background" / "precision.md").read_text(encoding="utf-8")
    several = boots(*ROWS[label])
    found, above, below, seeds = quotient(several)
    held = coverage(several)
    prose = " ".join(text.split())
    assert f"F with {above} and {below} degrees of freedom" in prose
    assert f"There are {len(held)} ordered pairs of boots" in prose
    row = re.search(
        rf"^\| {re.escape(label)} \| ([\d.]+) \| ([\d.]+|none) \| ([\d.]+) \| ([\d.]+) \| (\d+)% \|$",
        text,
        re.MULTILINE,
    )
    assert row, label
    assert row[1] == f"{found:.2f}"
    own = max(0.0, (found - 1) / seeds)
    assert row[2] == (f"{own**0.5:.1f}" if own else "none")
    assert row[3] == f"{(1 + 3 * own) ** 0.5:.1f}"
    assert row[4] == f"{(1 + 6 * own) ** 0.5:.1f}"
    assert row[5] == f"{100 * mean(held):.0f}"

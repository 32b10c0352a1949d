# SPDX-License-Identifier: GPL-2.0-or-later
"""The analysis of variance in docs/background/precision.md agrees with results/reference/starts.tsv.

The analysis compares the variance between boots with the variance between the seeds of one boot.
"""

from __future__ import annotations

import re
from collections import defaultdict
from statistics import mean

import pytest
from tests.results.starts import starts

from s80lab.base import paths

# Row of the table: the metric. Quotients of means, where loads differ by more than their starts.
ROWS = {
    "memory's share": ("miss_source.all.memory", False),
    "E share": ("e_share", False),
    "E to M": ("e_to_m_share", False),
    "L2 misses per 1000 instructions": ("l2_mpki.all", True),
    "throughput": ("throughput", True),
}


def boots(metric: str, relative: bool) -> list[list[list[float]]]:
    """Of each workload on a server that has several boots: the values of each boot's seeds."""
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
    """Of variances, between boots over within; the degrees of freedom of both; starts a boot."""
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


@pytest.mark.parametrize("label", ROWS)
def test_the_table_is_that_of_the_starts(label: str) -> None:
    text = (paths.ROOT / "docs" / "background" / "precision.md").read_text(encoding="utf-8")
    found, above, below, seeds = quotient(boots(*ROWS[label]))
    assert f"F with {above} and {below} degrees of freedom" in text
    row = re.search(rf"^\| {re.escape(label)} \| ([\d.]+) \| ([\d.]+|none) \| ([\d.]+) \|$", text, re.MULTILINE)
    assert row, label
    assert row[1] == f"{found:.2f}"
    own = max(0.0, (found - 1) / seeds)
    assert row[2] == (f"{own**0.5:.1f}" if own else "none")
    assert row[3] == f"{(1 + 3 * own) ** 0.5:.1f}"

# SPDX-License-Identifier: GPL-2.0-or-later
"""The statistics of the model with their dimensions and labels, as src/stats/vocabulary.def declares them.

`build/bin/s80-step vocabulary > scripts/s80lab/base/vocabulary.json` writes the file after a change in C++.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("vocabulary.json")


@dataclass(frozen=True)
class Statistic:
    """One declared statistic: unit, dimensions in row-major order, and whether it is a gauge or a counter."""

    name: str
    unit: str
    dims: tuple[str, ...]
    description: str
    gauge: bool


_DECLARED = json.loads(FILE.read_text(encoding="utf-8"))

LABELS: Mapping[str, tuple[str, ...]] = {dim: tuple(labels) for dim, labels in _DECLARED["dims"].items()}
"""The labels of each dimension, in the order of the model. Cores have numbers instead."""
STATISTICS: Mapping[str, Statistic] = {
    one["name"]: Statistic(one["name"], one["unit"], tuple(one["dims"]), one["description"], one["gauge"])
    for one in _DECLARED["stats"]
}
_TEXTS: Mapping[str, Mapping[str, str]] = _DECLARED["texts"]


def texts(dim: str, *more: str) -> dict[str, str]:
    """The words of reports for each label of a dimension, and for further labels, which are words themselves."""
    known = _TEXTS.get(dim, {})
    return {label: known.get(label, label) for label in (*LABELS[dim], *more)}

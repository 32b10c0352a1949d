# SPDX-License-Identifier: GPL-2.0-or-later
"""What distinguishes runs: the columns of the view v_run, which all views and data frames have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from s80lab.config.differences import SEPARATOR, design_text, differences, words
from s80lab.results.metrics.standing import standing_of

NOT_POOLED = ("engine", "scale", "server", "image", "design", "status")
"""Columns in which the runs of one mean must agree. A mean over several workloads, seeds or boots can be meant."""


def identity(manifest: Mapping[str, Any], stats: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the columns of v_run for one run. manifest, stats: the content of its files."""
    names = ("run", "experiment", "workload", "seed", "scale", "machine", "protocol", "server", "image", "engine")
    found = {key: manifest[key] for key in names}
    source = manifest.get("capture", {})
    of_run = {
        "boot": manifest.get("boot", 1),
        "capture": source.get("name"),
        "form": source.get("form"),
        "design": design_text(manifest),
        "differences": SEPARATOR.join(words(differences(manifest))),
        "status": standing_of(stats)[0],
    }
    return {key: (found | of_run)[key] for key in COLUMNS}


COLUMNS = (
    *("run", "experiment", "workload", "seed", "boot", "scale", "machine", "protocol", "server", "image", "engine"),
    *("capture", "form", "design", "differences", "status"),
)
"""The columns of v_run, in their order."""

# SPDX-License-Identifier: GPL-2.0-or-later
"""Sides of a comparison from literal or drawn values, without run folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from s80lab.analysis.groups import Group, Run

# The values of a row that is not of interest.
USUAL = {"l2_mpki.all": 0.5, "miss_source.all.memory": 0.4, "e_share": 0.3, "e_to_m_share": 0.2, "cpi.all": 1.1}
TESTED = tuple(USUAL)


def run(boot: str, seed: int, metrics: Mapping[str, float | None], label: str = "A", **manifest: object) -> Run:
    """A live run from the boot; of a replay, `boot` is the capture."""
    engine = manifest.get("engine", "qemu")
    inputs = {"capture": boot} if engine == "replay" else {"ready": boot}
    usual = {"experiment": "imapb", "scale": "small", "engine": "qemu", "machine": "s80", "protocol": "moesi"}
    usual |= {"workload": "imapb", "server": "dovecot", "image": "debian"}
    found = {**usual, "run": f"{label}-{boot}-s{seed}", "seed": seed, "design": {"protocol": "moesi"}, **manifest}
    return Run({"inputs": inputs, **found}, {"metrics": metrics}, None, folder=Path(label))


def side(label: str, boots: Mapping[str, Sequence[Mapping[str, float | None]]], **manifest: object) -> Group:
    """For each boot the metrics of its seeds, from seed 1."""
    return Group(
        label,
        tuple(
            run(boot, seed, metrics, label, **manifest)
            for boot, of_boot in boots.items()
            for seed, metrics in enumerate(of_boot, 1)
        ),
    )


def of_row(label: str, metric: str, values: Mapping[str, Sequence[float]], **manifest: object) -> Group:
    """Values of one metric by boot and seed; the other metrics are the same in all runs."""
    boots = {boot: [{**USUAL, metric: value} for value in of_boot] for boot, of_boot in values.items()}
    return side(label, boots, **manifest)

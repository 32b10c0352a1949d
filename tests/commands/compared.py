# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of known designs, boots and values in a lab, for tests of comparisons."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.lab import Lab

from s80lab.experiment.plan import Options, designs
from s80lab.results.database import insert_run
from s80lab.results.metrics.derive import render
from s80lab.results.run_folder import RunFolder

BOOTS = 6
USUAL = {"l2_mpki.all": 0.5, "miss_source.all.memory": 0.4, "e_share": 0.3, "e_to_m_share": 0.2, "cpi.all": 1.1}
# What the boots add to each value, in thousandths: a spread like that of real boots.
SPREAD = (-2, 5, -4, 3, 0, -1)


def add_run(
    lab: Lab,
    template: Path,
    boot: int,
    values: Mapping[str, float],
    options: Options,
    *,
    seed: int = 1,
    valid: bool = True,
) -> str:
    """A live run of imapb with this design, boot and values, made from a run folder; return its name."""
    design = designs("imapb", options)[0].design
    name = f"imapb-small-s{seed}-{design['protocol']}-{boot:02d}"
    folder = lab.results / "runs" / name
    shutil.copytree(template, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= {
        "run": name,
        "experiment": "imapb",
        "workload": "imapb",
        "scale": "small",
        "seed": seed,
    }
    manifest |= {"protocol": design["protocol"], "design": design, "boot": boot, "server": "dovecot", "image": "debian"}
    manifest["instructions"] = 5_500_000_000
    manifest["inputs"] |= {"ready": f"{boot:064d}"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    stats = json.loads((folder / "stats.json").read_text())
    stats["metrics"] |= values
    stats["standing"] = {
        "verdict": "valid" if valid else "invalid",
        "reasons": [] if valid else ["2.20 closed-loop cycles per client measured, 3 are needed"],
    }
    (folder / "stats.json").write_text(render(stats))
    insert_run(lab.results / "s80lab.sqlite", RunFolder(folder))
    return name


def add_boots(
    lab: Lab, template: Path, options: Options, boots: int = BOOTS, turn: int = 0, **changed: float
) -> list[str]:
    """Runs of a design from several boots.

    turn: designs with equal numbers have equal spreads over the boots, so their differences have no spread.
    changed: what the design adds to the usual values, by metric with `_` instead of dots.
    """
    names = []
    for boot in range(1, boots + 1):
        values = {
            metric: value
            + SPREAD[(boot + place * (turn + 1) + turn) % BOOTS] / 1000
            + changed.get(metric.replace(".", "_"), 0.0)
            for place, (metric, value) in enumerate(USUAL.items())
        }
        names.append(add_run(lab, template, boot, values, options))
    return names

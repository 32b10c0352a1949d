# SPDX-License-Identifier: GPL-2.0-or-later
"""What a plan is called: the entries of a run's manifest that describe it, and its title."""

from __future__ import annotations

from s80lab.config.differences import differences, find_differences, label
from s80lab.experiment.plan import Plan, SeedPlan


def manifest_entries(plan: SeedPlan) -> dict[str, object]:
    """The entries of a run's manifest that describe its plan."""
    entries = {
        "experiment": plan.name,
        "engine": plan.engine,
        "machine": plan.machine.name,
        "protocol": plan.protocol_name,
        "image": plan.experiment.image,
        "server": plan.experiment.server,
        "workload": plan.experiment.workload,
        "scale": plan.scale_name,
        "seed": plan.seed,
        "status": "whole",
        "design": plan.design,
        **({"varied": dict(plan.varied)} if plan.varied else {}),
    }
    changed = {"differences": find_differences(entries, plan.machine.guest.model_dump())}
    return entries | changed | ({"boot": plan.boot_number} if isinstance(plan, Plan) else {})


def plan_differences(plan: SeedPlan) -> dict[str, str]:
    """What differs from the experiment's file (config/differences.py)."""
    return dict(differences(manifest_entries(plan)))


def title(plan: SeedPlan) -> str:
    """The experiment and what differs from its file: `imapb · mesi · l2.size=2MiB`.

    The scale is left out; so is a point of the experiment's own sweep, which `SeedPlan.label` names.
    """
    changed = {} if plan.varied else plan_differences(plan)
    return label(plan.name, {key: value for key, value in changed.items() if key != "scale"})

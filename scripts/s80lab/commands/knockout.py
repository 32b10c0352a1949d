# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab knockout`: ablation of the changes to the guest that configs/knockouts.toml lists."""

from __future__ import annotations

import glob
import sys
from collections.abc import Sequence
from dataclasses import replace

from s80lab.analysis.groups import Group, Run, group_runs, read_run
from s80lab.base import paths
from s80lab.base.strict import load
from s80lab.base.terminal import say
from s80lab.commands.output import print_json, sayer, wide_console
from s80lab.commands.parts import make_plans, parse_boots, parse_seeds, run_pipeline
from s80lab.config.experiment import load_experiment
from s80lab.config.machine import load_machine
from s80lab.experiment.knockout import Changes, variants
from s80lab.experiment.plan import Options, Plan
from s80lab.experiment.run import name_before_hash
from s80lab.report.ablations import ablation_table
from s80lab.report.markdown import markdown
from s80lab.report.record import groups_record
from s80lab.report.terminal import print_table
from s80lab.results.run_folder import RunFolder
from s80lab.trace.files import write

KNOCKOUTS = paths.ROOT / "configs" / "knockouts.toml"


def knockout_command(
    experiment: str,
    machine: str | None,
    scale: str | None,
    seeds: str | None,
    boots: str | None,
    keep: bool,
    listed: bool,
    as_json: bool,
) -> None:
    """Measure what each change to the guest contributes (an ablation): one variant without any change, one per change
    alone, one with all changes."""
    loaded = load_experiment(experiment, {})
    name = machine or loaded.machine
    file = load(KNOCKOUTS, Changes)
    if listed:
        _list(file, as_json)
        return
    groups = {}
    for variant in variants(file.changes, load_machine(name)):
        options = Options(name, None, scale, parse_seeds(seeds), variant.settings, boots=parse_boots(boots))
        plans = make_plans([experiment], options)
        lengthened = [replace(plan, phases=file.lengthened(plan.phases, plan.scale_name)) for plan in plans]
        groups[variant.name] = _measured(variant.name, lengthened, keep)
    shown = ablation_table(
        f"{experiment} on {name} at {scale or loaded.scale}: effect of each change to the guest", list(groups.values())
    )
    if as_json:
        records = groups_record(groups.values())
        print_json([{"variant": name} | record for name, record in zip(groups, records, strict=True)])
    else:
        print_table(shown, wide_console())
    target = paths.results() / "reports" / f"knockouts-{experiment}-{name}-{scale or loaded.scale}" / "knockouts.md"
    write(target, markdown(shown, "changes").encode())
    sayer(as_json)(f"table: {target}")


def _list(file: Changes, as_json: bool) -> None:
    """Print each change to the guest with its description."""
    if as_json:
        print_json([{"change": name, "description": change.description} for name, change in file.changes.items()])
        return
    width = max(map(len, file.changes))
    for name, change in file.changes.items():
        say(f"{name:{width}}  {change.description}", sys.stdout, width + 2)


def _measured(variant: str, plans: Sequence[Plan], keep: bool) -> Group:
    """The runs of a variant. The invalid ones are left out of its means, unless all are invalid."""
    found = [_there(plan) for plan in plans]
    missing = [plan for plan, run in zip(plans, found, strict=True) if run is None]
    # Without `keep`, the disk need not hold the checkpoints of all variants at once.
    measured = iter(run_pipeline(missing, 0, False, "run", drop="nothing" if keep else "built") if missing else [])
    (group,) = group_runs([run or next(measured) for run in found])
    return replace(group, label=variant)


def _there(plan: Plan) -> Run | None:
    """The plan's complete run from an earlier call; None if there is none. The checkpoint of the run may
    have been removed since, because equal inputs give an equal checkpoint."""
    wanted = plan.run_inputs("")
    for manifest in sorted(paths.runs().glob(f"{glob.escape(name_before_hash(plan))}*/manifest.json")):
        run = RunFolder(manifest.parent)
        if run.manifest["inputs"] | {"warm": ""} == wanted:
            return read_run(run)
    return None

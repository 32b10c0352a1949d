# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab knockout`: what each change to the guest contributes, alone and with all others.

configs/knockouts.toml states how to remove each change from a machine: words of the kernel's command line that are left
out, and values of the machine file that are restored. A variant of the machine has some of the changes.
"""

from __future__ import annotations

import glob
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import Field, model_validator

from s80lab.analysis.groups import Group, Run, group_runs, read_run
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, load, validate
from s80lab.base.terminal import say
from s80lab.commands.line.compare import KnockoutArguments
from s80lab.commands.numbers import parse_boots, parse_seeds
from s80lab.commands.output import print_json, sayer, wide_console
from s80lab.commands.pipeline import make_plans, run_pipeline
from s80lab.config.experiment import Phases, load_experiment
from s80lab.config.grid import ablation
from s80lab.config.machine import Machine, load_machine
from s80lab.experiment.plan import Options, Plan
from s80lab.experiment.run import name_before_hash
from s80lab.report.ablations import ablation_table
from s80lab.report.record import groups_record
from s80lab.report.tables import markdown
from s80lab.report.terminal import print_table
from s80lab.results.run_folder import RunFolder
from s80lab.trace.files import write


class Change(Strict):
    """A change to the guest and how to remove it. words: words of `guest.kernel_args`; settings: machine file keys."""

    description: str
    words: tuple[str, ...] = ()
    settings: dict[str, str | int | float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _does_something(self) -> Change:
        if not self.words and not self.settings:
            raise ValueError(
                "`words` and `settings` are both missing, so the ablation would remove nothing: add one of them"
            )
        return self


class Changes(Strict):
    """The contents of the file, in file order. lengths: for each scale, values that replace the experiment's phases."""

    changes: dict[str, Change]
    lengths: dict[str, dict[str, int | float]] = Field(default_factory=dict)

    def lengthened(self, phases: Phases, scale: str) -> Phases:
        """The phases of a variant's runs. Raises UserError if `lengths` does not fit the phases."""
        return validate(phases.model_dump() | self.lengths.get(scale, {}), Phases, f"knockouts.toml: lengths.{scale}")


@dataclass(frozen=True)
class Variant:
    """A machine with some of the changes. settings: values over the machine file that remove the other changes."""

    name: str
    settings: Mapping[str, object]


def variants(changes: Mapping[str, Change], machine: Machine) -> list[Variant]:
    """Variants with no change, with each change alone and with all. UserError if a word is not in `kernel_args`."""
    return [Variant(label, _taken_out(changes, kept, machine)) for label, kept in ablation(list(changes)).items()]


def _taken_out(changes: Mapping[str, Change], kept: Sequence[str], machine: Machine) -> dict[str, object]:
    out = [change for name, change in changes.items() if name not in kept]
    settings: dict[str, object] = {key: value for change in out for key, value in change.settings.items()}
    words = machine.guest.kernel_args.split()
    gone = {word for change in out for word in change.words}
    missing = gone - set(words)
    if missing:
        raise UserError(
            f"configs/knockouts.toml removes the kernel arguments {', '.join(sorted(missing))}, which are not "
            f"in guest.kernel_args of machine {machine.name}: correct one of the two files"
        )
    if gone:
        settings["guest.kernel_args"] = " ".join(word for word in words if word not in gone)
    return settings


KNOCKOUTS = paths.ROOT / "configs" / "knockouts.toml"


def knockout_command(args: KnockoutArguments) -> None:
    """Measure what each change to the guest contributes (an ablation): one variant without any change, one per change
    alone, one with all changes."""
    loaded = load_experiment(args.experiment, {})
    name = args.machine or loaded.machine
    file = load(KNOCKOUTS, Changes)
    if args.listed:
        _list(file, args.as_json)
        return
    groups = {}
    for variant in variants(file.changes, load_machine(name)):
        options = Options(
            name, None, args.scale, parse_seeds(args.seeds), variant.settings, boots=parse_boots(args.boots)
        )
        plans = make_plans([args.experiment], options)
        lengthened = [replace(plan, phases=file.lengthened(plan.phases, plan.scale_name)) for plan in plans]
        groups[variant.name] = _measured(variant.name, lengthened, args.keep)
    shown = ablation_table(
        f"{args.experiment} on {name} at {args.scale or loaded.scale}: effect of each change to the guest",
        list(groups.values()),
    )
    if args.as_json:
        records = groups_record(groups.values())
        print_json([{"variant": name} | record for name, record in zip(groups, records, strict=True)])
    else:
        print_table(shown, wide_console())
    target = (
        paths.results()
        / "reports"
        / f"knockouts-{args.experiment}-{name}-{args.scale or loaded.scale}"
        / "knockouts.md"
    )
    write(target, markdown(shown, "changes").encode())
    sayer(args.as_json)(f"table: {target}")


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
    wanted = plan.keys.run_inputs("")
    for manifest in sorted(paths.runs().glob(f"{glob.escape(name_before_hash(plan))}*/manifest.json")):
        run = RunFolder(manifest.parent)
        if run.manifest["inputs"] | {"warm": ""} == wanted:
            return read_run(run)
    return None

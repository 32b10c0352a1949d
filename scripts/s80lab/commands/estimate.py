# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab estimate`: what runs will take, before they start."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from s80lab.base import host
from s80lab.base.errors import UserError
from s80lab.base.strict import parse_settings
from s80lab.base.terminal import say
from s80lab.commands import sweep
from s80lab.commands.changes import Changes
from s80lab.commands.output import print_json
from s80lab.commands.parts import ESTIMATE_INDENT, make_plans, parse_boots, parse_seeds
from s80lab.commands.programs import estimate_files, plans_of, refuse, saved_files
from s80lab.config.grid import Grid
from s80lab.experiment.estimate import estimate
from s80lab.experiment.plan import Options, Plan


def estimate_command(
    experiments: list[str],
    vary: list[str] | None,
    machine: str | None,
    protocol: str | None,
    scale: str | None,
    seeds: str | None,
    boots: str | None,
    settings: list[str] | None,
    jobs: int,
    as_json: bool,
) -> None:
    """Print instructions, time and disk space of the runs that are not complete yet."""
    if files := saved_files(experiments):
        refuse({"--scale": scale})
        grid = Grid.parse(vary, "estimate") if vary else None
        changes = Changes(machine, protocol, settings=tuple(settings or ()))
        programs = [
            plan for file in files for plan in plans_of(file, changes, parse_seeds(seeds), parse_boots(boots), grid)
        ]
        estimate_files(programs, jobs, as_json)
        return
    if vary:
        for option, value in (("--machine", machine), ("--protocol", protocol)):
            if value:
                name = option.removeprefix("--")
                raise UserError(f"{option} cannot be combined with --vary: write --vary {name}={value} instead")
        plans = _sweep_plans(experiments, vary, settings or [], scale, seeds, boots)
    else:
        chosen = parse_settings(settings or [])
        options = Options(machine, protocol, scale, parse_seeds(seeds), chosen, boots=parse_boots(boots))
        plans = make_plans(experiments, options, build=False)
    found = estimate(plans, jobs or host.cores())
    if as_json:
        print_json(found.record())
        return
    for line in found.lines():
        say(line, sys.stdout, indent=ESTIMATE_INDENT)


def _sweep_plans(
    experiments: Sequence[str],
    vary: Sequence[str],
    settings: Sequence[str],
    scale: str | None,
    seeds: str | None,
    boots: str | None,
) -> list[Plan]:
    """The plans of `s80lab sweep` with these options, for each experiment."""
    grid, selection = Grid.parse(vary, "estimate"), sweep.select_runs(scale, seeds, boots)
    points = {name: sweep.designs(name, grid, settings) for name in experiments}
    return [plan for name, designs in points.items() for plan in sweep.plans_of(name, designs, selection, build=False)]

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab estimate`: what runs will take, before they start."""

from __future__ import annotations

import sys

from s80lab.base import host
from s80lab.base.errors import UserError
from s80lab.base.terminal import say
from s80lab.commands import sweep
from s80lab.commands.changes import Changes
from s80lab.commands.line.measure import EstimateArguments
from s80lab.commands.numbers import parse_boots, parse_seeds
from s80lab.commands.output import print_json
from s80lab.commands.pipeline import ESTIMATE_INDENT, make_plans
from s80lab.commands.program_plans import plans_of, refuse, saved_files
from s80lab.commands.programs import estimate_files
from s80lab.config.grid import Grid
from s80lab.experiment.estimate import estimate


def estimate_command(args: EstimateArguments) -> None:
    """Print instructions, time and disk space of the runs that are not complete yet."""
    changes = Changes(args.machine, args.protocol, settings=tuple(args.settings or ()))
    if files := saved_files(args.experiments):
        refuse({"--scale": args.scale})
        grid = Grid.parse(args.vary, "estimate") if args.vary else None
        programs = [
            plan
            for file in files
            for plan in plans_of(file, changes, parse_seeds(args.seeds), parse_boots(args.boots), grid)
        ]
        estimate_files(programs, args.jobs, args.as_json)
        return
    if args.vary:
        for option, value in (("--machine", args.machine), ("--protocol", args.protocol)):
            if value:
                name = option.removeprefix("--")
                raise UserError(f"{option} cannot be combined with --vary: write --vary {name}={value} instead")
        grid, selection = Grid.parse(args.vary, "estimate"), sweep.select_runs(args.scale, args.seeds, args.boots)
        points = {name: sweep.designs(name, grid, args.settings or []) for name in args.experiments}
        plans = [
            plan for name, designs in points.items() for plan in sweep.plans_of(name, designs, selection, build=False)
        ]
    else:
        options = changes.options(args.scale, parse_seeds(args.seeds), parse_boots(args.boots))
        plans = make_plans(args.experiments, options, build=False)
    found = estimate(plans, args.jobs or host.cores())
    if args.as_json:
        print_json(found.record())
        return
    for line in found.lines():
        say(line, sys.stdout, indent=ESTIMATE_INDENT)

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab run`, with `--until` (rounds of seeds until the shares are precise enough) and `--shard`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from s80lab.analysis.groups import Group, Run, group_runs
from s80lab.base import host
from s80lab.base.errors import UserError
from s80lab.base.shard import by_hash
from s80lab.commands.changes import Changes
from s80lab.commands.line.compare import SweepArguments
from s80lab.commands.line.measure import RunArguments
from s80lab.commands.numbers import parse_boots, parse_seeds
from s80lab.commands.output import sayer
from s80lab.commands.pipeline import make_plans, run_gem5, run_pipeline, tell_estimate
from s80lab.commands.program_plans import refuse, saved_files
from s80lab.commands.programs import run_files
from s80lab.commands.run_tables import check_tables, end_invalid, show_runs
from s80lab.commands.shards import Listed, check_shard, part, show_list, tell_shard
from s80lab.experiment.entries import title
from s80lab.experiment.plan import Options, Plan, missing_ready
from s80lab.experiment.precision import Wanted, missing_seeds, parse_wanted, statement
from s80lab.experiment.ready import boot_cost
from s80lab.experiment.resources import run_cost
from s80lab.experiment.run import job_key, measured
from s80lab.experiment.stages import Drop

FIRST_ROUND = (1, 2, 3)
"""The seeds of the first round of --until if the command names none. All rounds run from boot 1."""


def run_command(args: RunArguments) -> None:
    """Run experiments and print a summary."""
    check_tables(args.everything, args.section)
    changes = Changes(args.machine, args.protocol, args.server, args.image, tuple(args.settings or ()))
    options = changes.options(args.scale, parse_seeds(args.seeds), parse_boots(args.boots), args.misses, args.profile)
    if files := saved_files(args.experiments):
        refuse({"--scale": args.scale, "--until": args.until, "--drop-warm": args.drop_warm, "--profile": args.profile})
        refuse({"--engine gem5": args.engine == "gem5", "--all": args.everything, "--section": args.section})
        run_files(files, changes, args, args.again)
        return
    drop: Drop = "warm" if args.drop_warm else "nothing"
    other = "--until" if args.until else "--engine gem5" if args.engine == "gem5" else None
    if args.boots and other:
        raise UserError(f"--boots cannot be combined with {other}; omit one of the two options")
    if args.shard or args.listed:
        check_shard(args.shard, {"--until": args.until, "--engine gem5": args.engine == "gem5"})
        run_shard(make_plans(args.experiments, options), args, args.again, drop)
        return
    if args.engine == "gem5":
        runs = run_gem5(args.experiments, options, args.gem5, args.jobs, args.again, "run")
        show_runs(runs, args.as_json, args.everything, args.section)
        end_invalid(runs)
        return
    say = sayer(args.as_json)
    wanted = parse_wanted(args.until, args.shares, args.max_seeds) if args.until else None
    if wanted and not options.seeds:
        options = replace(options, seeds=FIRST_ROUND)
    plans = make_plans(args.experiments, options)
    tell_estimate(plans, args.jobs, args.again)
    if wanted:
        runs = run_until(plans, options, wanted, args.jobs, args.again, drop, say)
    else:
        runs = run_pipeline(plans, args.jobs, args.again, "run", drop)
    show_runs(runs, args.as_json, args.everything, args.section)
    if wanted:
        tell(runs, wanted, say)
    end_invalid(runs)


def run_until(
    plans: list[Plan],
    options: Options,
    wanted: Wanted,
    jobs: int,
    again: bool,
    drop: Drop,
    say: Callable[[str], None],
) -> list[Run]:
    """Run the seeds of the plans, then add seeds until each experiment's shares are precise enough.

    The number of seeds never exceeds the limit in `wanted`. A line after each round states the precision. again:
    measure the first round again.
    """
    runs: dict[str, list[Run]] = {plan.name: [] for plan in plans}
    seeds: dict[str, list[int]] = {plan.name: [] for plan in plans}
    todo = plans
    while todo:
        for plan, run in zip(todo, run_pipeline(todo, jobs, again, "run", drop), strict=True):
            runs[plan.name].append(run)
            seeds[plan.name].append(plan.seed)
        again, todo = False, []
        for name, whole in runs.items():
            tell(whole, wanted, say)
            (group,) = group_runs(whole)
            todo += _more(name, options, seeds[name], _step(group, wanted, jobs, len(runs)))
    return [run for whole in runs.values() for run in whole]


def run_shard(plans: list[Plan], args: RunArguments | SweepArguments, again: bool, drop: Drop) -> None:
    """List the runs (each experiment, point of its sweep and seed), or measure the runs of a shard."""
    chosen = part(args.shard, by_hash(plans, job_key))
    if args.listed:
        lines = [
            Listed(hash, _describe(plan), measured(plan) is not None, run_cost(plan.phases, plan.scale))
            for hash, plan in chosen.items.items()
        ]
        to_do = [plan for plan, line in zip(chosen.items.values(), lines, strict=True) if not line.complete]
        boots = missing_ready(to_do)
        show_list(chosen, lines, args.as_json, boots_s=sum(map(boot_cost, boots.values())))
    else:
        runs = run_pipeline(list(chosen.items.values()), args.jobs, again, "run", drop, enter=False)
        tell_shard(chosen, [run.folder for run in runs], args.as_json)


def _describe(plan: Plan) -> str:
    point = f", {plan.label}" if plan.varied else ""
    return f"{title(plan)} at {plan.scale_name}{point}, {plan.numbers}"


def tell(runs: Sequence[Run], wanted: Wanted, say: Callable[[str], None]) -> None:
    """Print whether the wanted precision was reached: one line per group of runs."""
    for group in group_runs(runs):
        say(statement(group, wanted))


def _step(group: Group, wanted: Wanted, jobs: int, experiments: int) -> int:
    """Number of seeds in the next round: the estimate of the missing seeds, but one per host core at most, because an
    estimate from few seeds is imprecise."""
    at_once = -(-(jobs or host.cores()) // experiments)
    return min(missing_seeds(group, wanted), at_once)


def _more(name: str, options: Options, seeds: Sequence[int], count: int) -> list[Plan]:
    if not count:
        return []
    first = max(seeds) + 1
    return make_plans([name], replace(options, seeds=list(range(first, first + count))))

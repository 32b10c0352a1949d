# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab reproduce`: the paper's figures and the other studies' tables on one page."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.terminal import plain, plain_text, say, terminal_width, wrapped
from s80lab.commands.line.compare import ReproduceArguments
from s80lab.commands.measured import MissingRuns, latest_runs, measured_runs
from s80lab.commands.numbers import parse_seeds
from s80lab.commands.output import print_json, wide_console
from s80lab.commands.pipeline import make_plans, run_pipeline
from s80lab.commands.reference import keep_page
from s80lab.config.experiment import load_experiment
from s80lab.config.reproduce import FigureOf, load_figures
from s80lab.experiment.plan import Options, Plan
from s80lab.report.record import groups_record, tables_record
from s80lab.report.reproduce import show_figure, write_page
from s80lab.report.terminal import print_table


def reproduce_command(args: ReproduceArguments) -> None:
    """Reproduce the figures of the paper (Koka and Lipasti) and the tables of other studies, next to their published
    numbers, on one page.

    Runs that do not exist yet are made first. After an interruption, repeat the command to continue.
    """
    chosen = load_figures(args.figures or [])
    if args.listed:
        _list(chosen, args.as_json)
        return
    run = [figure for figure in chosen if figure.run]
    options = Options(scale=args.scale, seeds=parse_seeds(args.seeds))
    folders = _latest(run, options) if args.measured else _run(run, options, args.jobs)
    shown = [
        show_figure(figure, folders if figure.run else measured_runs(figure.experiments, args.scale))
        for figure in chosen
    ]
    name = "-".join(["reproduce", *(args.figures or []), *([args.scale] if args.scale else [])])
    page = write_page(shown, paths.results() / "reports" / name)
    if args.keep:
        runs = [run for one in shown for group in one.groups for run in group.runs]
        say(f"kept in {keep_page(page, '-'.join(args.figures or ['all']), runs)}")
    if args.as_json:
        records = [
            {"figure": one.figure.name, "groups": groups_record(one.groups), "tables": tables_record(one.tables)}
            for one in shown
        ]
        print_json({"figures": records, "report": str(page)})
        return
    console = wide_console()
    for one in shown:
        console.rule(one.figure.title, align="left")
        console.print(plain_text(f"{one.figure.whose}: {one.figure.says}", "italic"))
        for table in one.tables:
            print_table(table, console, details=True)
    print(plain(f"report: {page}"))


def _run(figures: Sequence[FigureOf], options: Options, jobs: int) -> dict[str, list[Path]]:
    """The runs of each experiment; missing runs are made first, after their times are on stderr."""
    if times := [f"{one.name} {one.minutes}" for one in figures if one.minutes]:
        say(f"minutes at most, if the runs do not exist yet: {', '.join(times)}")
    plans = _plans(figures, options) if figures else []
    folders: dict[str, list[Path]] = {}
    for plan, run in zip(plans, run_pipeline(plans, jobs, False, "run", drop="built"), strict=True):
        folders.setdefault(plan.name, []).append(run.folder)
    return folders


def _latest(figures: Sequence[FigureOf], options: Options) -> dict[str, list[Path]]:
    """The latest run of each seed at each point of each experiment. UserError names all seeds without a run."""
    found, missing = {}, []
    for name in _experiments(figures):
        try:
            found[name] = latest_runs([name], options.scale, options.seeds or load_experiment(name, {}).seeds)
        except MissingRuns as error:
            missing.append(error.listed())
    if missing:
        raise UserError(
            f"{paths.runs()} contains no run of {'; '.join(missing)} with the design in the experiment's file; runs "
            "with --set or --machine do not count: repeat `s80lab reproduce` without --measured to make the runs"
        )
    return found


def _list(figures: Sequence[FigureOf], as_json: bool) -> None:
    """Print name, minutes and title of each figure."""
    if as_json:
        print_json([{"figure": one.name, "minutes": one.minutes, "title": one.title} for one in figures])
        return
    width = max(len(one.name) for one in figures)
    lines = [f"{'figure':{width}}  minutes  title"]
    lines += [f"{one.name:{width}}  {one.minutes or '-':>7}  {one.title}" for one in figures]
    print(wrapped("\n".join(lines), terminal_width(sys.stdout), width + 11))
    say(
        "Minutes are those of 2 cores after `make run`, at most; -: the figure needs only existing runs. "
        "Groups of figures: paper, studies, throughput. The figures of a group share runs.",
        sys.stdout,
    )


def _experiments(figures: Sequence[FigureOf]) -> list[str]:
    """The experiments of all figures, each once."""
    return list(dict.fromkeys(name for figure in figures for name in figure.experiments))


def _plans(figures: Sequence[FigureOf], options: Options) -> list[Plan]:
    """The plans of all experiments, each once. If a figure needs a profile, the first seed takes the profile at each
    point of the sweep."""
    profiled = {name for figure in figures if figure.profile for name in figure.experiments}
    plans = make_plans(_experiments(figures), options)
    first = {(plan.name, plan.label): plan for plan in reversed(plans)}
    return [replace(plan, profile=plan.name in profiled and plan is first[plan.name, plan.label]) for plan in plans]

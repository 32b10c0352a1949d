# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab batch --slurm`: a job script for sbatch that splits a run or an exploration into tasks."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.terminal import counted, quoted, say
from s80lab.capture.explore.plan import PLANS
from s80lab.commands.line.clusters import BatchArguments

# Of a task: short enough to find a place among others' jobs and to lose little, long enough to be worth a job.
TASK_S = 20 * 60
# Over the estimate, and never less: a node may be slower than the one that was measured, or busy.
MARGIN, LEAST_MINUTES = 2.0, 10
TASKS_MOST = 1000
MIB = 1 << 20
_OURS = re.compile("S80LAB_[A-Z0-9_]+")
_STAGE = re.compile(r'(?:[^"`\\$\x00-\x1f\x7f]|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\})+', re.ASCII)
"""A path in double quotes in which the shell expands nothing but variables."""

SCRIPT = """\
#!/bin/bash
# {jobs} (list {key}) in {tasks_of} of about {minutes}. Submit this script with sbatch. When all tasks have ended, enter
# their runs into the database with `s80lab collect`. If tasks were cut off or killed, submit the script again:
# complete runs are kept.
{prepare}#SBATCH --job-name=s80lab-{verb}
#SBATCH --array=1-{tasks}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={cpus}
#SBATCH --mem={memory}M
#SBATCH --time={limit}
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
{options}set -u
{exports}cd {here} || exit
{stage}# In the background, so that the shell can receive the signal one minute before the limit and pass it on.
{command} --shard "$SLURM_ARRAY_TASK_ID/{tasks}" --jobs {cpus} &
work=$!
trap 'kill -TERM $work 2>/dev/null' TERM
wait $work
ended=$?
while kill -0 $work 2>/dev/null; do
    wait $work
    ended=$?
done
exit $ended
"""
STAGE = """\
export S80LAB_STAGE="{place}/s80lab-$SLURM_JOB_ID"
trap 'rm -rf "$S80LAB_STAGE"' EXIT
"""
# Parameters of `s80lab run` on which the ready checkpoint depends.
OF_READY = ("machine", "protocol", "server", "image", "scale", "settings", "engine", "gem5")


@dataclass(frozen=True)
class Work:
    """The work of a command `run` or `explore`, as the command states it with --list.

    key: hash of the list of runs.
    jobs: number of runs or replays.
    seconds: time that one core would need for all of them.
    memory: bytes of memory for one run or replay.
    """

    key: str
    jobs: int
    seconds: float
    memory: int


def batch_command(args: BatchArguments) -> None:
    """Print a script for a batch system that distributes the runs or replays of one command over tasks. If tasks are
    killed, submit the script again: complete runs are kept."""
    if not args.slurm:
        raise UserError("batch: no batch system is named: add --slurm, the only supported one")
    for option in args.options or []:
        if not option.isprintable():
            raise UserError(f"batch --option {quoted(option)}: omit line feeds and other control characters")
    if args.stage is not None and not _STAGE.fullmatch(args.stage):
        raise UserError(
            f"batch --stage {quoted(args.stage)}: write a path; it may contain variables as $NAME or ${{NAME}}, but no "
            'other $ and none of " ` \\ and control characters, which the shell of a task would interpret'
        )
    plan = _plan(args.words)
    work = _work(args.words, plan)
    count = min(args.tasks or math.ceil(work.seconds / (TASK_S * args.cpus)), work.jobs, TASKS_MOST) or 1
    seconds = work.seconds / work.jobs * math.ceil(math.ceil(work.jobs / count) / args.cpus) if work.jobs else 0.0
    command = [sys.executable, "-m", "s80lab"]
    exports = [f"export {name}={shlex.quote(value)}" for name, value in sorted(os.environ.items()) if _is_ours(name)]
    jobs, tasks_of = counted(work.jobs, "run"), counted(count, "task")
    length = counted(math.ceil(seconds / 60), "minute")
    # Else every task would build the ready checkpoint, or wait for the task that does.
    first = f"First run `{shlex.join(_ready_command(args.words))}`." if args.words[0] == "run" else ""
    print(
        SCRIPT.format(
            jobs=jobs,
            key=work.key,
            tasks=count,
            tasks_of=tasks_of,
            minutes=length,
            prepare=f"# {first}\n" if first else "",
            verb=args.words[0],
            cpus=args.cpus,
            memory=args.memory or math.ceil(args.cpus * work.memory / MIB),
            limit=args.minutes or max(LEAST_MINUTES, math.ceil(MARGIN * seconds / 60)),
            options="".join(f"#SBATCH {one}\n" for one in args.options or []),
            exports="".join(f"{line}\n" for line in exports),
            here=shlex.quote(str(Path.cwd())),
            stage=STAGE.format(place=args.stage) if args.stage else "",
            command=shlex.join([*command, *args.words, *plan]),
        ),
        end="",
    )
    steps = [first, "Submit the script with sbatch.", "When all tasks have ended, run `s80lab collect`."]
    say(f"{jobs} in {tasks_of} of about {length}. {' '.join(filter(None, steps))}")


def _ready_command(words: Sequence[str]) -> list[str]:
    """The command that builds the ready checkpoints of a command `run`."""
    from typer.main import get_command

    from s80lab.commands.line.app import app

    run: Any = get_command(app)
    run = run.commands["run"]
    # The command has listed its work, so its words are valid.
    given = run.make_context("run", list(words[1:]), resilient_parsing=True).params
    command = ["s80lab", "checkpoint", "build", *given["experiments"], "--stage", "ready"]
    for parameter in run.params:
        value = given.get(parameter.name)
        if parameter.name in OF_READY and value != parameter.default and value:
            for one in value if isinstance(value, list | tuple) else [value]:
                command += [parameter.opts[0], str(one)]
    return command


def _plan(words: Sequence[str]) -> list[str]:
    """The option with which all tasks of an exploration read one plan file, which is written now. Empty if the command
    has the option already, and for `run`, whose lists are short."""
    if words[0] != "explore" or "--plan" in (word.partition("=")[0] for word in words):
        return []
    file = paths.results().absolute() / PLANS / f"explore-{value_hash(list(words))[:8]}.json"
    file.unlink(missing_ok=True)
    return ["--plan", str(file)]


def _work(words: Sequence[str], plan: Sequence[str]) -> Work:
    """The work that the command `words` lists. If this command fails, its message becomes the message of `batch`."""
    if words[0] not in ("run", "explore"):
        raise UserError(
            f"batch {words[0]}: only the commands `run` and `explore` can be split into tasks; write one of "
            "them after `batch`"
        )
    ours = {"--shard", "--list", "--json", "--jobs"} & {word.partition("=")[0] for word in words}
    if ours:
        raise UserError(f"batch: omit {min(ours)} after `{words[0]}`: the batch script sets this option for each task")
    listing = [*words, "--list", "--json"]
    done = subprocess.run([sys.executable, "-m", "s80lab", *listing, *plan], capture_output=True, text=True)
    if done.returncode:
        raise UserError(done.stderr.strip().removeprefix("s80lab: "))
    try:
        listed = json.loads(done.stdout)
    except ValueError:  # of --help
        raise UserError(
            f"batch: `s80lab {shlex.join(words)}` cannot be split into tasks, because `s80lab "
            f"{shlex.join(listing)}` prints no list of runs: omit options such as --help"
        ) from None
    return Work(listed["list"], listed["of"], listed["core_seconds"], listed["memory_bytes"])


def _is_ours(name: str) -> bool:
    """Whether the tasks inherit this environment variable: all folders of the lab except $S80LAB_STAGE, which each task
    sets to a folder on its node. A name that a shell does not accept is not ours."""
    return _OURS.fullmatch(name) is not None and name != "S80LAB_STAGE"

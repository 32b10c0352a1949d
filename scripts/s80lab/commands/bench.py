# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab bench`: processor time of short commands, and the guest's speed with the model and without it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise

from s80lab.capture.bench import run_bench
from s80lab.commands.line.maintain import BenchArguments
from s80lab.commands.pipeline import make_plans, run_pipeline
from s80lab.experiment import checkpoint
from s80lab.experiment.plan import Options

REPEATS = 5
_S80LAB = [sys.executable, "-m", "s80lab"]
SHORT: Mapping[str, tuple[Sequence[str], Mapping[str, str]]] = {
    "python -c pass": ([sys.executable, "-c", "pass"], {}),
    "s80lab --version": ([*_S80LAB, "--version"], {}),
    "s80lab --help": ([*_S80LAB, "--help"], {}),
    "completion of `s80lab run im`": (
        _S80LAB,
        {"_S80LAB_COMPLETE": "complete_bash", "COMP_WORDS": "s80lab run im", "COMP_CWORD": "2"},
    ),
    "s80lab list": ([*_S80LAB, "list"], {}),
}
"""Commands that must be fast, each with its words and its additional environment variables."""


def bench_command(args: BenchArguments) -> None:
    """Print the processor time of short commands, then compare the guest's speed with the model and without it."""
    plans = make_plans([args.experiment], Options(scale=args.scale))
    print("processor time of short commands:", flush=True)
    for name, (words, environment) in SHORT.items():
        print(f"  {name}: {cpu_seconds(words, environment):.2f} s (least of {REPEATS} runs)", flush=True)
    print(f"speed of the guest ({args.experiment}):", flush=True)
    run_pipeline(plans, 1, False, "ready")
    ready = checkpoint.find(plans[0].keys.ready.name, plans[0].keys.ready.key)
    assert ready is not None
    run_bench(plans[0], ready, print)


def cpu_seconds(words: Sequence[str], environment: Mapping[str, str]) -> float:
    """Processor time of a command in seconds, user and system together: the least of several runs."""
    times = [_children_s()]
    for _ in range(REPEATS):
        subprocess.run(words, env=os.environ | dict(environment), stdout=subprocess.DEVNULL, check=True)
        times.append(_children_s())
    return min(after - before for before, after in pairwise(times))


def _children_s() -> float:
    """Processor time in seconds of all processes that this process has started and that have ended."""
    used = os.times()
    return used.children_user + used.children_system

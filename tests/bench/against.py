# SPDX-License-Identifier: GPL-2.0-or-later
"""The speed of the working tree relative to another commit: `make bench BASE=COMMIT`.

Both sides are compiled with the same options. The sides alternate in pairs, so that a host that is slower at some
minutes slows down both sides. A ratio above 1 means that the working tree is faster. Replays are compared by processor
time, the guest with the model by wall-clock time, because the guest and the model work on two cores.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import comb
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.capture.bench import FULL_LENGTH, INTERVAL, LENGTH, modelled_rate
from s80lab.commands.pipeline import make_plans, run_pipeline
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import Checkpoint
from s80lab.experiment.plan import Options, Plan

FEWEST_PAIRS = 10
CONFIDENCE = 0.95
TARGETS = ("s80lab", "s80-replay")
NEW_NAMES = {
    "src/plugin/arguments.cpp": {'{"window", ': '{"sampling_interval", '},
    "src/observe/snapshot.cpp": {
        'return "window";': 'return "sampling_interval";',
        r"{\"schema\":1,\"cores\"": r"{\"schema\":2,\"cores\"",
    },
}
"""Texts of the sources before schema 2 of snapshots, and those since, by file."""


@dataclass(frozen=True)
class Side:
    """The compiled programs of one commit."""

    programs: Path

    @property
    def plugin(self) -> Path:
        return self.programs / "lib" / paths.PLUGIN.name

    @property
    def replay(self) -> Path:
        return self.programs / "bin" / paths.REPLAY.name


def compiled(source: Path, build: Path) -> Side:
    """Compile the sources with the options of scripts/build."""
    options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O3"]
    subprocess.run(["cmake", "-S", source, "-B", build, *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", build, "--quiet", *TARGETS], check=True)
    return Side(build)


def extract(commit: str, folder: Path) -> None:
    """Write the files of the commit into a folder, unless they are there. UserError if the commit does not exist.

    The files get the time of this call: with the commit's times, files that differ from those of another commit, which
    the folder had before, would look older than its compiled objects.
    """
    named = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"], cwd=paths.ROOT, capture_output=True
    )
    if named.returncode:
        raise UserError(f"BASE={commit} is not a commit of this repository: name a commit, a branch or a tag")
    stamp = folder.with_suffix(".commit")
    if stamp.exists() and stamp.read_bytes() == named.stdout:
        return
    stamp.unlink(missing_ok=True)
    archive = subprocess.run(["git", "archive", commit], cwd=paths.ROOT, capture_output=True, check=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-m", "-C", folder], input=archive.stdout, check=True)
    use_new_names(folder)
    stamp.write_bytes(named.stdout)


def use_new_names(source: Path) -> None:
    """Let the programs of a commit before schema 2 read and write the names of schema 2, so that both sides have one
    command line and one output."""
    for name, texts in NEW_NAMES.items():
        content = (path := source / name).read_text()
        for old, new in texts.items():
            content = content.replace(old, new)
        path.write_text(content)


def both_sides(parser: argparse.ArgumentParser, commit: str) -> tuple[Side, Side]:
    """The commit and the working tree, compiled. Exits with one sentence if the commit does not exist."""
    folder = paths.BUILD / "bench"
    try:
        extract(commit, folder / "base-source")
    except UserError as error:
        parser.exit(2, f"{error}\n")
    return compiled(folder / "base-source", folder / "base"), compiled(paths.ROOT, folder / "head")


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """The confidence interval of the median by order statistics: it assumes nothing about the ratios' distribution."""
    ordered, count = sorted(ratios), len(ratios)
    outside, rank = 0.0, 0
    # The chance that fewer than `rank` of the ratios are below the true median, and the same above it.
    while rank < (count - 1) // 2 and outside + 2 * comb(count, rank) / 2**count <= 1 - CONFIDENCE:
        outside += 2 * comb(count, rank) / 2**count
        rank += 1
    lowest = max(rank - 1, 0)
    return ordered[lowest], ordered[-1 - lowest]


def compare(name: str, pairs: int, base: Callable[[], float], head: Callable[[], float]) -> None:
    """Print the ratio of two speeds that are measured in alternating pairs."""
    ratios = []
    for number in range(pairs):
        if number % 2:
            fast = head()
            ratios.append(fast / base())
        else:
            slow = base()
            ratios.append(head() / slow)
    low, high = interval(ratios)
    median = statistics.median(ratios)
    print(f"{name}: {median:.3f} of the base's speed ({low:.3f} to {high:.3f}, {pairs} pairs)", flush=True)


def replay_speed(side: Side, capture: Path, inputs: Mapping[str, Path]) -> float:
    """Replays of the capture per second of processor time."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir=paths.BUILD) as out:
        keys = {"capture": capture, "out": out, **inputs}
        words = [str(side.replay), *(f"{key}={value}" for key, value in keys.items())]
        before = _processor_s()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return 1 / (_processor_s() - before)


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def live_speed(plan: Plan, ready: Checkpoint, length: int, region: Mapping[str, object]) -> float:
    """Million instructions per second of the guest with the model."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir=paths.BUILD) as folder:
        return asyncio.run(modelled_rate(plan, ready, Path(folder), length, region)).mips


def run(base: Side, head: Side, experiment: str, scale: str | None, pairs: int) -> None:
    """Print the three ratios: live run, replay of a full capture, replay of a filtered capture."""
    plans = make_plans([experiment], Options(scale=scale))
    run_pipeline(plans, 1, False, "ready")
    ready = checkpoint.find(plans[0].keys.ready.name, plans[0].keys.ready.key)
    assert ready is not None
    with tempfile.TemporaryDirectory(prefix="bench-captures-", dir=paths.BUILD) as captures:
        folder = Path(captures)
        files = {form: folder / f"{form}.s80c" for form in ("full", "filtered")}
        inputs = {"machine": folder / "machine.toml", "protocol": folder / "protocol.toml"}
        inputs["machine"].write_text(plans[0].machine.resolved())
        shutil.copyfile(plans[0].protocol, inputs["protocol"])
        busy = replace(
            plans[0], phases=plans[0].phases.model_copy(update={"think_ms": 0, "sampling_interval": INTERVAL})
        )
        sides = {side: replace(busy, plugin=side.plugin) for side in (base, head)}
        written = {"skip": 1, "measure": FULL_LENGTH, **{f"capture_{form}": path for form, path in files.items()}}
        live_speed(sides[head], ready, FULL_LENGTH, written)
        for form, path in files.items():
            compare(
                f"replay of a {form} capture",
                pairs,
                partial(replay_speed, base, path, inputs),
                partial(replay_speed, head, path, inputs),
            )
        compare(
            "guest with the model",
            pairs,
            partial(live_speed, sides[base], ready, LENGTH, {}),
            partial(live_speed, sides[head], ready, LENGTH, {}),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the speed of the working tree with another commit.")
    parser.add_argument("base", help="commit to compare with")
    parser.add_argument("--pairs", type=int, default=FEWEST_PAIRS, help=f"{FEWEST_PAIRS} for a useful interval")
    parser.add_argument("--experiment", default="imapb")
    parser.add_argument("--scale")
    given = parser.parse_args()
    if given.pairs < 1:
        parser.error(f"--pairs is {given.pairs}: take at least 1")
    base, head = both_sides(parser, given.base)
    run(base, head, given.experiment, given.scale, given.pairs)


if __name__ == "__main__":
    main()

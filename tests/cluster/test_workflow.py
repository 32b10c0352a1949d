# SPDX-License-Identifier: GPL-2.0-or-later
"""The Snakemake workflow: what it would do, under both profiles, and its replays as jobs of a real Slurm."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from tests.capture.conftest import write_capture
from tests.cluster.slurm import Slurm
from tests.cluster.snakemake import command
from tests.lab import LIMIT_S, Lab

from s80lab.base import paths

DESIGNS = {"form": "full", "vary": ["protocol=msi,moesi", "l2.size=32KiB,64KiB"], "chunks": 2}
# The plugin takes Slurm's variables out of its jobs' environment: there a Slurm is the machine's own.
SRUN = '#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {srun} "$@"\n'


def call(words: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        words,
        cwd=paths.ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("profile", ["local", "slurm"])
def test_what_it_would_do(profile: str, tmp_path: Path) -> None:
    said = call(command(tmp_path, profile, DESIGNS, "--dry-run"))
    ones = dict.fromkeys(("all", "image", "ready", "warm", "run", "capture", "plan", "collect", "report"), "1")
    counts = dict(re.findall(r"^(\w+) +(\d+)$", said, re.MULTILINE))
    assert counts == {**ones, "replay": "2", "total": "11"}


def test_an_experiment_may_have_a_hyphen_in_its_name(tmp_path: Path) -> None:
    only = ("--config", "mixes=[figure1-disk]", "designs={}")
    assert re.search(r"^run +1$", call(command(tmp_path, "local", DESIGNS, "--dry-run", *only)), re.MULTILINE)


def test_what_is_done_at_one_scale_is_not_done_at_another(tmp_path: Path) -> None:
    """Else the page of a grid would be of the first scale's capture."""
    for made in re.findall(r"^ +output: (.+)$", call(command(tmp_path, "local", DESIGNS, "--dry-run")), re.MULTILINE):
        Path(made).parent.mkdir(parents=True, exist_ok=True)
        Path(made).touch()
    assert "Nothing to be done" in call(command(tmp_path, "local", DESIGNS, "--dry-run"))
    said = call(command(tmp_path, "local", DESIGNS, "--dry-run", "--config", "scale=small"))
    assert re.search(r"^total +11$", said, re.MULTILINE)


def test_chunks_are_jobs_of_slurm(cluster: Slurm, shared: Lab, tmp_path: Path) -> None:
    """From a capture that is there; this Slurm keeps no accounts."""
    done = tmp_path / "done" / "tiny"
    done.mkdir(parents=True)
    for number, mark in enumerate(("image", "ready", "imapb.s80c")):
        if mark.endswith(".s80c"):
            write_capture(done / mark, accesses=20_000)
        (done / mark).touch()
        older(done / mark, 3 - number)
    (tmp_path / "bin").mkdir()
    srun = tmp_path / "bin" / "srun"
    srun.write_text(SRUN.format(folder=cluster.folder, srun=cluster.program("srun")))
    srun.chmod(0o755)
    own = ("--slurm-no-account", "--slurm-status-command", "squeue", "--slurm-logdir", tmp_path / "logs")
    soon = ("--slurm-init-seconds-before-status-checks", "1", "--seconds-between-status-checks", "1", "--retries", "0")
    targets = [done / f"replay-imapb-{number}-of-2" for number in (1, 2)]
    environment = cluster.environment() | shared.own()
    environment["PATH"] = f"{tmp_path / 'bin'}:{environment['PATH']}"
    call(command(tmp_path, "slurm", DESIGNS, *own, *soon, "--", *targets), environment)
    assert ["shard 1/2: 2 of 4" in targets[0].read_text(), "shard 2/2: 2 of 4" in targets[1].read_text()] == [True] * 2
    assert len(shared.runs()) == 4 and not (shared.results / "s80lab.sqlite").exists()


def older(file: Path, minutes: int) -> None:
    """Made so long ago."""
    then = time.time() - 60 * minutes
    os.utime(file, (then, then))

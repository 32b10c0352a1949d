# SPDX-License-Identifier: GPL-2.0-or-later
"""The Snakemake workflow: what it would do, under both profiles; and done, at tiny, on the session's checkpoints."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab import LIMIT_S, Lab

from s80lab.base import paths

pytestmark = pytest.mark.guest

SNAKEMAKE = paths.BUILD / "workflow" / "bin" / "snakemake"
PROFILES = paths.ROOT / "workflow" / "profiles"
DESIGNS = {"imapb": {"form": "full", "vary": ["protocol=msi,moesi", "l2.size=1MiB,2MiB"], "chunks": 2}}


@pytest.fixture(scope="module", autouse=True)
def snakemake() -> None:
    """Installed once, as `make workflow` does it."""
    subprocess.run([paths.ROOT / "scripts" / "setup", "workflow"], check=True, timeout=LIMIT_S)


def command(folder: Path, profile: str, *options: str) -> list[str]:
    """With marks of what is done, and Snakemake's own notes, in a folder of its own; one seed of imapb."""
    config = {"scale": "tiny", "mixes": ["imapb"], "seeds": [1], "designs": DESIGNS, "done": str(folder / "done")}
    config |= {"s80lab": f"{sys.executable} -m s80lab"}
    (folder / "config.json").write_text(json.dumps(config))
    words = ["--profile", PROFILES / profile, "--snakefile", paths.ROOT / "workflow" / "Snakefile"]
    own = ["--configfile", folder / "config.json", "--runtime-source-cache-path", folder / "cache"]
    return [str(word) for word in (SNAKEMAKE, "--nolock", *words, *own, *options)]


@pytest.mark.parametrize("profile", ["local", "slurm"])
def test_what_it_would_do(profile: str, tmp_path: Path) -> None:
    done = subprocess.run(
        command(tmp_path, profile, "--dry-run"), cwd=paths.ROOT, capture_output=True, text=True, timeout=LIMIT_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(re.findall(r"^(\w+) +(\d+)$", done.stdout + done.stderr, re.MULTILINE))
    ones = dict.fromkeys(("all", "image", "ready", "warm", "run", "capture", "collect", "report"), "1")
    assert counts == {**ones, "replay": "2", "total": "10"}


def test_it_is_done_and_goes_on_where_it_was_interrupted(whole: Lab, tmp_path: Path) -> None:
    """Ctrl-C in the middle of the capture; the database is written at the end alone."""
    lab = Lab(whole.checkpoints, tmp_path / "lab" / "results")
    words = command(tmp_path, "local", "--cores", "1")

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            words,
            env=lab.environment() | {"XDG_CACHE_HOME": str(tmp_path / "cache")},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            start_new_session=True,
            cwd=paths.ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    first = start()
    while not (lab.captures.is_dir() and lab.partial()) and not lab.runs():
        assert first.poll() is None, first.communicate()[0]
    os.killpg(first.pid, signal.SIGINT)
    first.communicate(timeout=LIMIT_S)
    assert first.returncode and not (lab.results / "s80lab.sqlite").exists()
    said, _ = (second := start()).communicate(timeout=LIMIT_S)
    assert second.returncode == 0, said
    assert len(lab.runs()) == 1 + 4 and lab.partial() == []
    assert "5 runs: 0 copied" in (tmp_path / "done" / "collected").read_text()
    assert "L2 misses" in (tmp_path / "done" / "report").read_text()
    said, _ = (third := start()).communicate(timeout=LIMIT_S)
    assert third.returncode == 0 and "Nothing to be done" in said

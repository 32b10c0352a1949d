# SPDX-License-Identifier: GPL-2.0-or-later
"""The Snakemake workflow from the image to the report, at tiny, on the session's checkpoints; interrupted once."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.cluster.snakemake import command
from tests.lab import LIMIT_S, Lab

from s80lab.base import paths

pytestmark = pytest.mark.guest

DESIGNS = {"form": "full", "vary": ["protocol=msi,moesi", "l2.size=1MiB,2MiB"], "chunks": 2}


def start(lab: Lab, words: list[str]) -> subprocess.Popen[str]:
    """In a process group of its own, as from a terminal; it heeds Ctrl-C even where the tests were told not to."""
    return subprocess.Popen(
        words,
        env=lab.environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        start_new_session=True,
        cwd=paths.ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_it_goes_on_where_it_was_interrupted(whole: Lab, tmp_path: Path) -> None:
    """Ctrl-C while something is half made; the database is written at the end alone."""
    lab = whole.beside(tmp_path / "lab")
    words = command(tmp_path, "local", DESIGNS, "--cores", "1")
    first = start(lab, words)
    while not lab.partial():
        assert first.poll() is None, first.communicate()[0]
        time.sleep(0.1)
    os.killpg(first.pid, signal.SIGINT)
    first.communicate(timeout=LIMIT_S)
    assert first.returncode and not (lab.results / "s80lab.sqlite").exists()
    said, _ = (second := start(lab, words)).communicate(timeout=LIMIT_S)
    assert second.returncode == 0, said
    assert len(lab.runs()) == 1 + 4 and lab.partial() == []
    assert "5 runs: 0 copied" in (tmp_path / "done" / "tiny" / "collected").read_text()
    assert "L2 misses" in (tmp_path / "done" / "tiny" / "report").read_text()
    said, _ = (third := start(lab, words)).communicate(timeout=LIMIT_S)
    assert third.returncode == 0 and "Nothing to be done" in said

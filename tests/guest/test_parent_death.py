# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU and s80-replay die with the command that started them, whenever the command is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tests.kills.process import end_survivors, until_none
from tests.lab import LIMIT_S

START = """
import os, signal, subprocess, sys
from s80lab.guest.process import dies_with_us
os.environ["STARTER"] = str(os.getpid())
process = subprocess.Popen([*dies_with_us(), *sys.argv[1:]], start_new_session=True)
print(process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""

# Asks for the signal only when nobody is left to cause it.
LATE = """#!/bin/sh
while [ "$(ps -o ppid= -p $$ | tr -d ' ')" = "$STARTER" ]; do sleep 0.01; done
exec {setpriv} "$@"
"""


def killed_after_start(tmp_path: Path, **environment: str) -> str:
    """What the environment of the children has, after a process has started `touch` and was killed at once."""
    words = ["sh", "-c", 'sleep 1; touch "$0"', str(tmp_path / "touched")]
    environment = os.environ | {"TMPDIR": str(tmp_path)} | environment
    done = subprocess.run([sys.executable, "-c", START, *words], env=environment, timeout=LIMIT_S)
    assert done.returncode == -signal.SIGKILL
    return f"TMPDIR={tmp_path}"


def test_child_dies_with_a_killed_parent(tmp_path: Path) -> None:
    mark = killed_after_start(tmp_path)
    assert until_none(mark)
    assert not (tmp_path / "touched").exists()


def test_child_ends_if_its_parent_died_before_the_signal_was_set(tmp_path: Path) -> None:
    setpriv = shutil.which("setpriv")
    late = tmp_path / "bin" / "setpriv"
    late.parent.mkdir()
    late.write_text(LATE.format(setpriv=setpriv))
    late.chmod(0o755)
    mark = killed_after_start(tmp_path, PATH=f"{late.parent}:{os.environ['PATH']}")
    try:
        assert until_none(mark)
        assert not (tmp_path / "touched").exists()
    finally:
        end_survivors(mark)

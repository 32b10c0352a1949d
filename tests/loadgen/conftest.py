# SPDX-License-Identifier: GPL-2.0-or-later
"""Real mail servers for the load generator, and a way to run it against them."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from s80lab.base import paths

sys.path.insert(0, str(paths.ROOT))

from tests.lab import LIMIT_S
from tests.loadgen.mail_system import MailSystem, build, missing

LOADGEN = paths.BUILD / "bin" / "s80-loadgen"
USERS = 12


@dataclass
class Outcome:
    """What the load generator printed and returned."""

    code: int
    events: list[dict[str, Any]]
    stderr: str

    def all(self, name: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == name]

    def one(self, name: str) -> dict[str, Any]:
        """The event of this name, which must be there exactly once."""
        (event,) = self.all(name)
        return event


Runner = Callable[..., Outcome]


def collect(process: subprocess.Popen[str], begun: Callable[[], None] | None = None) -> Outcome:
    """Waits for the load generator's end; `begun` is called when its region begins."""
    assert process.stdout is not None
    assert process.stderr is not None
    events: list[dict[str, Any]] = []
    limit = threading.Timer(LIMIT_S, process.kill)
    limit.start()
    try:
        for line in process.stdout:
            events.append(json.loads(line))
            if begun is not None and events[-1]["event"] == "load_begin":
                begun()
        stderr = process.stderr.read()
        code = process.wait()
    finally:
        limit.cancel()
    if code == -signal.SIGKILL:
        pytest.fail(f"the load generator did not end within {LIMIT_S} s")
    return Outcome(code, events, stderr)


def launch(job: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(LOADGEN), "--job", str(job), "--insecure", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="session", autouse=True)
def _built() -> None:
    if not LOADGEN.is_file():
        pytest.fail(f"{LOADGEN} is not built: run `make` first")


@contextlib.contextmanager
def mail_servers(extra: str = "") -> Iterator[MailSystem]:
    """Dovecot, with these settings more, and OpenSMTPD with the mail of USERS users."""
    if reason := missing():
        pytest.skip(reason)
    # Not under pytest's own folder: any other pytest that starts closes that to the servers' users.
    with tempfile.TemporaryDirectory(prefix="s80-mail-") as name:
        base = Path(name)
        build(base / "store", USERS)
        system = MailSystem(base, extra)
        try:
            system.start()
            yield system
        finally:
            system.stop()


@pytest.fixture
def mail_system() -> Iterator[MailSystem]:
    with mail_servers() as system:
        yield system


@pytest.fixture
def run_load(mail_system: MailSystem, tmp_path: Path) -> Runner:
    """run_load(job text, options...) runs a job to its end."""

    def run(text: str, *options: str) -> Outcome:
        job = tmp_path / "job"
        job.write_text(text)
        return collect(launch(job, *mail_system.addresses, *options))

    return run

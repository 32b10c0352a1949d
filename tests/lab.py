# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line at work on checkpoints and results of its own."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.forked import call, command

from s80lab.commands.run_tables import INVALID

# Of what must end at all, however busy the host.
LIMIT_S = 600


@dataclass(frozen=True)
class Lab:
    """The command line with checkpoints and results of its own."""

    checkpoints: Path
    results: Path

    @property
    def captures(self) -> Path:
        return self.results.parent / "captures"

    def beside(self, folder: Path) -> Lab:
        """With the same checkpoints; its results, and its captures, in `folder`."""
        return Lab(self.checkpoints, folder / "results")

    def own(self) -> dict[str, str]:
        """Where its parts lie. Captures lie beside the results."""
        return {
            "S80LAB_CHECKPOINTS": str(self.checkpoints),
            "S80LAB_RESULTS": str(self.results),
            "S80LAB_CAPTURES": str(self.captures),
        }

    def environment(self) -> dict[str, str]:
        return os.environ | self.own()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """In this process too, as its commands are."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.own().items():
                patch.setenv(name, value)
            yield

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The command in the background, its output in pipes; it heeds Ctrl-C even where the tests were told not to."""
        return subprocess.Popen(
            command(arguments),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def call(self, *arguments: str, code: int = 0) -> str:
        """Everything that the command says; the exit code must be `code`."""
        return "".join(self._ended(arguments, code))

    def answer(self, *arguments: str) -> str:
        """Its stdout alone: progress is not part of it."""
        return self._ended(arguments, 0)[0]

    def _ended(self, arguments: tuple[str, ...], code: int) -> tuple[str, str]:
        done = call(arguments, self.environment(), LIMIT_S)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout, done.stderr

    def run_tiny(self, *arguments: str, code: int = INVALID) -> str:
        """`s80lab run` at scale tiny, whose runs are invalid: too short for steady state."""
        return self.call("run", "--scale", "tiny", *arguments, code=code)

    def runs(self) -> list[Path]:
        """The folders of whole runs; a partial one would begin with a dot."""
        return sorted((self.results / "runs").glob("[!.]*"))

    def checkpoint_of(self, run: Path) -> Path:
        """The folder of the checkpoint that a run began with."""
        return self.checkpoints / str(json.loads((run / "manifest.json").read_text())["checkpoint"])

    def verdicts(self) -> dict[str, str]:
        """The verdict of `s80lab checkpoint verify` on each checkpoint of this version, by name. The folder outlives
        the session, so it may also hold checkpoints that an older version wrote and that nothing uses now."""
        done = call(("checkpoint", "verify", "--json"), self.environment(), LIMIT_S)
        found = {one["name"]: one["verdict"] for one in json.loads(done.stdout)}
        assert done.returncode == int(bool(set(found.values()) - {"whole"})), done.stdout + done.stderr
        return {name: verdict for name, verdict in found.items() if verdict != "outdated"}

    def partial(self) -> list[Path]:
        folders = (self.results / "runs", self.checkpoints, self.captures)
        return sorted(path for folder in folders for path in folder.glob(".partial-*"))


@contextmanager
def own_folder(parent: Path) -> Iterator[Path]:
    """The first of parent/1, parent/2, ... in which no other process is at work; nobody else gets it until the end."""
    for number in itertools.count(1):
        folder = parent / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield folder
            return

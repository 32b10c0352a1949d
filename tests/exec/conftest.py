# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab exec` as users call it, with the checkpoints of the test session."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.forked import command
from tests.lab import LIMIT_S, Lab


@dataclass(frozen=True)
class Ran:
    """One call of the command."""

    code: int
    stdout: bytes
    stderr: str


@dataclass(frozen=True)
class Exec:
    """Calls the command in `folder`, with results of its own."""

    lab: Lab
    folder: Path

    def __call__(self, *words: str, given: bytes | None = None, **variables: str) -> Ran:
        done = subprocess.run(
            command(("exec", *words)),
            cwd=self.folder,
            env=self.lab.environment() | variables,
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            timeout=LIMIT_S,
        )
        return Ran(done.returncode, done.stdout, done.stderr.decode())

    def result(self, name: str = "last") -> Path:
        """The folder of the run with that name."""
        return self.lab.results / "exec" / name


@pytest.fixture
def execute(lab: Lab, tmp_path: Path) -> Exec:
    return Exec(lab.beside(tmp_path / "own"), tmp_path)


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[..., Path]:
    """Compiles C source; returns the program."""

    def compile_source(source: str, *options: str, name: str = "program") -> Path:
        path = tmp_path / name
        subprocess.run(["gcc", "-x", "c", "-", "-o", path, "-pthread", *options], input=source, text=True, check=True)
        return path

    return compile_source

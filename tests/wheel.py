# SPDX-License-Identifier: GPL-2.0-or-later
"""The package outside its checkout: a wheel in a virtual environment of its own, and a lab of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab import LIMIT_S

from s80lab.base import paths
from s80lab.base.staging import held


class Installed:
    """The command of the wheel; nothing of the checkout is on its path or in its environment."""

    def __init__(self, environment: Path, lab: Path) -> None:
        self.program = environment / "bin" / "s80lab"
        self.lab = lab

    def environment(self) -> dict[str, str]:
        return {
            name: value for name, value in os.environ.items() if not name.startswith(("S80LAB", "PYTHON", "VIRTUAL"))
        }

    def call(self, *arguments: str, code: int = 0, here: Path | None = None, **environment: str) -> str:
        done = subprocess.run(
            [self.program, *arguments],
            cwd=here or self.lab,
            env={**self.environment(), **environment},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    # Every session makes it in the same place.
    with held(paths.BUILD / "wheel.lock", lambda: None):
        subprocess.run(["make", "--silent", "wheel"], cwd=paths.ROOT, check=True, capture_output=True, timeout=LIMIT_S)
        (made,) = (paths.ROOT / "build" / "dist").glob("s80lab-*.whl")
        wheel = shutil.copy(made, folder)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True, timeout=LIMIT_S)
    pip: list[str | Path] = [
        folder / "venv" / "bin" / "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ]
    locked: list[str | Path] = ["--require-hashes", "-r", paths.ROOT / "requirements.lock"]
    subprocess.run([*pip, *locked], check=True, timeout=LIMIT_S)
    subprocess.run([*pip, wheel], check=True, timeout=LIMIT_S)
    command = Installed(folder / "venv", folder / "lab")
    command.call("init", str(folder / "lab"), here=folder)
    return command

# SPDX-License-Identifier: GPL-2.0-or-later
"""The package outside its checkout: a wheel in a virtual environment of its own, and a lab of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab import LIMIT_S, Lab

from s80lab.base import paths
from s80lab.base.folder import read_manifest
from s80lab.base.staging import held

RUNS = "imapb-tiny-s1-*"


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


@pytest.fixture(scope="module")
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
        "--no-compile",
        "--no-deps",
    ]
    locked: list[str | Path] = ["--require-hashes", "-r", paths.ROOT / "requirements.lock"]
    subprocess.run([*pip, *locked], check=True, timeout=LIMIT_S)
    subprocess.run([*pip, wheel], check=True, timeout=LIMIT_S)
    command = Installed(folder / "venv", folder / "lab")
    command.call("init", str(folder / "lab"), here=folder)
    return command


def test_it_proves_every_protocol(installed: Installed) -> None:
    assert installed.call("protocol", "check", "--all").count(": proven for 3 caches") == 8


def test_it_steps_through_a_lesson(installed: Installed) -> None:
    said = installed.call("trace", "step", "docs/traces/migratory.trace", "--protocol", "hammer")
    assert "A: the line at 0x" in said


def test_python_reads_what_comes_with_it(installed: Installed) -> None:
    """Without pandas, which is an extra."""
    code = "from s80lab import Lab; print([run.manifest['seed'] for run in Lab().reference('small')])"
    python = [str(installed.program.with_name("python")), "-c", code]
    done = subprocess.run(
        python, cwd=installed.lab, env=installed.environment(), capture_output=True, text=True, timeout=LIMIT_S
    )
    there = [read_manifest(folder)["seed"] for folder in sorted((paths.REFERENCE / "small" / "runs").iterdir())]
    assert done.stdout == f"{there}\n", done.stderr


def test_a_protocol_of_the_lab_is_found_and_proven(installed: Installed) -> None:
    installed.call("protocol", "new", "mine")
    assert (installed.lab / "configs" / "protocols" / "mine.toml").is_file()
    assert "mine.toml: proven" in installed.call("protocol", "check", "mine")
    (installed.lab / "configs" / "protocols" / "mine.toml").unlink()


def test_a_lab_is_found_from_below_and_by_the_environment(installed: Installed, tmp_path: Path) -> None:
    below = installed.lab / "docs" / "traces"
    assert str(installed.lab / "build") in installed.call("doctor", here=below, code=1)
    elsewhere = installed.call("doctor", here=tmp_path, code=1, S80LAB_HOME=str(installed.lab))
    assert str(installed.lab / "build") in elsewhere


def test_a_folder_in_use_is_no_new_lab(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "mail").write_text("mine")
    said = installed.call("init", str(tmp_path), code=2)
    assert said == f"s80lab: {tmp_path} is not empty: name a new folder\n"
    assert "is a lab already" in installed.call("init", str(installed.lab), code=2)


@pytest.mark.guest
def test_its_run_is_the_checkouts_run(installed: Installed, whole: Lab) -> None:
    """The same image and checkpoints give the same bytes, wherever the package lies."""
    (installed.lab / "build").mkdir(exist_ok=True)
    for part in ("image", "qemu"):
        if not (installed.lab / "build" / part).exists() and (paths.BUILD / part).exists():
            (installed.lab / "build" / part).symlink_to(paths.BUILD / part)
    installed.call("run", "imapb", "--scale", "tiny", "--seeds", "1", S80LAB_CHECKPOINTS=str(whole.checkpoints))
    (mine,) = (installed.lab / "results" / "runs").glob(RUNS)
    (theirs,) = (whole.results / "runs").glob(RUNS)
    assert mine.name == theirs.name
    assert (mine / "stats.json").read_bytes() == (theirs / "stats.json").read_bytes()

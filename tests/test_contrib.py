# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/: the environment-module file under Environment Modules, and what the Containerfile relies on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.lab import LIMIT_S

from s80lab import __version__
from s80lab.base import paths

CONTRIB = paths.ROOT / "contrib"
MODULES = next((file for file in Path("/usr/lib").glob("**/modulecmd.tcl")), None)


@pytest.mark.skipif(MODULES is None, reason="Debian's environment-modules is not installed")
@pytest.mark.parametrize("lab", [None, "elsewhere"])
def test_environment_module_provides_the_command_and_lab_variables(tmp_path: Path, lab: str | None) -> None:
    place = tmp_path / (lab or "s80lab")
    environment = {
        "HOME": str(tmp_path),
        "PATH": os.defpath,
        "MODULEPATH": str(CONTRIB / "modulefiles"),
        **({"S80LAB_LAB": str(place)} if lab else {}),
    }
    loaded = subprocess.run([str(MODULES), "sh", "load", "s80lab"], env=environment, capture_output=True, text=True)
    assert loaded.returncode == 0 and not loaded.stderr
    script = f"{loaded.stdout}\ns80lab --version\nenv"
    done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.stdout.startswith(f"s80lab {__version__}\n"), done.stderr
    parts = {"CHECKPOINTS": "checkpoints", "CAPTURES": "captures", "RESULTS": "results", "PROOFS": "proofs"}
    assert {f"S80LAB_{name}={place / folder}" for name, folder in parts.items()} <= set(done.stdout.splitlines())


def test_command_can_be_called_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "s80lab").symlink_to(CONTRIB / "bin" / "s80lab")
    said = subprocess.run([tmp_path / "s80lab", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"s80lab {__version__}\n"


def test_containerfile_names_existing_targets_and_variables() -> None:
    text = (CONTRIB / "Containerfile").read_text()
    assert "FROM debian:12\n" in text and "PATH=/opt/s80lab/contrib/bin:" in text
    for name in ("CHECKPOINTS", "CAPTURES", "RESULTS", "PROOFS"):
        assert f"S80LAB_{name}=/lab/" in text
    assert text.index("S80LAB_QEMU_FOLDER=/opt/s80lab/qemu") < text.index("run imapb imape --list")
    assert "make build" in text and "\nbuild: " in (paths.ROOT / "Makefile").read_text()


def test_container_contains_sources_only() -> None:
    """What the checkout has built is of its own folder: the environment would not start in another."""
    ignored = (paths.ROOT / ".containerignore").read_text().splitlines()
    made = [line for line in (paths.ROOT / ".gitignore").read_text().splitlines() if line.startswith("/")]
    assert "build" in ignored and "/build" in made
    assert {line.strip("/*") for line in made} <= {line.strip("*") for line in ignored}

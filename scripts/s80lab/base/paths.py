# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things are. Outputs can be put elsewhere by environment variables, for tests and for clusters."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
REFERENCE = ROOT / "results" / "reference"
MACHINES = ROOT / "configs" / "machines"
PROTOCOLS = ROOT / "configs" / "protocols"
EXPERIMENTS = ROOT / "configs" / "experiments"
SCALES = ROOT / "workloads" / "scales"
CLASSES = ROOT / "workloads" / "classes.toml"
PROFILES = ROOT / "workloads" / "profiles"
PLUGIN = BUILD / "lib" / "libs80lab.so"
TURNS_PLUGIN = BUILD / "lib" / "libs80turns.so"
REPLAY = BUILD / "bin" / "s80-replay"


def checkpoints() -> Path:
    """Folder of checkpoint manifests and blobs ($S80LAB_CHECKPOINTS overrides)."""
    return Path(os.environ.get("S80LAB_CHECKPOINTS", ROOT / "checkpoints"))


def captures() -> Path:
    """Folder of capture manifests and blobs ($S80LAB_CAPTURES overrides)."""
    return Path(os.environ.get("S80LAB_CAPTURES", ROOT / "captures"))


def results() -> Path:
    """Folder of the run folders and the database ($S80LAB_RESULTS overrides)."""
    return Path(os.environ.get("S80LAB_RESULTS", ROOT / "results"))


def runs() -> Path:
    """One folder a whole run."""
    return results() / "runs"


def database() -> Path:
    """The SQLite database of all whole runs."""
    return results() / "s80lab.sqlite"

# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things are: what s80lab comes with (ROOT), and the lab folder for all that is made (HOME).

In a checkout both are the checkout. An installed s80lab carries its files in the package, and its lab folder is
$S80LAB_HOME, else the nearest folder upwards that `s80lab init` made, else s80lab in the user's data folder. Parts of
it can be put elsewhere by environment variables of their own, for tests and for clusters.
"""

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = (PACKAGE.parents[1] / "CMakeLists.txt").is_file()
ROOT = PACKAGE.parents[1] if CHECKOUT else PACKAGE / "shipped"
MARK = ".s80lab"
"""The file that makes a folder a lab."""


def home(environment: str | None, here: Path, checkout: Path | None) -> Path:
    """The lab folder. environment: $S80LAB_HOME; here: where the user works; checkout: where s80lab runs from one."""
    if environment:
        return Path(environment).absolute()
    if checkout is not None:
        return checkout
    for folder in (here, *here.parents):
        if (folder / MARK).is_file():
            return folder
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "s80lab"


HOME = home(os.environ.get("S80LAB_HOME"), Path.cwd(), ROOT if CHECKOUT else None)
BUILD = HOME / "build"
BIN = ROOT / "build" / "bin"
LIB = ROOT / "build" / "lib"
REFERENCE = ROOT / "results" / "reference"
MACHINES = ROOT / "configs" / "machines"
PROTOCOLS = ROOT / "configs" / "protocols"
EXPERIMENTS = ROOT / "configs" / "experiments"
SCALES = ROOT / "workloads" / "scales"
SERVERS = ROOT / "workloads" / "servers"
CLASSES = ROOT / "workloads" / "classes.toml"
PROFILES = ROOT / "workloads" / "profiles"
LESSONS = ROOT / "docs" / "traces"
PLUGIN = LIB / "libs80lab.so"
TURNS_PLUGIN = LIB / "libs80turns.so"
REPLAY = BIN / "s80-replay"


def own(folder: Path) -> Path:
    """The folder of the lab in which the user's own files of that kind lie (in a checkout the same one)."""
    return HOME / folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder


def checkpoints() -> Path:
    """Folder of checkpoint manifests and blobs ($S80LAB_CHECKPOINTS overrides)."""
    return Path(os.environ.get("S80LAB_CHECKPOINTS", HOME / "checkpoints"))


def captures() -> Path:
    """Folder of capture manifests and blobs ($S80LAB_CAPTURES overrides)."""
    return Path(os.environ.get("S80LAB_CAPTURES", HOME / "captures"))


def stage() -> Path | None:
    """Folder on a disk of the host's own, to which checkpoints and captures are copied before they are mapped
    ($S80LAB_STAGE; None: they are used where they lie)."""
    folder = os.environ.get("S80LAB_STAGE")
    return Path(folder).absolute() if folder else None


def results() -> Path:
    """Folder of the run folders and the database ($S80LAB_RESULTS overrides)."""
    return Path(os.environ.get("S80LAB_RESULTS", HOME / "results"))


def runs() -> Path:
    """One folder a whole run."""
    return results() / "runs"


def database() -> Path:
    """The SQLite database of all whole runs."""
    return results() / "s80lab.sqlite"

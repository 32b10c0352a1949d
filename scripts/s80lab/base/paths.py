# SPDX-License-Identifier: GPL-2.0-or-later
"""Locations of files: the files that belong to s80lab (ROOT), and the lab folder for everything it writes (HOME).

In a checkout, both are the checkout. An installed s80lab has its files in the package. Its lab folder is $S80LAB_HOME,
else the nearest enclosing folder that `s80lab init` made, else the folder s80lab in the user's data folder. Environment
variables can move parts of the lab, for tests and for clusters.
"""

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = (PACKAGE.parents[1] / "CMakeLists.txt").is_file()
ROOT = PACKAGE.parents[1] if CHECKOUT else PACKAGE / "shipped"
MARK = ".s80lab"
"""Name of the file that marks a folder as a lab."""


def home(environment: str | None, here: Path, checkout: Path | None) -> Path:
    """The lab folder.

    environment: value of $S80LAB_HOME.
    here: the working folder.
    checkout: the checkout from which s80lab runs, or None.
    """
    if environment:
        return Path(environment).absolute()
    if checkout is not None:
        return checkout
    for folder in (here, *here.parents):
        if (folder / MARK).is_file():
            return folder
    return user_data()


def user_data() -> Path:
    """The folder of s80lab in the user's data folder, which all labs and checkouts of the user share."""
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
STUDIES = ROOT / "studies"
LESSONS = ROOT / "docs" / "traces"
PLUGIN = LIB / "libs80lab.so"
SLICES_PLUGIN = LIB / "libs80slices.so"
REPLAY = BIN / "s80-replay"


def short_path(path: Path) -> str:
    """The path for a message: relative to the project or the lab if it lies inside, else absolute."""
    for folder in (ROOT, HOME):
        if path.is_relative_to(folder):
            return str(path.relative_to(folder))
    return str(path)


def own(folder: Path) -> Path:
    """The lab's folder for the user's own files of the same kind. In a checkout it is `folder` itself."""
    return HOME / folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder


def places(folder: Path) -> list[Path]:
    """The folders with files of the same kind as those of the shipped folder, the lab's own folder first. A study has
    a folder of the same name for each kind of file that it adds, for example studies/zvm/machines."""
    studies = sorted(STUDIES.glob(f"*/{folder.name}")) if folder.is_relative_to(ROOT) else []
    return list(dict.fromkeys((own(folder), folder, *studies)))


def checkpoints() -> Path:
    """Folder of checkpoint manifests and blobs ($S80LAB_CHECKPOINTS overrides)."""
    return Path(os.environ.get("S80LAB_CHECKPOINTS", HOME / "checkpoints"))


def captures() -> Path:
    """Folder of capture manifests and blobs ($S80LAB_CAPTURES overrides)."""
    return Path(os.environ.get("S80LAB_CAPTURES", HOME / "captures"))


def qemus() -> Path:
    """Folder of the private QEMUs that s80lab has unpacked for this user ($S80LAB_QEMU_FOLDER overrides)."""
    folder = os.environ.get("S80LAB_QEMU_FOLDER")
    return Path(folder).absolute() if folder else user_data() / "qemu"


def stage() -> Path | None:
    """Folder on the host's own disk for copies of checkpoints and captures ($S80LAB_STAGE); None if none are made."""
    folder = os.environ.get("S80LAB_STAGE")
    return Path(folder).absolute() if folder else None


def results() -> Path:
    """Folder of the run folders and the database ($S80LAB_RESULTS overrides)."""
    return Path(os.environ.get("S80LAB_RESULTS", HOME / "results"))


def runs() -> Path:
    """Folder of the run folders: one per complete run."""
    return results() / "runs"


def database() -> Path:
    """The SQLite database of all complete runs."""
    return results() / "s80lab.sqlite"

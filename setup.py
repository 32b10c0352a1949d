# SPDX-License-Identifier: GPL-2.0-or-later
"""What pyproject.toml cannot say: the package carries the files that a checkout has beside it, and what was built.

In an installed package they lie in s80lab/shipped, in the same order as in a checkout (scripts/s80lab/base/paths.py).
"""

import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
FILES = (
    "configs",
    "disk-images",
    "docs/traces",
    "results/paper",
    "results/reference/filter-error.json",
    "results/reference/paper-scale/runs",
    "results/reference/small/runs",
    "results/schema.sql",
    "workloads/classes.toml",
    "workloads/profiles",
    "workloads/scales",
    "workloads/servers",
)
# Without them the package still proves protocols and reads results; what needs them says that they are missing.
BUILT = (
    "build/bin/s80-jbb.jar",
    "build/bin/s80-loadgen",
    "build/bin/s80-mailstore",
    "build/bin/s80-media",
    "build/bin/s80-probe",
    "build/bin/s80-rtp-server",
    "build/bin/s80-sink",
    "build/bin/s80-webstore",
    "build/bin/s80-page",
    "build/bin/s80-order",
    "build/bin/s80-replay",
    "build/bin/s80-step",
    "build/bin/s80-uw-deliver",
    "build/bin/s80-uw-imapd",
    "build/lib/libs80lab.so",
    "build/lib/libs80turns.so",
)


class Build(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        shipped = Path(self.build_lib) / "s80lab" / "shipped"
        shutil.rmtree(shipped, ignore_errors=True)
        for name in (*FILES, *BUILT):
            source, target = ROOT / name, shipped / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(
                    source, target, ignore=shutil.ignore_patterns("__pycache__", "*.cpp", "*.hpp", "*.java")
                )
            elif source.is_file():
                shutil.copy(source, target)
            elif name not in BUILT:
                raise FileNotFoundError(source)


class Wheel(bdist_wheel):
    """For any Python 3 on this kind of machine."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class Package(Distribution):
    """The programs in it are compiled."""

    def has_ext_modules(self) -> bool:
        return True


setup(
    cmdclass={"build_py": Build, "bdist_wheel": Wheel},
    distclass=Package,
    # build/lib, where setuptools would build, is where the plugin lies.
    options={"build": {"build_base": "build/package"}},
)

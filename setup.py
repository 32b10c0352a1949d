# SPDX-License-Identifier: GPL-2.0-or-later
"""What pyproject.toml cannot say: the package carries the files that a checkout has beside it, and what was built.

In an installed package they lie in s80lab/shipped, in the same order as in a checkout (scripts/s80lab/base/paths.py).
"""

import os
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
    "results/reference/paper-scale.tar.xz",
    "results/reference/small.tar.xz",
    "results/schema.sql",
    "studies",
    "workloads/classes.toml",
    "workloads/profiles",
    "workloads/scales",
    "workloads/servers",
)
# Whatever `make build` has compiled for use. Commands that need a program that the package lacks say so in one sentence
# (scripts/s80lab/base/programs.py).
BUILT = [
    str(file.relative_to(ROOT))
    for folder, name in (("bin", "s80-*"), ("lib", "lib*.so"))
    for file in sorted((ROOT / "build" / folder).glob(name))
]
# `make wheel-any`: a package for any system, without compiled programs.
ANY_SYSTEM = os.environ.get("S80LAB_WHEEL") == "any"


class Build(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        shipped = Path(self.build_lib) / "s80lab" / "shipped"
        shutil.rmtree(shipped, ignore_errors=True)
        for name in FILES if ANY_SYSTEM else (*FILES, *BUILT):
            source, target = ROOT / name, shipped / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(
                    source, target, ignore=shutil.ignore_patterns("__pycache__", "programs", "*.cpp", "*.h", "*.java")
                )
            else:
                shutil.copy(source, target)


class Wheel(bdist_wheel):
    """A wheel for any Python 3: on systems like this one, or on any system."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class Package(Distribution):
    """A package that contains compiled programs, except the package for any system."""

    def has_ext_modules(self) -> bool:
        return not ANY_SYSTEM


setup(
    cmdclass={"build_py": Build, "bdist_wheel": Wheel},
    distclass=Package,
    # build/lib, where setuptools would build, is where the plugin lies.
    options={"build": {"build_base": "build/package"}},
)

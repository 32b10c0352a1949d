# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/guides/extending.md, done as it says in a copy of the tree: every file written, every command run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.lab import LIMIT_S

from s80lab.base import paths

PARTS = ("configs", "docs", "results", "scripts", "src", "studies", "tests", "workloads", "disk-images")
FILES = ("CMakeLists.txt", "README.md", "pyproject.toml")
COMPILED = "s80-step"
"""The program that a section compiles anew."""
SOURCES = ("configs", "disk-images", "scripts", "src", "studies", "workloads")
TOUCHED = {
    "Add a statistic": {
        "src/stats/vocabulary.def",
        "src/memory/private/private.cpp",
        "scripts/s80lab/base/vocabulary.json",
        "scripts/s80lab/results/metrics/cache.py",
    },
    "Add a protocol": {"configs/protocols/mine.toml"},
    "A replacement policy": {"src/cache/replacement/mru.h", "src/cache/replacement.h"},
    "A prefetcher": {"src/memory/prefetch/next_line.h", "src/memory/prefetch/prefetchers.cpp"},
    "An organisation of private caches": {"src/memory/private/single_level.h", "src/memory/private/organisations.h"},
    "A home": {"src/memory/home/two_tiers.h", "src/memory/home/homes.cpp"},
    "A machine key": {"src/machine/latency.h", "src/machine/topology.h"},
    "The default of a machine key": {"src/machine/machine.h"},
    "Compile and try": {"scripts/s80lab/config/machine_keys.json"},
}
"""Source files that an example changes. The list of machine keys is generated once, after all parts of the model."""
BLOCK = re.compile(r"^```(\w+)(?: (as|at the end of) (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


HALVES = """
import json, subprocess
import numpy as np
from s80lab.trace import order as orders, tool
from s80lab.trace.setup import Setup

numbers = np.arange(600)
order = orders.make(numbers % 4, np.where(numbers % 5 == 0, orders.Op.STORE, orders.Op.LOAD), numbers * numbers % 61)
keys = {"processors.count": 4, "home.kind": "two-tiers", "home.near": 2048, "home.extra": 41}
setup = Setup.load("classroom", "moesi", [f"{key}={value}" for key, value in keys.items()])

def steps(part, **more):
    with tool.files(tool.STEP, part, setup.machine) as (trace, machine):
        of = {"order": trace, "machine": machine, "protocol": setup.protocol, "lines": 61, **more}
        words = [tool.STEP, "step", *(f"{key}={value}" for key, value in of.items())]
        lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    return [{**json.loads(line), "n": 0} for line in lines]

whole = steps(order)
halves = steps(order[:300], save="state") + steps(order[300:], state="state")
assert len(whole) == 600 and whole == halves
assert {100, 141} <= {step["stall"] for step in whole}, "one of the two parts of memory services nothing"
"""


@dataclass(frozen=True)
class Section:
    title: str
    text: str

    def parts(self) -> list[Section]:
        """The section in parts: what stands before its first heading, then one part for each heading."""
        first, *others = self.text.split("\n### ")
        return [Section(self.title, first), *(Section(*part.split("\n", 1)) for part in others)]

    def follow(self, tree: Path) -> set[str]:
        """Does what the text says, and returns the source files that this changed. Fails with the output of the first
        command that does."""
        before = source_files(tree)
        for language, how, name, content in BLOCK.findall(self.text):
            if name:
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                with (tree / name).open("a" if how == "at the end of" else "x", encoding="utf-8") as file:
                    file.write(content)
            else:
                assert language == "sh"
                for line in content.splitlines():
                    run(tree, line)
        return {name for name, content in source_files(tree).items() if before.get(name) != content}


def source_files(tree: Path) -> dict[str, bytes]:
    """Contents of all source files: everything that git has, without tests, documentation and results."""
    files = (file for part in SOURCES for file in (tree / part).rglob("*"))
    return {
        str(file.relative_to(tree)): file.read_bytes() for file in files if file.is_file() and file.suffix != ".pyc"
    }


def sections() -> list[Section]:
    text = (paths.ROOT / "docs" / "guides" / "extending.md").read_text(encoding="utf-8")
    return [Section(*part.split("\n", 1)) for part in text.split("\n## ")[1:] if BLOCK.search(part)]


def run(tree: Path, line: str) -> None:
    commands = tree / "commands"
    environment = os.environ | {"PYTHONPATH": str(tree / "scripts"), "PATH": f"{commands}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-ec", line], cwd=tree, env=environment, capture_output=True, text=True, timeout=LIMIT_S
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git has of the tree, the compiled programs of this one, and the two commands."""
    tree = tmp_path_factory.mktemp("tree")
    for part in PARTS:
        runs = shutil.ignore_patterns("__pycache__", "runs", "reports", "agreement", "*.sqlite*", "*.egg-info")
        shutil.copytree(paths.ROOT / part, tree / part, ignore=runs)
    for name in FILES:
        shutil.copy(paths.ROOT / name, tree / name)
    (tree / "build" / "bin").mkdir(parents=True)
    for name in ("lib", "venv"):
        (tree / "build" / name).symlink_to(paths.ROOT / "build" / name)
    for program in (paths.ROOT / "build" / "bin").iterdir():
        if program.name != COMPILED:
            (tree / "build" / "bin" / program.name).symlink_to(program)
    shutil.copy(paths.ROOT / "build" / "bin" / COMPILED, tree / "build" / "bin")
    (tree / "commands").mkdir()
    for name, module in (("s80lab", "s80lab"), ("pytest", "pytest -p no:cacheprovider")):
        command = tree / "commands" / name
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
        command.chmod(0o755)
    return tree


def test_copied_tree_is_the_imported_package(tree: Path) -> None:
    run(tree, f"{sys.executable} -c 'import s80lab; print(s80lab.__file__)' | grep -qF {tree}/")


# Later sections use what earlier ones have made, as a reader would.
@pytest.mark.parametrize("section", sections(), ids=lambda section: section.title)
def test_extending_guide_section_works_as_written(section: Section, tree: Path) -> None:
    changed = {part.title: part.follow(tree) for part in section.parts()}
    expected = {title: files for title, files in TOUCHED.items() if title in changed}
    assert {title: changed[title] for title in expected} == expected


def test_counted_examples_all_stand_in_the_guide() -> None:
    assert set(TOUCHED) <= {part.title for section in sections() for part in section.parts()}


def test_state_of_the_example_home_survives_a_checkpoint(tree: Path) -> None:
    """A trace in two halves, with the model's state in a file between them, has the stalls of the whole trace."""
    (tree / "halves.py").write_text(HALVES)
    run(tree, f"{sys.executable} halves.py")

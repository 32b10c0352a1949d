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

    def follow(self, tree: Path) -> None:
        """Does what the section says; fails with the output of the first command that does."""
        for language, how, name, content in BLOCK.findall(self.text):
            if name:
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                with (tree / name).open("a" if how == "at the end of" else "x", encoding="utf-8") as file:
                    file.write(content)
            else:
                assert language == "sh"
                for line in content.splitlines():
                    run(tree, line)


def part_files(part: str) -> set[str]:
    """The source files of C++ that the example of a part of the model names."""
    (text,) = [section.text for section in sections() if section.title == "Add a part of the modelled machine"]
    (example,) = [one for one in text.split("\n### ") if one.startswith(part)]
    return set(re.findall(r"src/[a-z_/]+\.(?:h|cpp)", "".join("".join(block) for block in BLOCK.findall(example))))


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
    section.follow(tree)


def test_state_of_the_example_home_survives_a_checkpoint(tree: Path) -> None:
    """A trace in two halves, with the model's state in a file between them, has the stalls of the whole trace."""
    (tree / "halves.py").write_text(HALVES)
    run(tree, f"{sys.executable} halves.py")


def test_statistic_touches_two_source_files_and_its_metric_one() -> None:
    (text,) = [section.text for section in sections() if section.title == "Add a statistic"]
    files = {
        file
        for block in BLOCK.findall(text)
        for file in re.findall(r"(?:src|scripts/s80lab)/[a-z0-9_/]+[.]\w+", "".join(block))
    }
    sources = {name for name in files if not name.endswith(".json")}
    assert sources == {
        *("src/stats/vocabulary.def", "src/memory/private/private.cpp"),
        "scripts/s80lab/results/metrics/cache.py",
    }
    assert all((paths.ROOT / name).is_file() for name in files)


@pytest.mark.parametrize(
    "part", ["A replacement policy", "A prefetcher", "An organisation of private caches", "A home"]
)
def test_part_of_the_model_touches_two_files(part: str) -> None:
    """Its own file and the list of names."""
    found = part_files(part)
    assert len(found) == 2 and sum((paths.ROOT / name).is_file() for name in found) == 1


def test_machine_key_touches_two_files() -> None:
    """The declaration, and the code that uses the value."""
    assert part_files("A machine key") == {"src/machine/latency.h", "src/machine/topology.h"}

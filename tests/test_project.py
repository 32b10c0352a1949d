# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tree as a whole promises: one version, a docstring for each package, a licence line in every source."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from s80lab import __version__
from s80lab.base import paths

PACKAGE = paths.ROOT / "scripts" / "s80lab"
PACKAGES = sorted(file.parent for file in PACKAGE.rglob("__init__.py"))
FOLDERS = ("configs", "disk-images", "scripts", "src", "studies", "tests", "workloads")
SUFFIXES = (".py", ".cpp", ".h", ".toml")


def test_version_is_equal_in_package_citation_and_command() -> None:
    cited = re.search(r"^version: (.*)$", (paths.ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited and cited[1] == __version__
    said = subprocess.run([sys.executable, "-m", "s80lab", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"s80lab {__version__}\n"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: str(package.relative_to(PACKAGE)))
def test_packages_have_a_docstring(package: Path) -> None:
    assert len(ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or "") > 40


def test_package_root_has_at_most_18_entries() -> None:
    assert len([entry for entry in PACKAGE.iterdir() if entry.name != "__pycache__"]) <= 18


def test_sources_all_have_a_licence_line() -> None:
    files = [file for folder in FOLDERS for file in (paths.ROOT / folder).rglob("*") if file.suffix in SUFFIXES]
    sources = [file for file in files if "data" not in file.parts and "found" not in file.parts]
    assert len(sources) > 400
    assert [file for file in sources if "SPDX-License-Identifier" not in file.read_text()[:400]] == []


def test_tests_name_no_path_that_a_host_may_have() -> None:
    """A path below /dev/null exists on no machine; `/nowhere` does on some, and a test would then write into it."""
    files = [file for file in (paths.ROOT / "tests").rglob("*") if file.suffix in (".cpp", ".h", ".py")]
    named = re.compile(r"/(?:nowhere|nonexistent)\b")
    # The kernel arguments of a guest name a path of the guest.
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if "rdinit=" not in line]
    assert len(files) > 300
    assert [line for line in lines if named.search(line) and "named = " not in line and "`/nowhere`" not in line] == []

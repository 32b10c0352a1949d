# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tree as a whole promises: one version, a docstring for every package, a licence line in every source. Lists
that are kept by hand beside the place that decides name the same things as that place."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
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


BUILD_FOLDER = paths.BUILD / "cmake"


def text(name: str) -> str:
    return (paths.ROOT / name).read_text(encoding="utf-8")


def tracked(pattern: str) -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "--", pattern], cwd=paths.ROOT, capture_output=True, text=True, check=True
    )
    return listing.stdout.splitlines()


def names(words: str) -> set[str]:
    """The names in a list such as \"`a`, b and c\"."""
    return set(re.split(r", | and ", words.replace("`", "")))


def canonical(package: str) -> str:
    """The name of a Python package as pip compares it (PyPA specification of names)."""
    return re.sub(r"[-_.]+", "-", package).lower()


def sources(root: Path, target: str) -> set[str]:
    """What scripts/build compiles for a target on a machine without cmake."""
    listing = subprocess.run([root / "scripts/build", "sources", target], capture_output=True, text=True, check=True)
    return set(listing.stdout.split())


def test_sources_of_the_lesson_are_those_of_the_build_system() -> None:
    listing = subprocess.run(
        ["ninja", "-C", str(BUILD_FOLDER), "-t", "inputs", "s80-step"], capture_output=True, text=True, check=True
    )
    known = {str(Path(name).relative_to(paths.ROOT)) for name in listing.stdout.splitlines() if name.endswith(".cpp")}
    assert len(known) > 15
    assert sources(paths.ROOT, "s80-step") == known


def test_sources_of_the_lesson_follow_the_list_of_cmake(tmp_path: Path) -> None:
    """A source that is added to the program or to a library that the program links is compiled, a comment is not."""
    for name in ("scripts/build", "src/CMakeLists.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(paths.ROOT / name, tmp_path / name)
    before = sources(tmp_path, "s80-step")
    file = tmp_path / "src" / "CMakeLists.txt"
    for name, old in (("warm", "add_executable(s80-step"), ("memory", "add_library(s80memory STATIC")):
        content = file.read_text()
        assert len(re.findall(rf"{re.escape(old)}\b", content)) == 1
        file.write_text(content.replace(f"{old} ", f"{old} {name}/added_{name}.cpp # (not_{name}.cpp)\n"))
    assert sources(tmp_path, "s80-step") == before | {"src/warm/added_warm.cpp", "src/memory/added_memory.cpp"}


def test_folders_with_a_cmake_list_are_built() -> None:
    """The root's list of folders, and those that a listed folder adds. workloads/CMakeLists.txt is for Buildroot."""
    folders = [str(Path(name).parent) for name in tracked("*CMakeLists.txt") if name != "workloads/CMakeLists.txt"]
    assert len(folders) > 12
    # The fuzzers need clang (make fuzz), the benchmarks and the reference servers what Debian may lack.
    assert [name for name in folders if not (BUILD_FOLDER / name / "cmake_install.cmake").exists()] == []


def test_sources_of_model_and_plugin_are_compiled() -> None:
    commands = json.loads((BUILD_FOLDER / "compile_commands.json").read_text())
    compiled = {
        str(Path(command["file"]).relative_to(paths.ROOT))
        for command in commands
        if paths.ROOT in Path(command["file"]).parents
    }
    assert [name for name in tracked("src/*.cpp") if name not in compiled] == []


@pytest.mark.parametrize(
    ("page", "pattern"),
    [
        ("README.md", r"You need Debian's (.*), no root\."),
        ("CONTRIBUTING.md", r"It needs (`python3-venv`.*), but no guest and no root"),
        ("Makefile", r"# It needs (python3-venv.*), no guest and no root\."),
    ],
)
def test_packages_of_the_lesson_are_named_alike(page: str, pattern: str) -> None:
    """`make` itself is for the reader to install: scripts/packages is called by make."""
    listed = re.search(r"^lesson\) wanted=\$\(printf '%s\\n' (.*)\) ;;$", text("scripts/packages"), re.MULTILINE)
    named = re.search(pattern, text(page))
    assert listed and named
    assert names(named[1]) == {*listed[1].split(), "make"}


def test_layers_are_named_in_their_order() -> None:
    (contract,) = tomllib.loads(text("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = [name for layer in contract["layers"] for name in layer.split(" | ")]
    named = re.search(
        r"The layers of `scripts/s80lab` are, from the top: (.*?)\. A package", text("CONTRIBUTING.md"), re.DOTALL
    )
    assert named and re.findall(r"`(\w+)`", named[1]) == layers


def test_make_targets_that_contributing_names_exist() -> None:
    rows = set(re.findall(r"^\| `make ([a-z-]+)`", text("CONTRIBUTING.md"), re.MULTILINE))
    assert len(rows) > 5
    assert rows <= set(re.findall(r"^([a-z-]+):.* ## ", text("Makefile"), re.MULTILINE))


def test_scripts_all_have_a_row_in_the_readme() -> None:
    files = {Path(name).parts[1] for name in tracked("scripts/*")} - {"README.md", "s80lab"}
    rows = re.findall(r"^\| (`.*?`) \|", text("scripts/README.md"), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([^`]+)`", row)} - {"s80lab/"} == files


def test_links_of_documents_lead_to_files_in_git() -> None:
    files = {paths.ROOT / name for name in tracked(".")}
    known = files | {folder for file in files for folder in file.parents}
    links = [
        (name, link)
        for name in tracked("*.md")
        for link in re.findall(r"\]\((?![a-z]+:|#)([^)#\s]+)", re.sub(r"`[^`]*`", "", text(name)))
    ]
    assert len(links) > 500
    targets = [(name, link, Path(os.path.normpath((paths.ROOT / name).parent / link))) for name, link in links]
    assert [(name, link) for name, link, target in targets if target not in known] == []


@pytest.mark.parametrize(
    ("lock", "extras"),
    [
        ("requirements.lock", ["", "build"]),
        ("requirements-analysis.lock", ["analysis"]),
        ("requirements-docs.lock", ["docs"]),
        ("requirements-dev.lock", ["dev"]),
    ],
)
def test_dependencies_are_locked(lock: str, extras: list[str]) -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    wanted = {re.split(r"[<>=!~\[ ]", name)[0] for extra in extras for name in groups[extra]}
    locked = re.findall(r"^([\w.-]+)==", text(lock), re.MULTILINE)
    assert set(map(canonical, wanted)) <= set(map(canonical, locked))


def test_compiled_programs_match_the_names_packed_in_the_wheel() -> None:
    listing = subprocess.run(
        ["ninja", "-C", str(BUILD_FOLDER), "-t", "query", "programs"], capture_output=True, text=True, check=True
    )
    folders = (paths.BUILD / "bin", paths.BUILD / "lib")
    built = {file for file in map(Path, listing.stdout.split()) if file.parent in folders}
    assert paths.BUILD / "bin" / "s80-loadgen" in built
    assert [file for file in built if not re.fullmatch(r"s80-.*|lib.*\.so", file.name)] == []

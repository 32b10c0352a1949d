# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of examples/ have the counts that examples/README.md shows. The published cases of false sharing also
have the names of the page, and none when padded. Programs in other languages have names of fields and objects."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.exec.conftest import Exec

from s80lab.base import paths

EXAMPLES = paths.ROOT / "examples"
THREADS = 4
_ROW = re.compile(r"^\| \[(\w+)\.c\]\(\1\.c\)[^|]*\| (fixed|free|-) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
TABLE = {row[0]: row[1:] for row in _ROW.findall((EXAMPLES / "README.md").read_text(encoding="utf-8"))}
TOLERANCE = {"fixed": 0.01, "free": 0.05, "-": 0}


def test_examples_all_have_a_row_in_the_readme() -> None:
    assert set(TABLE) == {path.stem for path in EXAMPLES.glob("*.c")}


def _value(text: str) -> int:
    """`n + 1` for THREADS threads."""
    first, sign, second = re.fullmatch(r"(n|\d+)(?: ([+-]) (\d+))?", text).groups()  # type: ignore[union-attr]
    value = THREADS if first == "n" else int(first)
    return value + int(f"{sign or '+'}{second or 0}")


@pytest.mark.guest
@pytest.mark.parametrize("name", TABLE)
def test_example_has_the_counts_of_its_row(name: str, execute: Exec, tmp_path: Path) -> None:
    order, transfers, upgrades, moved = TABLE[name]
    source = EXAMPLES / f"{name}.c"
    subprocess.run(["gcc", "-g", "-O2", "-pthread", "-Wall", "-Werror", "-o", tmp_path / name, source], check=True)
    ran = execute("--markers", "--per", "operation", "--json", "report.json", "--", f"./{name}", str(THREADS))
    assert ran.code == 0, ran.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    user = report["counts"]["user"]
    from_caches = (user["l2_misses"] - user["misses"]["memory"]) / report["calls"]
    tolerance = TOLERANCE[order]
    assert from_caches == pytest.approx(_value(transfers), rel=tolerance, abs=0.005)
    assert user["upgrades"] / report["calls"] == pytest.approx(_value(upgrades), rel=tolerance, abs=0.005)
    line = report["contention"]["lines"][0]
    names = {access["data"] for access in line["accesses"] if access["loads"] + access["upgrades"] > 100}
    variables = [text.partition("[")[0] for text in re.findall(r"`([\w\[\].]+)`", moved)]
    if variables:
        assert names and all(one.startswith(tuple(variables)) for one in names)
    assert (line["kind"] == "false sharing") == ("false sharing" in moved) or not variables


CASES = paths.ROOT / "examples/published"
_PUBLISHED_ROW = re.compile(
    r"^\| \[?(\w+)\.c\S* ?[^|]*\| (-O\d[^|]*) \| ([\d,]+) \| ([\d,]+) \| (?:`([^`]+)`|none)[^|]*\|$", re.MULTILINE
)
PUBLISHED = _PUBLISHED_ROW.findall((paths.ROOT / "examples/README.md").read_text(encoding="utf-8"))
NAMED = {row[0]: row[4].split("[")[0] for row in PUBLISHED if row[4]}
PUBLISHED_TOLERANCE = 0.1
"""The order is free, and another compiler gives other instructions."""
FEW = 20
"""Transfers of a line before and after the loop."""


def test_published_cases_have_rows_with_and_without_padding() -> None:
    padded = {row[0] for row in PUBLISHED if "-DPADDED" in row[1]}
    assert padded == NAMED.keys() == {path.stem for path in CASES.glob("*.c")}


@pytest.mark.guest
@pytest.mark.parametrize(("case", "options", "transfers", "upgrades", "named"), PUBLISHED)
def test_case_has_the_counts_of_its_row(
    case: str, options: str, transfers: str, upgrades: str, named: str, execute: Exec, tmp_path: Path
) -> None:
    command = ["gcc", "-g", *options.split(), "-pthread", "-Wall", "-Werror", "-o", str(tmp_path / case)]
    subprocess.run([*command, CASES / f"{case}.c"], check=True)
    ran = execute("--markers", "--json", "report.json", "--", f"./{case}")
    assert ran.code == 0, ran.stderr
    lines = json.loads((tmp_path / "report.json").read_text())["contention"]["lines"]
    own = [line for line in lines if any(NAMED[case] in access["data"] for access in line["accesses"])]
    if not named:
        assert all(line["transfers"] < FEW and line["upgrades"] < FEW for line in own)
        return
    moved = [line for line in own if line["transfers"] >= FEW]
    assert {line["kind"] for line in moved} == {"false sharing"}
    assert sum(line["transfers"] for line in moved) == pytest.approx(_number(transfers), rel=PUBLISHED_TOLERANCE)
    assert sum(line["upgrades"] for line in moved) == pytest.approx(_number(upgrades), rel=PUBLISHED_TOLERANCE)
    assert f"{NAMED[case]}" in ran.stderr.partition("advice:")[2]


def _number(text: str) -> int:
    return int(text.replace(",", ""))


SOURCES = paths.ROOT / "examples/languages"


def _needs(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed, so no program in its language can be compiled")
    return path


def _moved(execute: Exec, folder: Path, *words: str) -> list[set[str]]:
    """The data of each line that more than 10,000 transfers moved, all of it false sharing."""
    ran = execute("--markers", "--json", "report.json", *words)
    assert ran.code == 0, ran.stderr
    lines = json.loads((folder / "report.json").read_text())["contention"]["lines"]
    moved = [line for line in lines if line["transfers"] > 10_000]
    assert {line["kind"] for line in moved} == {"false sharing"}
    return [{one["data"] for one in line["accesses"] if one["loads"] + one["upgrades"] > 1000} for line in moved]


@pytest.mark.guest
def test_fields_and_objects_of_rust_are_named(execute: Exec, tmp_path: Path) -> None:
    subprocess.run([_needs("rustc"), "-g", "-O", SOURCES / "counter.rs", "-o", tmp_path / "counter"], check=True)
    line = next(
        n for n, text in enumerate((SOURCES / "counter.rs").read_text().splitlines(), 1) if "let shared" in text
    )
    static, heap = sorted(_moved(execute, tmp_path, "--", "./counter"), key=lambda names: "object" in min(names))
    assert static == {"counter::TOTALS.reads.v.value", "counter::TOTALS.writes.v.value"}
    made = f"counter.rs:{line}"
    assert {name.rpartition("/")[2] for name in heap} == {f"{made}+0x10", f"{made}+0x18"}


@pytest.mark.guest
def test_fields_of_go_are_named(execute: Exec, tmp_path: Path) -> None:
    build = [_needs("go"), "build", "-buildvcs=false", "-o", str(tmp_path / "counter"), "."]
    subprocess.run(build, cwd=SOURCES / "go", check=True)
    (names,) = _moved(execute, tmp_path, "--", "./counter")
    assert names == {"main.totals.reads", "main.totals.writes"}


@pytest.mark.guest
def test_markers_of_python_begin_and_end_the_region(execute: Exec, tmp_path: Path) -> None:
    if not Path("/usr/bin/python3").is_file() or shutil.which("dpkg-query") is None:
        pytest.skip("/usr/bin/python3 is of no Debian package")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "libmarkers.so", SOURCES / "markers.c"], check=True)
    shutil.copy(SOURCES / "counter.py", tmp_path)
    added = ("--add", "counter.py", "--add", "libmarkers.so")
    (names,) = _moved(execute, tmp_path, *added, "--", "/usr/bin/python3", "counter.py")
    assert len(names) == 1 and min(names).startswith("pym-")  # the file of the shared memory

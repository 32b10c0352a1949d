# SPDX-License-Identifier: GPL-2.0-or-later
"""The published cases of false sharing have the counts and names of examples/README.md; padded, they have none."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from tests.exec.conftest import Exec

from s80lab.base import paths

CASES = paths.ROOT / "examples/published"
_ROW = re.compile(
    r"^\| \[?(\w+)\.c\S* ?[^|]*\| (-O\d[^|]*) \| ([\d,]+) \| ([\d,]+) \| (?:`([^`]+)`|none)[^|]*\|$", re.MULTILINE
)
TABLE = _ROW.findall((paths.ROOT / "examples/README.md").read_text(encoding="utf-8"))
NAMED = {row[0]: row[4].split("[")[0] for row in TABLE if row[4]}
TOLERANCE = 0.1
"""The order is free, and another compiler gives other instructions."""
FEW = 20
"""Transfers of a line before and after the loop."""


def test_every_case_has_a_row_with_and_without_its_remedy() -> None:
    padded = {row[0] for row in TABLE if "-DPADDED" in row[1]}
    assert padded == NAMED.keys() == {path.stem for path in CASES.glob("*.c")}


@pytest.mark.guest
@pytest.mark.parametrize(("case", "options", "transfers", "upgrades", "named"), TABLE)
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
    assert sum(line["transfers"] for line in moved) == pytest.approx(_number(transfers), rel=TOLERANCE)
    assert sum(line["upgrades"] for line in moved) == pytest.approx(_number(upgrades), rel=TOLERANCE)
    assert f"{NAMED[case]}" in ran.stderr.partition("advice:")[2]


def _number(text: str) -> int:
    return int(text.replace(",", ""))

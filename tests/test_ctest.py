# SPDX-License-Identifier: GPL-2.0-or-later
"""The C++ tests, one pytest test for each that CTest knows, so that pytest's last line counts everything."""

from __future__ import annotations

import json
import os
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from s80lab.base import paths

FOLDER = paths.BUILD / "cmake"


def names() -> list[str]:
    command = ["ctest", "--test-dir", str(FOLDER), "--show-only=json-v1"]
    listing = subprocess.run(command, capture_output=True, text=True)
    return [test["name"] for test in json.loads(listing.stdout)["tests"]] if listing.returncode == 0 else []


@pytest.fixture(scope="session")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """(status, output) of every C++ test by name; they run once, all together, and CTest ends one that hangs. `run` is
    its word for passed."""
    report: Path = tmp_path_factory.mktemp("ctest") / "report.xml"
    # The cores that other processes of pytest leave to this one.
    cores = len(os.sched_getaffinity(0)) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    command = ["ctest", "--test-dir", str(FOLDER), "--parallel", str(max(1, cores)), "--output-junit", str(report)]
    subprocess.run(command, capture_output=True)
    cases = ElementTree.parse(report).iter("testcase")
    return {case.attrib["name"]: (case.attrib["status"], case.findtext("system-out", "")) for case in cases}


def test_ctest_knows_cpp_tests() -> None:
    assert names(), f"{FOLDER} knows no tests: run `make build`"


@pytest.mark.parametrize("name", names())
def test_cpp_test_passes(name: str, verdicts: dict[str, tuple[str, str]]) -> None:
    status, output = verdicts[name]
    assert status == "run", output

# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of `--html` and the stacks for speedscope: they show what the report says."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.exec.conftest import Exec
from tests.report.audit import faults

pytestmark = pytest.mark.guest

SHARED = """
#include <pthread.h>
struct totals { long good, bad; } totals;
__attribute__((noinline)) static void add(long* to) { __atomic_fetch_add(to, 1, __ATOMIC_RELAXED); }
static void* work(void* to) {
    for (int n = 0; n < 30000; ++n) add(to);
    return 0;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, &totals.good);
    pthread_create(&two, 0, work, &totals.bad);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"""


def _row(page: str, label: str) -> list[str]:
    """The cells of the page's first row with this label."""
    found = re.search(rf'<th scope="row"[^>]*>{re.escape(label)}</th>(.*?)</tr>', page, re.DOTALL)
    assert found is not None, label
    return re.findall(r">([^<>]+)</span>", found[1])


def test_page_shows_the_numbers_of_the_report(execute: Exec, compiled: Callable[..., Path], tmp_path: Path) -> None:
    program = compiled(SHARED, "-g", "-O2")
    ran = execute("--per", "add", "--html", "page.html", "--json", "out.json", "--", str(program))
    assert ran.code == 0, ran.stderr
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    report: dict[str, Any] = json.loads((tmp_path / "out.json").read_text())
    assert faults(page) == []
    sides = [report["counts"][side] for side in ("all", "user", "kernel")]
    assert _row(page, "instructions") == [f"{side['instructions']:,}" for side in sides]
    assert _row(page, "L2 misses from a cache in M") == [f"{side['misses']['M']:,}" for side in sides]
    assert "For each of 60,000 calls of add" in page
    for part in ("totals.good", "totals.bad", "false sharing", "misses from other caches", "desktop-8"):
        assert part in page
    # The core-to-core matrix counts every transfer once.
    assert sum(map(sum, report["contention"]["supply"])) == report["contention"]["transfers"]
    for line in report["contention"]["lines"]:
        assert sum(sum(one["states"].values()) for one in line["accesses"]) == line["transfers"]
    assert str(tmp_path) not in page.replace(str(program), "")
    with closing(sqlite3.connect(execute.result() / "boot-1-seed-1" / "misses.sqlite")) as database:
        rows = database.execute(
            "SELECT data, sum(reads + writes), sum(upgrades) FROM v_access GROUP BY data"
        ).fetchall()
    for field in ("totals.good", "totals.bad"):
        accesses = [one for line in report["contention"]["lines"] for one in line["accesses"] if one["data"] == field]
        transfers = sum(one["loads"] + one["stores"] for one in accesses)
        assert (field, transfers, sum(one["upgrades"] for one in accesses)) in rows


def test_stacks_have_all_stall_cycles(execute: Exec, compiled: Callable[..., Path], tmp_path: Path) -> None:
    program = compiled(SHARED, "-g", "-O2")
    assert execute("--json", "out.json", "--", str(program)).code == 0
    report: dict[str, Any] = json.loads((tmp_path / "out.json").read_text())
    text = (execute.result() / "boot-1-seed-1" / "stalls.collapsed").read_text()
    by_function: Counter[str] = Counter()
    for line in text.splitlines():
        stack, _, cycles = line.rpartition(" ")
        process, function, _ = stack.split(";")
        assert process
        by_function[function] += int(cycles)
    for one in report["contention"]["functions"]:
        assert by_function[one["name"]] == one["stall_cycles"]

# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON of stepped traces (docs/reference/interfaces/steps.md): its size, and the complete state on request."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.trace.routes import random_trace, run

from s80lab.base import paths
from s80lab.trace import source, tool
from s80lab.trace.source import Wanted

PAGE = paths.ROOT / "docs" / "reference" / "interfaces" / "steps.md"


def told(trace: Path, *options: str) -> dict[str, Any]:
    """What `trace step --json` prints."""
    code, said = run("step", str(trace), "--json", *options)
    assert code == 0, said
    record: dict[str, Any] = json.loads(said)
    return record


def grown(folder: Path, accesses: int) -> Path:
    """Accesses to as many lines, in an L2 of 4 MiB."""
    trace = folder / f"{accesses}.trace"
    lines = (f"{number % 4} {('load', 'store')[number % 3 == 0]} {number * 64:#x}\n" for number in range(accesses))
    trace.write_text("# machine: classroom\n# set: l2.size=4MiB l2.ways=16\n" + "".join(lines))
    return trace


def test_size_and_steps_grow_in_proportion_to_the_accesses(tmp_path: Path) -> None:
    sizes = []
    for accesses in (500, 2000):
        said = run("step", str(grown(tmp_path, accesses)), "--json", "--count", str(accesses))[1]
        sizes.append(len(said))
        steps = json.loads(said)["steps"]
        assert max(len(one["changes"]) + len(one["copies"]) for one in steps) <= 8
    assert sizes[1] < 4.4 * sizes[0]
    assert sizes[1] < 2000 * 2000


@pytest.mark.parametrize("seed", range(6))
def test_changes_add_up_to_the_complete_state(seed: int, tmp_path: Path) -> None:
    trace = tmp_path / "random.trace"
    trace.write_text(random_trace(seed))
    complete = told(trace, "--complete")["steps"]
    caches: dict[tuple[int, int], Any] = {}
    memory: dict[int, int] = {}
    for one, whole in zip(told(trace)["steps"], complete, strict=True):
        assert "caches" not in one and "memory" not in one
        before = {(was["core"], was["line"]): was["state"] for was in one["was"]}
        assert {place: caches[place]["state"] if place in caches else "I" for place in before} == before
        for change in one["changes"]:
            place = change["core"], change["line"]
            caches.pop(place, None)
            if change["where"]:
                caches[place] = change
        memory |= {item["line"]: item["value"] for item in one["written"]}
        assert {(item["core"], item["line"]): item for item in whole["caches"]} == caches
        assert {item["line"]: item["value"] for item in whole["memory"]} == memory
        assert one["in_memory"] == memory.get(one["line"], 0)
        mine = {core: spot for (core, line), spot in caches.items() if line == one["line"]}
        copies = [{key: value for key, value in spot.items() if key != "line"} for _, spot in sorted(mine.items())]
        assert one["copies"] == copies


def test_page_names_every_key(tmp_path: Path) -> None:
    named = set(re.findall(r"`(\w+)`", PAGE.read_text(encoding="utf-8")))
    record = told(grown(tmp_path, 5), "--complete")
    keys = {*record, *record["steps"][0]}
    loaded = source.load(grown(tmp_path, 5), Wanted())
    assert keys | set(next(tool.steps(loaded.order, loaded.setup))) <= named

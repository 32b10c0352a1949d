# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab metrics`: the list for a terminal, single metrics, and names that do not exist."""

from __future__ import annotations

import json
import os

from tests.forked import call

from s80lab.results.metrics.derive import REGISTRY


def said(*arguments: str, code: int = 0) -> str:
    done = call(("metrics", *arguments), dict(os.environ), 60)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_list_has_each_metric_with_unit_and_meaning_and_no_markdown() -> None:
    lines = said().splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(REGISTRY)
    assert "l2_mpki (misses per 1000 instructions)" in lines
    assert "|" not in "".join(lines)


def test_flattened_name_shows_the_metric_with_its_formula() -> None:
    text = said("cpi.memory")
    assert text.startswith("cpi (cycles per instruction)\n") and "\n    = busy_cycles / instructions" in text


def test_part_of_a_name_shows_all_metrics_with_it() -> None:
    assert {one["name"] for one in json.loads(said("queue_", "--json"))} == {"queue_utilisation", "queue_wait"}


def test_unknown_name_is_answered_with_the_nearest() -> None:
    assert "there is no metric `l2_mpkj`: did you mean l2_mpki?" in said("l2_mpkj", code=2)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the mail transport's queue: there where it was counted, and nothing of them where it was not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from s80lab.results.metrics.derive import stats
from s80lab.results.snapshots import Snapshots

QUEUE = {"looks": 21, "mean": 4.5, "begin": 2, "end": 9, "accepted": 60, "delivered": 50, "put_off": 3, "refused": 1}


def content(run_dir: Path, load: dict[str, Any] | None, *, mail_may_wait: bool = False) -> dict[str, Any]:
    return stats(Snapshots.read(run_dir / "snapshots.jsonl"), load, {}, None, mail_may_wait=mail_may_wait)


def metrics(run_dir: Path, load: dict[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = content(run_dir, load)["metrics"]
    return {name: value for name, value in found.items() if name.startswith("mail_")}


def test_the_queue_is_told_by_its_length(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    found = metrics(run_dir, load | {"mail_queue": QUEUE})
    told = {"mail_queue.mean": 4.5, "mail_queue.begin": 2, "mail_queue.end": 9, "mail_put_off": 4}
    assert found == told
    found = metrics(run_dir, load | {"mail_queue": QUEUE | {"accepted_in_region": 12}})
    assert found == told | {"mail_queue.accepted": 12}


def test_what_it_put_off_makes_the_run_no_result(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    before = content(run_dir, load)["standing"]["reasons"]
    good = QUEUE | {"put_off": 0, "refused": 0}
    assert content(run_dir, load | {"mail_queue": good})["standing"]["reasons"] == before
    reason = "the mail transport postponed or refused 4 deliveries"
    assert content(run_dir, load | {"mail_queue": QUEUE})["standing"]["reasons"] == (*before, reason)


def test_a_queue_that_grows_makes_the_run_no_result_unless_it_may(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    queue = QUEUE | {"put_off": 0, "refused": 0, "accepted_in_region": 16}
    before = content(run_dir, load | {"mail_queue": queue})["standing"]["reasons"]
    grown = load | {"mail_queue": queue | {"end": 14}}
    reason = "the mail queue grew by 12 envelopes in the region, while 16 were accepted"
    assert content(run_dir, grown)["standing"]["reasons"] == (*before, reason)
    assert content(run_dir, grown, mail_may_wait=True)["standing"]["reasons"] == before


def test_other_loads_and_replays_have_no_value_of_it(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    assert metrics(run_dir, load) == {}
    assert all(value is None for value in metrics(run_dir, None).values())

# SPDX-License-Identifier: GPL-2.0-or-later
"""The load generator, as it is, against s80-uw-imapd: both mixes, and every type of transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.loadgen.conftest import Outcome, collect, launch
from tests.servers.uw.uw_server import USERS, UwServer

from s80lab.config.mix import Workload
from s80lab.config.workload import Imap, expected_mix, job_text, load_workload

NO_ERRORS = {"protocol": 0, "connection": 0, "missing": 0, "smtp": 0}


def run(system: UwServer, folder: Path, workload: Workload, **settings: Any) -> Outcome:
    values = {"clients": USERS, "users": USERS, "seed": 1, "think_ms": 40, "warmup_s": 1, "measure_s": 4, **settings}
    job = folder / "job"
    job.write_text(job_text(workload, **values))
    return collect(launch(job, "--imap", f"127.0.0.1:{system.imap}", "--smtp", f"127.0.0.1:{system.smtp}"))


def good_result(outcome: Outcome) -> dict[str, Any]:
    result = outcome.one("result")
    assert (result["errors"], result["first_error"], outcome.code) == (NO_ERRORS, "", 0)
    assert result["lost_flags"] == 0
    assert result["move"] == "COPY+STORE+EXPUNGE"
    assert all(counts["failed"] == 0 for counts in result["transactions"].values())
    return result


@pytest.mark.parametrize("mix", ["imapb", "imape"])
def test_both_mixes_without_an_error(mix: str, mail_system: UwServer, tmp_path: Path) -> None:
    workload = load_workload(mix).model_copy(update={"incoming_per_s": 2.0})
    result = good_result(run(mail_system, tmp_path, workload))
    for name, share in expected_mix(load_workload(mix)).items():
        assert result["transactions"][name]["count"] > 0 or share * result["totals"]["count"] < 5, name
    assert result["incoming"]["messages"] > 0


def test_every_type_of_transaction_is_good(mail_system: UwServer, tmp_path: Path) -> None:
    """All ten equally often, so that none is missing by chance."""
    equally = dict.fromkeys(Imap.WHAT, 10.0)
    workload = load_workload("imape").model_copy(update={"driver": "independent", "mix_percent": equally})
    result = good_result(run(mail_system, tmp_path, workload))
    assert {name: counts["count"] > 0 for name, counts in result["transactions"].items()} == dict.fromkeys(
        Imap.WHAT, True
    )

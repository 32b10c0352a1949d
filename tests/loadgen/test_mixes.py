# SPDX-License-Identifier: GPL-2.0-or-later
"""Both mixes against a real Dovecot and a real OpenSMTPD, on the host."""

from __future__ import annotations

from typing import Any

import pytest
from tests.loadgen.conftest import USERS, Runner

from s80lab.config.mix import Workload
from s80lab.config.workload import Imap, expected_mix, job_text, load_workload

NO_ERRORS = {"protocol": 0, "connection": 0, "missing": 0, "smtp": 0}


def profile(name: str, **changes: Any) -> Workload:
    return load_workload(name).model_copy(update={"incoming_per_s": 2.0, **changes})


def job(workload: Workload, seed: int = 1, think_ms: float = 40, clients: int = USERS, measure_s: float = 4) -> str:
    return job_text(
        workload, clients=clients, users=USERS, seed=seed, think_ms=think_ms, warmup_s=1, measure_s=measure_s
    )


@pytest.mark.parametrize("mix", ["imapb", "imape"])
def test_imap_mixes_execute_all_transaction_types_without_error(mix: str, run_load: Runner) -> None:
    outcome = run_load(job(profile(mix)))
    result = outcome.one("result")
    assert (result["errors"], result["first_error"], outcome.code) == (NO_ERRORS, "", 0)
    types = result["transactions"]
    assert list(types) == list(Imap.WHAT)
    for name, share in expected_mix(load_workload(mix)).items():
        expected = share * result["totals"]["count"]
        assert types[name]["count"] > 0 or expected < 5, name
        assert types[name]["failed"] == 0
        drawn = types[name]["count"] + types[name]["substituted"]
        assert drawn > expected / 2 - 5, name
    assert result["incoming"]["messages"] > 0
    assert result["clock"] == "host"


@pytest.mark.parametrize("mix", ["imapb", "imape"])
@pytest.mark.parametrize("move", ["move", "copy"])
def test_independent_draws_of_table_1(mix: str, move: str, run_load: Runner) -> None:
    outcome = run_load(job(profile(mix, driver="independent", move=move)))
    result = outcome.one("result")
    assert (result["errors"], outcome.code) == (NO_ERRORS, 0), result["first_error"]
    assert result["move"] == {"move": "MOVE", "copy": "COPY+STORE+EXPUNGE"}[move]
    count = result["totals"]["count"]
    for name, share in expected_mix(profile(mix, driver="independent")).items():
        counts = result["transactions"][name]
        executed = counts["count"] + counts["substituted"]
        assert executed >= share * count * 0.6 - 5, name


@pytest.mark.parametrize("headers", ["each", 7, 100_000])
def test_headers_come_in_a_series_too(headers: str | int, run_load: Runner) -> None:
    """Opening mailboxes alone: as many headers, by more commands."""
    selecting = dict.fromkeys(Imap.WHAT, 0.0) | {"SELT": 100.0}
    changes = {"driver": "independent", "mix_percent": selecting, "incoming_per_s": 0.0}
    sizes = {}
    for how in ("range", headers):
        outcome = run_load(job(profile("imapb", header_fetch=how, **changes), measure_s=2))
        result = outcome.one("result")
        assert (result["errors"], outcome.code) == (NO_ERRORS, 0), result["first_error"]
        select = result["transactions"]["SELT"]
        assert select["count"] > 0
        sizes[how] = select["bytes_out"] / select["count"]
    messages = 20  # in each mailbox of the store
    commands = {"each": messages, 7: 3}.get(headers, 1)
    assert (commands - 1) * 40 <= sizes[headers] - sizes["range"] <= (commands - 1) * 60 + 5


def test_latencies_are_consistent(run_load: Runner) -> None:
    result = run_load(job(profile("imapb"))).one("result")
    for name, counts in result["transactions"].items():
        latency = counts["latency_ns"]
        order = [latency[key] for key in ("p50", "p90", "p95", "p99", "max")]
        assert order == sorted(order), name
        assert sum(count for _, count in counts["histogram"]) == counts["count"]
        assert abs(counts["started"] - counts["count"]) <= USERS


@pytest.mark.parametrize("think_ms", [50.0, 5.0])
def test_interactive_law_holds_on_the_host(think_ms: float, run_load: Runner) -> None:
    """clients = clients in service + throughput x think; the first are throughput x response, but for what the region's
    ends cut off (a busy host takes seconds for some)."""
    totals = run_load(job(profile("imapb"), think_ms=think_ms)).one("result")["totals"]
    per_ns = totals["throughput_per_s"] / 1e9
    assert totals["in_flight_mean"] + per_ns * totals["think_ns_mean"] == pytest.approx(USERS, rel=0.05)
    assert totals["in_flight_mean"] == pytest.approx(per_ns * totals["response_ns_mean"], rel=0.2, abs=0.2)


def draws(run_load: Runner, seed: int) -> list[str]:
    """What a client drew that comes alone: the order of several is their host's."""
    events = run_load(job(profile("imape"), seed=seed, clients=1, think_ms=5, measure_s=2), "--trace").all(
        "transaction"
    )
    return [event["drawn"] for event in events]


def test_seed_determines_the_drawn_transactions(run_load: Runner) -> None:
    first, again, other = draws(run_load, 1), draws(run_load, 1), draws(run_load, 2)
    common = min(len(first), len(again))
    assert common > 20
    assert first[:common] == again[:common]
    assert first[:20] != other[:20]


def test_thresholds_hold_and_substitutions_are_counted(run_load: Runner) -> None:
    """With a single number of mailboxes allowed, CRTE and DELT cannot both run."""
    workload = load_workload("imape")
    assert isinstance(workload, Imap)
    bounds = workload.thresholds.model_copy(update={"mailboxes_min": 5, "mailboxes_max": 5})
    outcome = run_load(job(profile("imape", thresholds=bounds), measure_s=3))
    result = outcome.one("result")
    assert (result["errors"], outcome.code) == (NO_ERRORS, 0), result["first_error"]
    for name in ("CRTE", "DELT"):
        assert result["transactions"][name]["count"] == 0
        assert result["transactions"][name]["substituted"] > 0

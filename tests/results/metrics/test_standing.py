# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes a run a result, one step before each limit and at it."""

from __future__ import annotations

from math import sqrt
from random import Random
from statistics import mean, stdev

import pytest

from s80lab.results.metrics.derive import REGISTRY
from s80lab.results.metrics.registry import Measurement
from s80lab.results.metrics.standing import HEADLINE, standing, standing_of
from s80lab.results.metrics.warmup import WarmUp

WARM = WarmUp(1, 9, 3, {}, {}, 0.0, 200, "steady", ())
COLD = WarmUp(1, 2, 0, {}, {}, None, 199, "not steady", ("too few sampling intervals", "only 199 of 200 clients"))


@pytest.mark.parametrize(
    ("cycles", "law", "reasons"),
    [
        (3.0, 1.0, ()),
        (2.99, 1.0, ("2.99 closed-loop cycles per client measured, 3 are needed",)),
        (1.8, 1.0, ("1.80 closed-loop cycles per client measured, 3 are needed",)),
        (3.0, 1.0499, ()),
        (3.0, 1.0501, ("response-time law violated by +5.0% (limit 5.0%)",)),
        (3.0, 0.93, ("response-time law violated by -7.0% (limit 5.0%)",)),
        (
            1.0,
            0.9,
            (
                "1.00 closed-loop cycles per client measured, 3 are needed",
                "response-time law violated by -10.0% (limit 5.0%)",
            ),
        ),
    ],
)
def test_run_at_and_beyond_each_limit_is_judged(cycles: float, law: float, reasons: tuple[str, ...]) -> None:
    found = standing({"client_cycles": cycles, "interactive_law": law}, WARM)
    assert found.reasons == reasons
    assert found.verdict == ("invalid" if reasons else "valid")


@pytest.mark.parametrize(("chance", "result"), [(None, False), (0.0, False), (0.039, False), (0.041, True)])
def test_interactive_law_deviation_within_chance_is_valid(chance: float | None, result: bool) -> None:
    found = standing({"client_cycles": 6.0, "interactive_law": 1.08, "interactive_law_chance": chance}, WARM)
    assert (found.verdict == "valid") == result


def test_run_before_steady_state_is_invalid() -> None:
    found = standing({"client_cycles": 4.0, "interactive_law": 1.0}, COLD)
    assert found.reasons == ("not in steady state (too few sampling intervals; only 199 of 200 clients)",)


@pytest.mark.parametrize(
    ("error", "epoch_us", "reasons"),
    [
        (None, 44.4, 0),
        (0.9, 44.4, 0),
        (1.1, 11.1, 0),
        (1.0, 100.0, 0),
        (1.01, 100.0, 1),
        (1.4, 222.2, 1),
        (9.0, None, 0),
    ],
)
def test_run_with_large_epoch_error_is_invalid(error: float | None, epoch_us: float | None, reasons: int) -> None:
    """With epochs of 100,000 cycles (222 microseconds), a contended mutex of eight threads had an error of 1.4."""
    metrics = {"client_cycles": 4.0, "interactive_law": 1.0, "epoch_error": error}
    assert len(standing(metrics, WARM, epoch_us=epoch_us).reasons) == reasons


@pytest.mark.parametrize(
    ("error", "epoch_us", "reasons"), [(None, 44.4, 0), (0.05, 44.4, 0), (0.051, 44.4, 1), (0.3, None, 0)]
)
def test_run_is_invalid_if_polling_processors_waited_wrongly(
    error: float | None, epoch_us: float | None, reasons: int
) -> None:
    """A replay keeps the order of its run, so that its waits say nothing."""
    metrics = {"client_cycles": 4.0, "interactive_law": 1.0, "wait_error": error}
    assert len(standing(metrics, WARM, epoch_us=epoch_us).reasons) == reasons


@pytest.mark.parametrize(("queued", "reasons"), [(None, 0), (0.0, 0), (0.5, 0), (0.51, 1)])
def test_open_loop_script_with_queued_passes_makes_the_run_invalid(queued: float | None, reasons: int) -> None:
    metrics = {"client_cycles": 4.0, "interactive_law": 1.0, "queued_share.IMAP": 0.1, "queued_share.POP3": queued}
    found = standing(metrics, WARM)
    assert len(found.reasons) == reasons
    said = "open-loop script POP3: 51% of the passes had to wait for a free client (limit 50%)"
    assert all(one == said for one in found.reasons)


@pytest.mark.parametrize("failed", [None, 0, 3])
def test_failed_mail_deliveries_make_the_run_invalid(failed: int | None) -> None:
    metrics = {"client_cycles": 4.0, "interactive_law": 1.0, "mail_queue.mean": 900.0, "mail_put_off": failed}
    found = standing(metrics, WARM)
    assert found.reasons == (("the mail transport postponed or refused 3 deliveries",) if failed else ())


@pytest.mark.parametrize(
    ("accepted", "begin", "end", "grew"),
    [
        (None, 10, 900, False),  # not counted by an older load generator
        (0, 0, 0, False),
        (16, 3, 11, False),  # chance: twice the square root
        (16, 3, 12, True),
        (400, 50, 150, False),  # a quarter
        (400, 50, 151, True),
        (45, 151, 188, True),
        (45, 188, 151, False),
    ],
)
def test_growing_mail_queue_is_invalid_unless_allowed(accepted: int | None, begin: int, end: int, grew: bool) -> None:
    queue = {"mail_queue.begin": begin, "mail_queue.end": end, "mail_queue.accepted": accepted}
    metrics = {"client_cycles": 4.0, "interactive_law": 1.0, **queue}
    said = f"the mail queue grew by {end - begin} envelopes in the region, while {accepted} were accepted"
    assert standing(metrics, WARM).reasons == ((said,) if grew else ())
    assert standing(metrics, WARM, mail_may_wait=True).reasons == ()


def test_run_without_clients_is_judged_by_its_caches() -> None:
    assert standing({"client_cycles": None, "interactive_law": None}, WARM).verdict == "valid"


def test_stats_of_an_older_version_are_judged_by_their_caches() -> None:
    assert standing_of({"warmup": {"verdict": "steady"}}) == ("valid", ())
    assert standing_of({"warmup": {"verdict": "not steady"}}) == ("invalid", ("not in steady state",))


def law(think_ns: float, job_ms: float, name: str = "interactive_law") -> object:
    """40 clients at 20 transactions a second; 10 of them in service. What ended took 0.6 s: of 10 s and 2 s more that
    lie before the region."""
    load = {
        "clients": 40,
        "think_ms": job_ms,
        "region": {"begin_ns": 0, "end_ns": 10**9},
        "transactions": {"VIEW": {"count": 20}},
        "totals": {"response_ns_mean": 0.6e9, "in_flight_mean": 10, "think_ns_mean": think_ns},
    }
    return REGISTRY[name].compute(Measurement(None, load))  # type: ignore[arg-type]


def test_interactive_law_uses_measured_think_time_or_that_of_the_job() -> None:
    assert law(think_ns=1.5e9, job_ms=9000) == pytest.approx(1)
    assert law(think_ns=0, job_ms=1500) == pytest.approx(1)


def visits(random: Random, clients: int, seconds: float) -> dict[str, object]:
    """What the load generator says of clients that only think, for a second on average, as seen in a region that begins
    at any moment."""
    ended: list[float] = []
    for _ in range(clients):
        at = -20.0
        while at < seconds:
            thought = random.expovariate(1.0)
            at += thought
            if 0 <= at < seconds:
                ended.append(thought)
    return {
        "clients": clients,
        "think_ms": 1000,
        "region": {"begin_ns": 0, "end_ns": int(seconds * 1e9)},
        "transactions": {"VIEW": {"count": len(ended)}},
        "totals": {"in_flight_mean": 0, "think_ns_mean": sum(ended) / len(ended) * 1e9},
    }


@pytest.mark.parametrize(("clients", "seconds"), [(20, 6.0), (20, 12.0), (80, 6.0)])
def test_interactive_law_scatters_by_the_estimated_chance(clients: int, seconds: float) -> None:
    random = Random(1)
    loads = [visits(random, clients, seconds) for _ in range(1000)]
    seen = [_of(load, "interactive_law") for load in loads]
    said = mean(_of(load, "interactive_law_chance") for load in loads)
    assert mean(seen) == pytest.approx(1, abs=3 * said / sqrt(len(loads)))
    assert stdev(seen) == pytest.approx(said, rel=0.15)


def _of(load: dict[str, object], name: str) -> float:
    value = REGISTRY[name].compute(Measurement(None, load))  # type: ignore[arg-type]
    assert isinstance(value, float)
    return value


def test_littles_law_counts_transactions_cut_off_by_the_region() -> None:
    assert law(think_ns=1.5e9, job_ms=1500, name="little_law") == pytest.approx(1.2)


def test_headline_has_ten_distinct_declared_metrics() -> None:
    assert len(HEADLINE) == len(set(HEADLINE)) == 10
    assert {name.partition(".")[0] for name in HEADLINE} <= set(REGISTRY)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides whether a run is valid, and names the metrics of the headline.

A run is invalid (verdict "invalid") if any of these holds:
- The caches had not reached steady state (metrics/warmup.py), or a client had not completed a transaction before the
  measured region.
- The region spans less than three closed-loop cycles. A cycle is the think time plus the response time of a client.
- The simulated time of the processors is wrong: at the ends of epochs, processors differ from it by more than 100
  microseconds on average.
- Processors that poll waited wrongly: they saw stores of other processors later than on the machine, by more than 5% of
  all busy cycles.
- The load violates the response-time law by more than 5%, and by more than chance explains.
- Most passes of an open-loop script had to wait for a free client. The load was then closed, and its rate was not the
  stated one.
- The mail transport postponed or refused a delivery, in the region or before it. Such mail is delivered seconds later,
  as an unintended load, or never.
- The mail transport's queue grew in the region by more than chance explains. The work of delivering that mail is then
  missing from the region.
Reports state first which runs are invalid, and leave them out of the means over seeds. Replays and gem5's runs have no
load generator's result; for them only the steady state decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

from s80lab.base.vocabulary import LABELS
from s80lab.results.metrics.batches import Batches, batches
from s80lab.results.metrics.registry import REGISTRY, Measurement, flatten
from s80lab.results.metrics.warmup import WarmUp
from s80lab.results.snapshots import Delta, Snapshots, without

FEWEST_CYCLES = 3.0
ALLOWED_TIME_ERROR_US = 100.0
"""A tenth of the longest lead of a processor. The default job has 10, and the small caches of s80-sixteenth, with their
bursts of misses, 40. With long epochs, processors that wait for each other can mislead the prediction: the error is
then 300 or more, and cycles are wrong by a factor (docs/background/clock.md)."""
ALLOWED_WAIT_ERROR = 0.05
"""Of the programs in tests/programs, the locks have at most 3.2%. Before their waits were right, locks with PAUSE had 9
to 32%, and relays that handed over once per epoch 11 to 19%."""
ALLOWED_LAW_ERROR = 0.05
"""With few clients and long think times, chance alone exceeds this limit; twice its standard deviation is allowed."""
ALLOWED_QUEUED = 0.5
ALLOWED_MAIL_LEFT = 0.25
"""Growth of the mail transport's queue that is allowed, as a share of the mail accepted in the region. With little
mail, chance alone exceeds this limit; twice the standard deviation of as many independent arrivals is allowed."""

VALID, INVALID = "valid", "invalid"

# The metrics of the headline table, of the comparison of two estimates, and of the batch means.
HEADLINE = (
    *(f"miss_source.all.{source}" for source in ("memory", *LABELS["state"])),
    *("e_share", "e_to_m_share", "upgrades_saved_share", "kernel_share.cycles", "l2_mpki.all"),
)


@dataclass(frozen=True)
class Standing:
    """The verdict on a run. reasons: why it is invalid, one clause each."""

    verdict: Literal["valid", "invalid"]
    reasons: tuple[str, ...]


def standing(
    metrics: Mapping[str, float | int | None],
    warmup: WarmUp,
    *,
    mail_may_wait: bool = False,
    epoch_us: float | None = None,
) -> Standing:
    """The verdict, from the run's metrics and the verdict on its warm-up. mail_may_wait: the load is meant to exceed
    the rate of delivery, so the mail transport's queue may grow. epoch_us: length of an epoch in microseconds, None
    if the engine has no epochs."""
    reasons = [] if warmup.verdict == "steady" else [f"not in steady state ({'; '.join(warmup.reasons)})"]
    cycles, law = metrics.get("client_cycles"), metrics.get("interactive_law")
    if cycles is not None and cycles < FEWEST_CYCLES:
        reasons.append(f"{cycles:.2f} closed-loop cycles per client measured, {FEWEST_CYCLES:g} are needed")
    error_us = (metrics.get("epoch_error") or 0.0) * (epoch_us or 0.0)
    if error_us > ALLOWED_TIME_ERROR_US:
        reasons.append(
            f"simulated time of the processors is off by {error_us:.0f} microseconds on average (limit "
            f"{ALLOWED_TIME_ERROR_US:g}); choose a smaller clock.epoch_cycles"
        )
    wait_error = metrics.get("wait_error") or 0.0
    if wait_error > ALLOWED_WAIT_ERROR and epoch_us is not None:
        reasons.append(
            f"processors that poll waited too long by {100 * wait_error:.1f}% of all busy cycles (limit "
            f"{100 * ALLOWED_WAIT_ERROR:g}%); choose another clock.epoch_cycles"
        )
    chance = metrics.get("interactive_law_chance") or 0.0
    allowed = max(ALLOWED_LAW_ERROR, 2 * chance)
    if law is not None and abs(law - 1) > allowed:
        reasons.append(f"response-time law violated by {100 * (law - 1):+.1f}% (limit {100 * allowed:.1f}%)")
    for name, value in metrics.items():
        if name.startswith("queued_share.") and value is not None and value > ALLOWED_QUEUED:
            script = name.partition(".")[2]
            reasons.append(
                f"open-loop script {script}: {100 * value:.0f}% of the passes had to wait for a free client (limit "
                f"{100 * ALLOWED_QUEUED:.0f}%)"
            )
    if failed := metrics.get("mail_put_off"):
        reasons.append(f"the mail transport postponed or refused {failed} deliveries")
    accepted, left = metrics.get("mail_queue.accepted"), _left(metrics)
    if accepted and not mail_may_wait and left > max(ALLOWED_MAIL_LEFT * accepted, 2 * sqrt(accepted)):
        reasons.append(f"the mail queue grew by {left} envelopes in the region, while {accepted} were accepted")
    return Standing("invalid" if reasons else "valid", tuple(reasons))


def _left(metrics: Mapping[str, float | int | None]) -> int:
    """Envelopes by which the mail transport's queue grew in the region."""
    begin, end = metrics.get("mail_queue.begin"), metrics.get("mail_queue.end")
    return int((end or 0) - (begin or 0))


def standing_of(stats: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Verdict and reasons from stats.json. A stats.json of an older version has only the verdict on the caches."""
    if "standing" in stats:
        return str(stats["standing"]["verdict"]), tuple(stats["standing"]["reasons"])
    return (VALID, ()) if stats["warmup"]["verdict"] == "steady" else (INVALID, ("not in steady state",))


def headline_batches(run: Snapshots, load: Mapping[str, object] | None) -> dict[str, Batches | None]:
    """Batch means of the headline metrics over the sampling intervals of the region; None if a value is undefined."""
    region = run.region()
    inside = [
        interval
        for interval in run.intervals()
        if region.begin.instructions <= interval.begin.instructions
        and interval.end.instructions <= region.end.instructions
    ]
    rest = [_headline(without(region, interval), load) for interval in inside] if len(inside) > 1 else []
    found: dict[str, Batches | None] = {}
    for name, value in _headline(region, load).items():
        known = [less for part in rest if (less := part[name]) is not None]
        found[name] = batches(value, known) if value is not None and len(known) == len(rest) else None
    return found


def _headline(region: Delta, load: Mapping[str, object] | None) -> dict[str, float | int | None]:
    measurement = Measurement(region, load)
    flat: dict[str, float | int | None] = {}
    for name in dict.fromkeys(name.partition(".")[0] for name in HEADLINE):
        flat |= flatten(name, REGISTRY[name].compute(measurement))
    return {name: flat.get(name) for name in HEADLINE}

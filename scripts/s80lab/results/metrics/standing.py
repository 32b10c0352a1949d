# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a run's numbers may stand as a result, and the shares that a run is summed up by.

A run is no result where its caches were not warm, where it measured less than three client cycles (a cycle is the time
in which each client thinks once and is served once), where the load's interactive law is off by more than 5% and by
more than chance makes, where the region began with clients that had not finished a transaction since all began
together, where most passes of an open script found no client free: it was a closed one then, and its rate is not the
one that is stated, where the mail transport did not deliver what it had accepted when it tried to, in the region or
before it: such mail comes seconds later, as a load that nobody asked for, or never, or where its queue grew in the
region as it does not by chance: then the work of delivering what the clients sent is not in the region. Such a run is
reported, says so first, and is left out of the means over seeds. Of replays and gem5's runs, which have no clients'
side, the caches alone are judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

from s80lab.results.metrics.batches import Batches, batches
from s80lab.results.metrics.registry import REGISTRY, Measurement, flatten
from s80lab.results.metrics.warmup import WarmUp
from s80lab.results.snapshots import Delta, Snapshots, without

FEWEST_CYCLES = 3.0
ALLOWED_LAW_ERROR = 0.05
"""Few clients that are away for most of a short region make more by chance: twice its standard deviation is allowed."""
ALLOWED_QUEUED = 0.5
ALLOWED_MAIL_LEFT = 0.25
"""Of the mail that was accepted in the region: by how much of it the transport's queue may grow. Of little mail a queue
grows by more by chance: twice the standard deviation of as many independent arrivals is allowed."""

RESULT, NO_RESULT = "result", "not a result"

# What the headline shows, what two estimates of one design are compared by, and what batch means are taken of.
HEADLINE = (
    *(f"miss_source.all.{source}" for source in ("memory", "M", "O", "E", "S")),
    *("e_share", "e_to_m_share", "upgrades_saved_share", "kernel_share.cycles", "l2_mpki.all"),
)


@dataclass(frozen=True)
class Standing:
    """The verdict on a run; reasons: why it is no result, a clause each."""

    verdict: Literal["result", "not a result"]
    reasons: tuple[str, ...]


def standing(metrics: Mapping[str, float | int | None], warmup: WarmUp, *, mail_may_wait: bool = False) -> Standing:
    """The verdict from the run's metrics and that on its warm-up. mail_may_wait: the load is meant to be more than is
    delivered, so the mail transport's queue may grow."""
    reasons = [] if warmup.verdict == "warm" else [f"not warm ({'; '.join(warmup.reasons)})"]
    cycles, law = metrics.get("client_cycles"), metrics.get("interactive_law")
    if cycles is not None and cycles < FEWEST_CYCLES:
        reasons.append(f"{cycles:.2f} client cycles measured, {FEWEST_CYCLES:g} are needed")
    chance = metrics.get("interactive_law_chance") or 0.0
    if law is not None and abs(law - 1) > max(ALLOWED_LAW_ERROR, 2 * chance):
        reasons.append(f"the interactive law is off by {100 * (law - 1):+.1f}%")
    for name, value in metrics.items():
        if name.startswith("queued_share.") and value is not None and value > ALLOWED_QUEUED:
            script = name.partition(".")[2]
            reasons.append(f"{100 * value:.0f}% of the passes of {script} found no client free when they arrived")
    if failed := metrics.get("mail_put_off"):
        reasons.append(f"the mail transport put off or refused {failed} of its deliveries")
    accepted, left = metrics.get("mail_queue.accepted"), _left(metrics)
    if accepted and not mail_may_wait and left > max(ALLOWED_MAIL_LEFT * accepted, 2 * sqrt(accepted)):
        reasons.append(f"mail piles up: {accepted} messages to a recipient came in and {left} more wait than before")
    return Standing("not a result" if reasons else "result", tuple(reasons))


def _left(metrics: Mapping[str, float | int | None]) -> int:
    """Envelopes by which the mail transport's queue grew in the region."""
    begin, end = metrics.get("mail_queue.begin"), metrics.get("mail_queue.end")
    return int((end or 0) - (begin or 0))


def standing_of(stats: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Verdict and reasons as stats.json holds them; in one of an older version the caches alone were judged."""
    if "standing" in stats:
        return str(stats["standing"]["verdict"]), tuple(stats["standing"]["reasons"])
    return (RESULT, ()) if stats["warmup"]["verdict"] == "warm" else (NO_RESULT, ("not warm",))


def headline_batches(run: Snapshots, load: Mapping[str, object] | None) -> dict[str, Batches | None]:
    """Batch means of the headline over the windows of the measured region; None where a value is undefined."""
    region = run.region()
    inside = [
        window
        for window in run.windows()
        if region.begin.instructions <= window.begin.instructions and window.end.instructions <= region.end.instructions
    ]
    rest = [_headline(without(region, window), load) for window in inside] if len(inside) > 1 else []
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

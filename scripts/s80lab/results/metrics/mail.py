# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the mail transport's queue, by what it logs; none of servers without one, nor of runs that did not count.

Its unit is OpenSMTPD's envelope, a message to one of its recipients: from when the message is accepted until it is
delivered to that recipient, or given up.
"""

from __future__ import annotations

from s80lab.results.metrics.registry import Measurement, Value, metric


@metric(
    "mail_queue",
    "envelopes",
    "the mail transport's queue, messages x recipients that it has accepted and not delivered yet: mean of the region, "
    "at its begin and at its end; accepted: those that came in the region",
    "mail_queue.mean, .begin, .end, .accepted_in_region, on the load generator's side",
    of_load=True,
)
def _mail_queue(m: Measurement) -> Value:
    queue = m.load.get("mail_queue")
    if queue is None:
        return {}
    accepted = {"accepted": queue["accepted_in_region"]} if "accepted_in_region" in queue else {}
    return {at: queue[at] for at in ("mean", "begin", "end")} | accepted


@metric(
    "mail_put_off",
    "deliveries",
    "deliveries that the mail transport put off until later or refused, of the whole run: in the warm-up, too",
    "mail_queue.put_off + mail_queue.refused",
    of_caches=False,
    of_load=True,
)
def _mail_put_off(m: Measurement) -> Value:
    queue = m.load.get("mail_queue")
    return {} if queue is None else int(queue["put_off"]) + int(queue["refused"])

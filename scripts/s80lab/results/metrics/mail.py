# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the mail transport's queue, from its log. Absent for servers without a mail transport and for older runs.

The unit is OpenSMTPD's envelope: a message to one recipient. An envelope is in the queue from the acceptance of the
message until the delivery to that recipient, or until the transport gives up.
"""

from __future__ import annotations

from s80lab.results.metrics.registry import Measurement, Value, metric


@metric(
    "mail_queue",
    "envelopes",
    "envelopes (messages x recipients) that the mail transfer agent has accepted and not yet delivered: mean "
    "over the measured region (mean), at its start (begin) and at its end (end). accepted: envelopes that it "
    "accepted in the region",
    "mail_queue.mean, .begin, .end, .accepted_in_region, from the result of the load generator",
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
    "deliveries that the mail transfer agent postponed or refused, in the whole run including the warm-up",
    "mail_queue.put_off + mail_queue.refused",
    of_caches=False,
    of_load=True,
)
def _mail_put_off(m: Measurement) -> Value:
    queue = m.load.get("mail_queue")
    return {} if queue is None else int(queue["put_off"]) + int(queue["refused"])

# SPDX-License-Identifier: GPL-2.0-or-later
"""The real guest's kernel and servers: free of work that the modelled machine's did not have. Every test fails if its
boot argument or setting is taken away."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.guest.checked_guest import Checked, run_checked
from tests.lab import Lab

from s80lab.config.mix import Workload
from s80lab.config.workload import Imap, job_text, load_workload

pytestmark = pytest.mark.guest

CLIENTS = 4


def selecting() -> Workload:
    """Every transaction opens a mailbox."""
    mix = dict.fromkeys(Imap.WHAT, 0.0) | {"SELT": 100.0}
    changed = {"driver": "independent", "mix_percent": mix, "incoming_per_s": 0.0}
    return Imap.model_validate(load_workload("imapb").model_dump() | changed)


@pytest.fixture(scope="module")
def guest(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Checked:
    job = job_text(selecting(), clients=CLIENTS, users=32, seed=1, think_ms=20, warmup_s=0, measure_s=0.5)
    # The fewest that have the defaults of a larger machine; they boot in half its time.
    return run_checked(tmp_path_factory.mktemp("checked"), "facts,lookups", job, settings={"processors.count": 8})


def test_processors_of_the_guest_share_no_cache(guest: Checked) -> None:
    processors = range(guest.machine.processors.count)
    facts = guest.facts()
    assert sorted(facts["cache"]) == sorted(f"{number} {number}" for number in processors)
    # The scheduler's smallest domain of each processor: the cache that it believes in is nobody else's.
    assert len(facts["domain"]) == len(processors)
    assert {line.split()[0] for line in facts["domain"]} == {"1"}, "looks for work at each tick"
    assert not any("SD_SHARE_PKG_RESOURCES" in flags for flags in facts["domain"])


def test_time_zone_needs_no_file(guest: Checked) -> None:
    assert guest.facts()["timezone"] == ["UTC0"]
    assert not [names for names in guest.lookups() if "localtime" in names[2]]


def test_reading_writes_no_access_times(guest: Checked) -> None:
    mounts = dict(line.split() for line in guest.facts()["mount"])
    assert {"/", "/dev", "/proc", "/run", "/sys", "/var/mail-store"} <= mounts.keys()
    assert not [point for point, options in mounts.items() if "noatime" not in options.split(",")]


def test_processors_all_have_a_high_resolution_timer(guest: Checked) -> None:
    assert Counter(guest.facts()["timer"])["hrtimer_interrupt"] == guest.machine.processors.count


def test_session_repeats_no_failed_file_lookups(guest: Checked) -> None:
    """A name that is looked up at every SELECT, or for every message, is seen as often as there are transactions."""
    selected = guest.result["transactions"]["SELT"]["count"]
    assert selected > 10 * CLIENTS
    # The log-ins and the servers' last starts are seen too: their programs look for their libraries.
    assert guest.lookups()
    assert {names: count for names, count in guest.lookups().items() if count > selected // 2} == {}

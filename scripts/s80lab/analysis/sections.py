# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of metrics in a report: their titles, their notes, and the order of their rows. The declarations of the
metrics say which rows a metric has in which table (results/metrics/registry.py)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from s80lab.base.format import Format
from s80lab.results.metrics.derive import REGISTRY, find_metric
from s80lab.results.metrics.standing import HEADLINE


@dataclass(frozen=True)
class Entry:
    """One row of a table. head: the heading line above this row and its neighbours with the same heading."""

    label: str
    metric: str
    style: Format
    head: str = ""

    @property
    def title(self) -> str:
        return find_metric(self.metric).description


def _entries(section: str, first: str = "") -> tuple[Entry, ...]:
    """The rows of a section: those of the metrics that `first` names, then all others as they are declared."""
    names = dict.fromkeys((*first.split(), *REGISTRY))
    return tuple(
        Entry(text, f"{name}.{label}" if label else name, rows.style, rows.head)
        for name in names
        for rows in REGISTRY[name].rows
        if rows.section == section
        for label, text in ({"": rows.text} if isinstance(rows.text, str) else rows.text).items()
    )


@dataclass(frozen=True)
class Section:
    """A table of metrics. key: its name in the contents of a report (report/contents.py), and in the declarations of
    its metrics. order: the metrics whose rows come first."""

    key: str
    title: str
    note: str = ""
    order: str = ""

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        return _entries(self.key, self.order)


SECTIONS: tuple[Section, ...] = (
    Section(
        "mpki",
        "L2 misses per 1000 instructions",
        "Each row divides the misses by the instructions that retired at the same privilege level.",
    ),
    Section(
        "levels",
        "L1 and L2 misses",
        "Server cores only: cores that the machine file reserves for the load generator are left out.",
    ),
    Section(
        "sources",
        "Sources of the L2 misses",
        "Shares of the L2 misses of the same kind of access. `all` includes page walks on machines that model "
        "them. Sessions are counted in user and in kernel code, like the population of Koka and Lipasti; the "
        "server's file in workloads/servers names the processes. All other rows cover the whole machine.",
        order="miss_source_of",
    ),
    Section(
        "fills",
        "Fills of the L2 caches, and the fate of E blocks",
        "A fill is a block that enters an L2. E share: fills in state E, divided by all fills. Silent E-to-M "
        "upgrades per E fill is the quantity that Koka and Lipasti call E to M. Fills and silent upgrades are "
        "both counted in the measured region. A block that was filled before the region and is stored to in the "
        "region can therefore raise this share above 100% if the region is short. `Why blocks left E` counts each "
        "block when it leaves E. `Upgrades without E` are the upgrades that a protocol without state E would "
        "issue: those issued plus those avoided.",
        order="fill_state e_share_of e_to_m_share_of",
    ),
    Section(
        "classes",
        "Process classes",
        "Each event (instruction, miss, upgrade) counts for the class of the running process. Work of an "
        "interrupt counts for the class of the interrupted process. A block counts for the class that filled it. "
        "The share of misses serviced by memory and the E share of sessions are in the tables of miss sources and "
        "of fills.",
        order="class_share miss_source_of e_share_of l2_mpki_of upgrade_pki_of class_processors",
    ),
    Section(
        "entries",
        "Kernel entry causes",
        "User code, and kernel code by the cause of the entry into the kernel. Kernel threads have no entry "
        "cause. Unknown: the cause could not be determined, for example because the guest's kernel layout was not "
        "available.",
    ),
    Section(
        "traffic",
        "Bus traffic per 1000 instructions",
    ),
    Section(
        "miss-rates",
        "Cache miss rates",
    ),
    Section(
        "cpi",
        "Cycles per instruction",
        "Stall cycles follow from the latencies in the machine file. Latencies that Koka and Lipasti do not state "
        "are assumptions.",
    ),
    Section(
        "instructions",
        "Instructions",
        "x86 instructions. An instruction that loads and stores counts once under `loads and stores`. Calls, "
        "returns and jumps count as branches only, even if they access memory.",
        order="kernel_share loadgen_share instruction_group",
    ),
    Section(
        "load",
        "Load and machine",
        "All times are simulated. Response-time law: (clients in service + throughput x think time) / clients. "
        "Utilisation law: throughput x busy time per transaction / busy time per second. Both ratios are 1 if all "
        "counts are right and use one clock. Little's law: throughput x response time / clients in service. Its "
        "deviation from 1 is due to transactions that the ends of the region cut off. Lengths of time slices are "
        "rounded down to powers of two. If guest seconds per simulated second are listed, the guest's clock, its "
        "timers and its counters of time run faster than simulated time by this factor.",
        order="throughput body_mbit response_ms response_p95_ms think_ms "
        "instructions_per_transaction payload_mbit utilisation busy_share server_utilisation "
        "busy_cores interactive_law interactive_law_chance little_law utilisation_law "
        "simulated_s instructions_m",
    ),
    Section(
        "probes",
        "Memory probes",
    ),
    Section(
        "requests",
        "Script requests",
        "A request is an answered command. Opening a connection is not a request.",
    ),
    Section(
        "mail",
        "Mail transport",
        "An envelope is a message to one recipient. If the queue is much longer at the end of the region than at "
        "its start, the server does not keep up, and the mean depends on the length of the region. Such a run is "
        "invalid, unless the experiment sets `mail_may_wait`: its load is meant to exceed the rate of delivery.",
    ),
    Section(
        "streams",
        "Streams",
        "Jitter as RFC 3550 defines it: a smoothed mean, per client, of the differences between the transit times "
        "of consecutive packets. Its value at the end of each stream counts.",
    ),
    Section(
        "kernel",
        "Guest kernel",
        "The guest kernel's own counters.",
        order="tick_hz run_queue disk_utilisation disk_service_ms disk_response_ms disk_queue "
        "disk_per_transaction iowait_share guest_per_transaction guest_rate",
    ),
)

_HEADLINE = {entry.metric: entry for entry in _entries("headline")}
ENTRIES = tuple(_HEADLINE[metric] for metric in HEADLINE)
"""The rows of the headline."""
_KEYS = {"headline", *(section.key for section in SECTIONS)}
if unknown := [name for name, one in REGISTRY.items() if not {rows.section for rows in one.rows} <= _KEYS]:
    raise ValueError(f"the metrics {', '.join(unknown)} name sections that reports do not have")

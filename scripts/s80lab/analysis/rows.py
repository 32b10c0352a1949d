# SPDX-License-Identifier: GPL-2.0-or-later
"""The metrics that tables show: in which order, with which label and how many digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from s80lab.analysis.interval import Estimate
from s80lab.results.metrics.derive import find_metric


@dataclass(frozen=True)
class Format:
    """How a value is printed: value x scale, with `digits` decimals and a suffix."""

    digits: int
    scale: float = 1.0
    suffix: str = ""

    def text(self, value: float, sign: Literal["", "+"] = "") -> str:
        """The value without the suffix. sign: `+` to also mark positive values."""
        return f"{value * self.scale:{sign},.{self.digits}f}"


ABSENT = "-"
"""The text of a number that does not exist."""
PERCENT = Format(1, 100.0, "%")
FINE_PERCENT = Format(2, 100.0, "%")
WHOLE = Format(0)
ONE = Format(1)
TWO = Format(2)
THREE = Format(3)


def number(value: Estimate | None, style: Format) -> str:
    """The value as text, "73.1 ± 0.8%"; a dash without a value."""
    if value is None:
        return ABSENT
    half = "" if value.half_width is None else f" ± {style.text(value.half_width)}"
    return style.text(value.mean) + half + style.suffix


@dataclass(frozen=True)
class Entry:
    """One row of a table. head: a heading line above this row, which covers all rows down to the next heading."""

    label: str
    metric: str
    style: Format
    head: str = ""

    @property
    def title(self) -> str:
        return find_metric(self.metric).description


@dataclass(frozen=True)
class Section:
    """A table of metrics. key: its name in the contents of a report (report/contents.py)."""

    key: str
    title: str
    entries: tuple[Entry, ...]
    note: str = ""


_KINDS = {"ifetch": "instruction fetch", "load": "load", "store": "store", "walk": "page walk", "all": "all"}
_SOURCES = {
    "memory": "memory",
    "M": "another cache, in M",
    "O": "another cache, in O",
    "E": "another cache, in E",
    "S": "another cache, in S",
}


def _each(prefix: str, labels: dict[str, str], style: Format, head: str = "") -> tuple[Entry, ...]:
    return tuple(
        Entry(text, f"{prefix}.{key}", style, head if position == 0 else "")
        for position, (key, text) in enumerate(labels.items())
    )


_LEVELS = {"l1": "L1", "l2": "L2"}
_PRIVILEGES = {"user": "user", "kernel": "kernel", "all": "all"}
# gem5 counts the sources of loads and fetches together (`read`); other engines have no such metric.
_ANSWERED = {
    **{kind: text for kind, text in _KINDS.items() if kind not in ("walk", "all")},
    "read": "load or instruction fetch",
    "all": "all",
}

_COUNTED = {
    "context_switches": "context switches",
    "migrations": "task migrations",
    "page_faults": "page faults",
    "page_activations": "page activations",
    "pages_freed": "pages freed",
    "forks": "forks",
    "interrupt.timer": "interrupts: timer",
    "interrupt.reschedule": "interrupts: reschedule",
    "interrupt.call": "interrupts: function call",
    "interrupt.device": "interrupts: devices",
    "softirq.timer": "soft interrupts: timer",
    "softirq.net_rx": "soft interrupts: network",
    "softirq.sched": "soft interrupts: scheduler",
    "softirq.rcu": "soft interrupts: RCU",
    "softirq.tasklet": "soft interrupts: tasklet",
}
_TIMES = {"mean": "mean", "p50": "median", "p95": "95th percentile", "p99": "99th percentile"}
_PROTOCOLS = {"imap": "IMAP", "pop3": "POP3", "smtp": "SMTP"}
_NAMES = {
    "imap": "imap (sessions)",
    "imap-login": "imap-login (TLS)",
    "lmtp": "lmtp (deliveries)",
    "smtpd": "smtpd",
    "s80-loadgen": "load generator",
    "kernel": "kernel threads",
}

_CLASSES = {
    "session": "sessions",
    "delivery": "delivery and other server processes",
    "loadgen": "load generator",
    "idle": "idle",
    "kernel": "kernel threads",
    "other": "other",
}
# The tables of the whole machine show the sessions, so the table of process classes leaves them out.
_OTHERS = {key: text for key, text in _CLASSES.items() if key != "session"}
_ENTRIES = {
    "user": "user code",
    "system_call": "system calls",
    "fault": "faults and exceptions",
    "tick": "timer ticks",
    "interrupt": "other interrupts",
    "soft_interrupt": "soft interrupts",
    "idle": "idle loop",
    "kernel_thread": "kernel threads",
    "unknown": "unknown",
}


def _suffixed(labels: dict[str, str], suffix: str) -> dict[str, str]:
    return {f"{key}.{suffix}": text for key, text in labels.items()}


SECTIONS: tuple[Section, ...] = (
    Section(
        "mpki",
        "L2 misses per 1000 instructions",
        _each("l2_mpki", _PRIVILEGES, THREE),
        "Each row divides the misses by the instructions that retired at the same privilege level.",
    ),
    Section(
        "levels",
        "L1 and L2 misses",
        (
            *_each("misses_m_per_s", _LEVELS, TWO, head="million misses per simulated second"),
            *_each("misses_per_transaction", _LEVELS, WHOLE, head="misses per transaction"),
        ),
        "Server cores only: cores that the machine file reserves for the load generator are left out.",
    ),
    Section(
        "sources",
        "Sources of the L2 misses",
        (
            *_each("miss_source_of.session.all", _SOURCES, PERCENT, head="sessions (the processes that serve users)"),
            *(
                entry
                for kind, text in _ANSWERED.items()
                for entry in _each(f"miss_source.{kind}", _SOURCES, PERCENT, head=text)
            ),
            *_each(
                "store_from_m_share", _PRIVILEGES, PERCENT, head="stores serviced by a cache in M, share of all misses"
            ),
        ),
        "Shares of the L2 misses of the same kind of access. `all` includes page walks on machines that model "
        "them. Sessions are counted in user and in kernel code, like the population of Koka and Lipasti; the "
        "server's file in workloads/servers names the processes. All other rows cover the whole machine.",
    ),
    Section(
        "fills",
        "Fills of the L2 caches, and the fate of E blocks",
        (
            *_each("fill_state", {state: f"filled in {state}" for state in "MOES"}, PERCENT, head="state of the fills"),
            Entry("E share", "e_share_of.session", PERCENT, head="fills by sessions"),
            Entry("silent E-to-M upgrades per E fill", "e_to_m_share_of.session", PERCENT),
            Entry("E share", "e_share", PERCENT, head="fills by the whole machine"),
            Entry("silent E-to-M upgrades per E fill", "e_to_m_share", PERCENT),
            Entry("store (silent upgrade to M)", "e_fate.e_to_m", PERCENT, head="why blocks left E"),
            Entry("read by another core", "e_fate.e_downgraded", PERCENT),
            Entry("eviction", "e_fate.e_evicted", PERCENT),
            Entry("invalidation", "e_fate.e_invalidated", PERCENT),
            Entry(
                "stores that found their block in E, share of stores to the L2",
                "stores_found_e_share",
                PERCENT,
                head="stores and upgrades",
            ),
            Entry("upgrades issued, per 1000 instructions", "upgrade_pki.made", THREE),
            Entry("upgrades avoided by E, per 1000 instructions", "upgrade_pki.saved", THREE),
            Entry("upgrades avoided by E, share of upgrades without E", "upgrades_saved_share", PERCENT),
        ),
        "A fill is a block that enters an L2. E share: fills in state E, divided by all fills. Silent E-to-M "
        "upgrades per E fill is the quantity that Koka and Lipasti call E to M. Fills and silent upgrades are "
        "both counted in the measured region. A block that was filled before the region and is stored to in "
        "the region can therefore raise this share above 100% if the region is short. `Why blocks left E` "
        "counts each block when it leaves E. `Upgrades without E` are the upgrades that a protocol without "
        "state E would issue: those issued plus those avoided.",
    ),
    Section(
        "classes",
        "Process classes",
        (
            *_each("class_share", _suffixed(_CLASSES, "instructions"), PERCENT, head="share of the instructions"),
            *_each("class_share", _suffixed(_CLASSES, "misses"), PERCENT, head="share of the L2 misses"),
            *_each(
                "miss_source_of",
                _suffixed(_OTHERS, "all.memory"),
                PERCENT,
                head="share of the class's L2 misses serviced by memory",
            ),
            *_each("e_share_of", _OTHERS, PERCENT, head="E share"),
            *_each("l2_mpki_of", _CLASSES, THREE, head="L2 misses per 1000 instructions"),
            *_each("upgrade_pki_of", _CLASSES, THREE, head="upgrades per 1000 instructions"),
            *_each("class_processors", _CLASSES, TWO, head="busy processors, on average"),
        ),
        "Each event (instruction, miss, upgrade) counts for the class of the running process. Work of an "
        "interrupt counts for the class of the interrupted process. A block counts for the class that filled "
        "it. The share of misses serviced by memory and the E share of sessions are in the tables of miss "
        "sources and of fills.",
    ),
    Section(
        "entries",
        "Kernel entry causes",
        (
            *_each("entry_share", _suffixed(_ENTRIES, "instructions"), PERCENT, head="share of the instructions"),
            Entry("soft interrupts", "entry_share.soft_interrupt.cycles", PERCENT, head="share of the busy cycles"),
            *_each("entry_share", _suffixed(_ENTRIES, "misses"), PERCENT, head="share of the L2 misses"),
            *_each(
                "miss_source_in",
                _suffixed(_ENTRIES, "memory"),
                PERCENT,
                head="share of the cause's L2 misses serviced by memory",
            ),
            *_each("upgrade_share.entry", _ENTRIES, PERCENT, head="share of the upgrades"),
        ),
        "User code, and kernel code by the cause of the entry into the kernel. Kernel threads have no entry cause. "
        "Unknown: the cause could not be determined, for example because the guest's kernel layout was not available.",
    ),
    Section(
        "traffic",
        "Bus traffic per 1000 instructions",
        _each(
            "traffic_pki",
            {
                "fills": "fills (blocks fetched)",
                "writebacks": "writebacks",
                "upgrades": "upgrades (write permission requests)",
                "all": "all",
            },
            THREE,
        ),
    ),
    Section(
        "miss-rates",
        "Cache miss rates",
        (
            *_each("l1_miss_rate", _KINDS, FINE_PERCENT, head="L1 misses, share of the line accesses"),
            *_each("l2_miss_rate", _KINDS, FINE_PERCENT, head="L2 misses, share of the L2 accesses"),
        ),
    ),
    Section(
        "cpi",
        "Cycles per instruction",
        (
            *_each(
                "cpi",
                {
                    "all": "CPI",
                    "base": "base",
                    "l2": "L2 hits",
                    "memory": "misses serviced by memory",
                    "cache": "misses serviced by a cache",
                    "upgrade": "upgrades",
                    "issue": "waiting for the core's other thread",
                    "order": "waiting for a conflicting access of another processor",
                },
                THREE,
            ),
            Entry("user", "cpi_at.user.all", THREE, head="CPI by privilege"),
            Entry("kernel", "cpi_at.kernel.all", THREE),
            *_each(
                "l2_stall",
                {kind: text for kind, text in _KINDS.items() if kind != "all"},
                PERCENT,
                head="stall cycles of L2 misses, by kind of access",
            ),
            Entry("store stall cycles per load stall cycle", "store_to_load_stall", TWO),
            Entry("store and upgrade stall cycles per load stall cycle", "store_to_load_stall_with_upgrades", TWO),
        ),
        "Stall cycles follow from the latencies in the machine file. Latencies that Koka and Lipasti do not "
        "state are assumptions.",
    ),
    Section(
        "instructions",
        "Instructions",
        (
            Entry("kernel, share of the instructions", "kernel_share.instructions", PERCENT),
            Entry("kernel, share of the busy cycles", "kernel_share.cycles", PERCENT),
            Entry("load generator, share of the instructions", "loadgen_share.instructions", FINE_PERCENT),
            Entry("load generator, share of the machine's cycles", "loadgen_share.machine", FINE_PERCENT),
            Entry(
                "loads and stores", "instruction_group.loads_and_stores", PERCENT, head="instruction mix, two groups"
            ),
            Entry("branches", "instruction_group.branches", PERCENT),
            *_each(
                "instruction_mix",
                {
                    "load": "load only",
                    "store": "store only",
                    "load_store": "load and store in one instruction",
                    "branch_conditional": "conditional branch",
                    "branch_unconditional": "other branch",
                    "other": "other",
                },
                PERCENT,
                head="instruction mix by class",
            ),
        ),
        "x86 instructions. An instruction that loads and stores counts once under `loads and stores`. Calls, returns "
        "and jumps count as branches only, even if they access memory.",
    ),
    Section(
        "load",
        "Load and machine",
        (
            Entry("throughput, transactions per second", "throughput", ONE),
            Entry("documents and pages received, Mbit/s", "body_mbit", ONE),
            Entry("mean response time, ms", "response_ms", ONE),
            Entry("95th percentile of the response time, ms", "response_p95_ms", ONE),
            Entry("mean think time, ms", "think_ms", ONE),
            Entry("million instructions per transaction", "instructions_per_transaction", ONE),
            Entry("sent by the clients, Mbit/s", "payload_mbit.sent", ONE),
            Entry("received by the clients, Mbit/s", "payload_mbit.received", ONE),
            Entry("sent and received by the clients, Mbit/s", "payload_mbit.all", ONE),
            Entry("utilisation of all cores", "utilisation", PERCENT),
            Entry("utilisation of core 0", "busy_share.00", PERCENT),
            Entry("utilisation of the server's cores", "server_utilisation", PERCENT),
            Entry("cores busy for more than half of the time", "busy_cores", ONE),
            Entry("response-time law (1: holds)", "interactive_law", THREE),
            Entry("response-time law: standard deviation by chance", "interactive_law_chance", THREE),
            Entry("Little's law, completed transactions (1: holds)", "little_law", THREE),
            Entry("utilisation law (1: holds)", "utilisation_law", THREE),
            Entry("simulated seconds", "simulated_s", TWO),
            Entry("million instructions", "instructions_m", WHOLE),
            Entry("guest seconds per simulated second", "guest_clock_speed", WHOLE),
            Entry(
                "median length, weighted by instructions",
                "slice_length.median",
                WHOLE,
                head="time slices, in instructions",
            ),
            Entry("longest", "slice_length.longest", WHOLE),
            Entry("share of instructions in slices of 8192 or more", "slice_over.8192", PERCENT),
            Entry(
                "mean error at the end of an epoch, share of the epoch", "epoch_error", PERCENT, head="order and epochs"
            ),
            Entry("waits for a conflicting access, per 1000 instructions", "order_wait_pki", THREE),
            Entry("error of waits by polling, share of busy cycles", "wait_error", FINE_PERCENT),
        ),
        "All times are simulated. Response-time law: (clients in service + throughput x think time) / clients. "
        "Utilisation law: throughput x busy time per transaction / busy time per second. Both ratios are 1 if all "
        "counts are right and use one clock. Little's law: throughput x response time / clients in service. Its "
        "deviation from 1 is due to transactions that the ends of the region cut off. Lengths of time slices are "
        "rounded down to powers of two. If guest seconds per simulated second are listed, the guest's clock, its "
        "timers and its counters of time run faster than simulated time by this factor.",
    ),
    Section(
        "probes",
        "Memory probes",
        (
            Entry("copied, MB per second of processor time", "copy_mb", WHOLE),
            Entry("token hand-over, ns of processor time", "token_ns", WHOLE),
            Entry(
                "in the L1", "data_miss_ratio.l1", FINE_PERCENT, head="sessions' user-mode loads and stores that miss"
            ),
            Entry("in the L1 and the L2", "data_miss_ratio.l2", FINE_PERCENT),
        ),
    ),
    Section(
        "requests",
        "Script requests",
        (
            *_each("request_rate", _PROTOCOLS, ONE, head="requests per second"),
            *_each("request_ms", _PROTOCOLS, TWO, head="mean response time, ms"),
            *_each("request_cpu_ms.imap", _CLASSES, THREE, head="processor time per IMAP request, ms"),
        ),
        "A request is an answered command. Opening a connection is not a request.",
    ),
    Section(
        "mail",
        "Mail transport",
        (
            Entry("mean over the region", "mail_queue.mean", TWO, head="envelopes in the mail transport's queue"),
            Entry("at the start of the region", "mail_queue.begin", WHOLE),
            Entry("at the end of the region", "mail_queue.end", WHOLE),
            Entry("accepted in the region", "mail_queue.accepted", WHOLE),
            Entry("deliveries postponed or refused, warm-up included", "mail_put_off", WHOLE),
        ),
        "An envelope is a message to one recipient. If the queue is much longer at the end of the region than at its "
        "start, the server does not keep up, and the mean depends on the length of the region. Such a run is invalid, "
        "unless the experiment sets `mail_may_wait`: its load is meant to exceed the rate of delivery.",
    ),
    Section(
        "streams",
        "Streams",
        (
            Entry("media received by the clients, Mbit/s", "stream_mbit", TWO),
            Entry("received", "stream_packets.received", WHOLE, head="packets"),
            Entry("lost", "stream_packets.lost", WHOLE),
            Entry("late", "stream_packets.late", WHOLE),
            *_each("stream_jitter_ms", _TIMES, TWO, head="jitter, ms"),
            *_each("stream_transit_ms", _TIMES, TWO, head="transit time difference of consecutive packets, ms"),
        ),
        "Jitter as RFC 3550 defines it: a smoothed mean, per client, of the differences between the transit "
        "times of consecutive packets. Its value at the end of each stream counts.",
    ),
    Section(
        "kernel",
        "Guest kernel",
        (
            Entry("timer interrupts per processor, Hz", "tick_hz", WHOLE),
            Entry("waiting tasks per processor", "run_queue", THREE),
            Entry("utilisation", "disk_utilisation.all", PERCENT, head="disks"),
            Entry("service time, ms", "disk_service_ms", TWO),
            Entry("response time, ms", "disk_response_ms", TWO),
            Entry("requests waiting or in service", "disk_queue", ONE),
            Entry("reads per transaction", "disk_per_transaction.reads", TWO),
            Entry("writes per transaction", "disk_per_transaction.writes", TWO),
            Entry("waiting for a disk, share of idle processor time", "iowait_share", PERCENT),
            *_each("guest_per_transaction", _COUNTED, ONE, head="events per transaction"),
            *_each("guest_rate", _COUNTED, WHOLE, head="events per simulated second, all processors"),
            *_each("guest_time_share", _NAMES, PERCENT, head="processor time by process"),
        ),
        "The guest kernel's own counters.",
    ),
)


_LABELS: dict[str, tuple[str, Format]] = {
    "miss_source.all.memory": ("L2 misses serviced by memory", PERCENT),
    "miss_source.all.M": ("L2 misses serviced by a cache in M", PERCENT),
    "miss_source.all.O": ("L2 misses serviced by a cache in O", PERCENT),
    "miss_source.all.E": ("L2 misses serviced by a cache in E", PERCENT),
    "miss_source.all.S": ("L2 misses serviced by a cache in S", PERCENT),
    "e_share": ("E share (E fills, of all fills)", PERCENT),
    "e_to_m_share": ("silent E-to-M upgrades per E fill", PERCENT),
    "upgrades_saved_share": ("upgrades avoided by E, share of upgrades without E", PERCENT),
    "kernel_share.cycles": ("kernel, share of the busy cycles", PERCENT),
    "l2_mpki.all": ("L2 misses per 1000 instructions", THREE),
}
ENTRIES = tuple(Entry(label, metric, style) for metric, (label, style) in _LABELS.items())

# SPDX-License-Identifier: GPL-2.0-or-later
"""Which metrics a report's tables show, in which order and with how many digits."""

from __future__ import annotations

from dataclasses import dataclass

from s80lab.results.metrics.derive import of


@dataclass(frozen=True)
class Format:
    """value x scale with `digits` decimals and a suffix."""

    digits: int
    scale: float = 1.0
    suffix: str = ""


PERCENT = Format(1, 100.0, "%")
FINE_PERCENT = Format(2, 100.0, "%")
WHOLE = Format(0)
ONE = Format(1)
TWO = Format(2)
THREE = Format(3)


@dataclass(frozen=True)
class Entry:
    """One row. head, if given, is a line above it that names the rows from here on."""

    label: str
    metric: str
    style: Format
    head: str = ""

    @property
    def title(self) -> str:
        return of(self.metric).description


@dataclass(frozen=True)
class Section:
    title: str
    entries: tuple[Entry, ...]
    note: str = ""


_KINDS = {"ifetch": "instruction fetch", "load": "load", "store": "store", "walk": "page walk", "all": "all"}
_SOURCES = {
    "memory": "memory",
    "M": "a cache, in M",
    "O": "a cache, in O",
    "E": "a cache, in E",
    "S": "a cache, in S",
}


def _each(prefix: str, labels: dict[str, str], style: Format, head: str = "") -> tuple[Entry, ...]:
    return tuple(
        Entry(text, f"{prefix}.{key}", style, head if position == 0 else "")
        for position, (key, text) in enumerate(labels.items())
    )


_LEVELS = {"l1": "L1", "l2": "L2"}
_PRIVILEGES = {"user": "user", "kernel": "kernel", "all": "all"}
# gem5 says what answered loads and fetches together; other engines have no such rows.
_ANSWERED = {
    **{kind: text for kind, text in _KINDS.items() if kind not in ("walk", "all")},
    "read": "load or instruction fetch",
    "all": "all",
}

_COUNTED = {
    "context_switches": "context switches",
    "migrations": "migrations of tasks",
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
    "delivery": "delivery and the rest of the server",
    "loadgen": "load generator",
    "idle": "idle",
    "kernel": "kernel threads",
    "other": "other",
}
# Sessions stand in the tables of the whole machine too.
_OTHERS = {key: text for key, text in _CLASSES.items() if key != "session"}
_ENTRIES = {
    "user": "user code",
    "system_call": "system calls",
    "fault": "faults and exceptions",
    "tick": "ticks",
    "interrupt": "other interrupts",
    "soft_interrupt": "soft interrupts",
    "idle": "idling",
    "kernel_thread": "kernel threads",
    "unknown": "unknown",
}


def _suffixed(labels: dict[str, str], suffix: str) -> dict[str, str]:
    return {f"{key}.{suffix}": text for key, text in labels.items()}


SECTIONS: tuple[Section, ...] = (
    Section(
        "L2 misses per 1000 instructions",
        _each("l2_mpki", _PRIVILEGES, THREE),
        "Each by the instructions retired at the same privilege.",
    ),
    Section(
        "L1 and L2 misses",
        (
            *_each("misses_m_per_s", _LEVELS, TWO, head="misses, million a modelled second"),
            *_each("misses_per_transaction", _LEVELS, WHOLE, head="misses for each transaction"),
        ),
        "Of the server's processors: all but those that the load generator has for itself.",
    ),
    Section(
        "Who serviced the L2 misses",
        (
            *_each("miss_source_of.session.all", _SOURCES, PERCENT, head="of sessions, the paper's population"),
            *(
                entry
                for kind, text in _ANSWERED.items()
                for entry in _each(f"miss_source.{kind}", _SOURCES, PERCENT, head=text)
            ),
            *_each("store_from_m_share", _PRIVILEGES, PERCENT, head="stores from a cache in M, of all misses"),
        ),
        "Share of the L2 misses of the same kind; all includes page walks where they are modelled. Sessions are the "
        "processes that serve users (the server's file names them), in user and in kernel code; the rest is of the "
        "whole machine.",
    ),
    Section(
        "Blocks that entered an L2, and what became of E",
        (
            *_each("fill_state", {state: f"entered in {state}" for state in "MOES"}, PERCENT, head="fills"),
            Entry("E share", "e_share_of.session", PERCENT, head="blocks that sessions brought in"),
            Entry("E to M, per block", "e_to_m_share_of.session", PERCENT),
            Entry("E share", "e_share", PERCENT, head="blocks that entered in E"),
            Entry("E to M, per block", "e_to_m_share", PERCENT),
            Entry("left E by a store (to M)", "e_fate.e_to_m", PERCENT, head="of those that left E"),
            Entry("left E by another core's read", "e_fate.e_downgraded", PERCENT),
            Entry("evicted in E", "e_fate.e_evicted", PERCENT),
            Entry("invalidated in E", "e_fate.e_invalidated", PERCENT),
            Entry("found E, of the stores in the L2", "stores_found_e_share", PERCENT, head="stores"),
            Entry("upgrades made, per 1000 instructions", "upgrade_pki.made", THREE),
            Entry("upgrades saved by E, per 1000", "upgrade_pki.saved", THREE),
            Entry("saved, of those without E", "upgrades_saved_share", PERCENT),
        ),
        "E to M per block is the paper's definition, of the blocks that entered in E. Both are counted in the "
        "region: blocks that entered before it and are stored to in it can take the share past 100% in a short "
        "one. The shares of those that left E count each block when it left.",
    ),
    Section(
        "By class of processes",
        (
            *_each("class_share", _suffixed(_CLASSES, "instructions"), PERCENT, head="instructions"),
            *_each("class_share", _suffixed(_CLASSES, "misses"), PERCENT, head="L2 misses"),
            *_each("miss_source_of", _suffixed(_OTHERS, "all.memory"), PERCENT, head="memory's share of them"),
            *_each("e_share_of", _OTHERS, PERCENT, head="E share"),
            *_each("l2_mpki_of", _CLASSES, THREE, head="L2 misses per 1000 instructions"),
            *_each("upgrade_pki_of", _CLASSES, THREE, head="upgrades per 1000 instructions"),
            *_each("class_processors", _CLASSES, TWO, head="processors busy"),
        ),
        "By the process that ran, or that an interrupt came upon; a block is of the class that brought it in. "
        "Memory's and E share of sessions stand above.",
    ),
    Section(
        "By entry of the kernel",
        (
            *_each("entry_share", _suffixed(_ENTRIES, "instructions"), PERCENT, head="instructions"),
            Entry("soft interrupts", "entry_share.soft_interrupt.cycles", PERCENT, head="busy cycles"),
            *_each("entry_share", _suffixed(_ENTRIES, "misses"), PERCENT, head="L2 misses"),
            *_each("miss_source_in", _suffixed(_ENTRIES, "memory"), PERCENT, head="memory's share of them"),
            *_each("upgrade_share.entry", _ENTRIES, PERCENT, head="upgrades"),
        ),
        "User code, and kernel code by what the processor was in the kernel for.",
    ),
    Section(
        "Bus traffic per 1000 instructions",
        _each(
            "traffic_pki",
            {
                "fills": "blocks fetched",
                "writebacks": "blocks written back",
                "upgrades": "permissions asked for",
                "all": "all",
            },
            THREE,
        ),
    ),
    Section(
        "Cache miss rates",
        (
            *_each("l1_miss_rate", _KINDS, FINE_PERCENT, head="L1, of the line accesses"),
            *_each("l2_miss_rate", _KINDS, FINE_PERCENT, head="L2, of the L2 accesses"),
        ),
    ),
    Section(
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
                },
                THREE,
            ),
            Entry("user", "cpi_at.user.all", THREE, head="CPI by privilege"),
            Entry("kernel", "cpi_at.kernel.all", THREE),
            *_each(
                "l2_stall",
                {kind: text for kind, text in _KINDS.items() if kind != "all"},
                PERCENT,
                head="stall cycles of L2 misses, by kind",
            ),
            Entry("store stalls for each load stall", "store_to_load_stall", TWO),
            Entry("with upgrades among the store stalls", "store_to_load_stall_with_upgrades", TWO),
        ),
        "Stall cycles follow from the machine file's latencies, which are assumed where the paper states none.",
    ),
    Section(
        "Instructions",
        (
            Entry("kernel, of the instructions", "kernel_share.instructions", PERCENT, head="shares"),
            Entry("kernel, of the busy cycles", "kernel_share.cycles", PERCENT),
            Entry("load generator, of the instructions", "loadgen_share.instructions", FINE_PERCENT),
            Entry("load generator, of the machine", "loadgen_share.machine", FINE_PERCENT),
            Entry("loads and stores", "instruction_group.loads_and_stores", PERCENT, head="mix"),
            Entry("branches", "instruction_group.branches", PERCENT),
            *_each(
                "instruction_mix",
                {
                    "load": "load only",
                    "store": "store only",
                    "load_store": "load and store in one",
                    "branch_conditional": "conditional branch",
                    "branch_unconditional": "other branch",
                    "other": "other",
                },
                PERCENT,
                head="mix by class",
            ),
        ),
        "x86 instructions: one that loads and stores counts once among loads and stores, a branch as a branch.",
    ),
    Section(
        "Load and machine",
        (
            Entry("throughput, transactions a second", "throughput", ONE),
            Entry("Mbit of documents a second", "body_mbit", ONE),
            Entry("mean response, ms", "response_ms", ONE),
            Entry("95th percentile of the response, ms", "response_p95_ms", ONE),
            Entry("mean think time that ended, ms", "think_ms", ONE),
            Entry("million instructions a transaction", "instructions_per_transaction", ONE),
            Entry("sent by the clients, Mbit a second", "payload_mbit.sent", ONE),
            Entry("received by them, Mbit a second", "payload_mbit.received", ONE),
            Entry("both ways, Mbit a second", "payload_mbit.all", ONE),
            Entry("utilisation", "utilisation", PERCENT),
            Entry("utilisation of the first processor", "busy_share.00", PERCENT),
            Entry("utilisation of the server's processors", "server_utilisation", PERCENT),
            Entry("cores busy for over half of the time", "busy_cores", ONE),
            Entry("interactive law", "interactive_law", THREE),
            Entry("what chance makes of it (standard deviation)", "interactive_law_chance", THREE),
            Entry("Little's law by transactions that ended", "little_law", THREE),
            Entry("utilisation law", "utilisation_law", THREE),
            Entry("modelled seconds", "modelled_s", TWO),
            Entry("million instructions", "instructions_m", WHOLE),
            Entry(
                "half of the instructions are in turns up to",
                "turn_length.median",
                WHOLE,
                head="QEMU's turns, instructions",
            ),
            Entry("longest", "turn_length.longest", WHOLE),
            Entry("in turns of 8192 and more", "turn_over.8192", PERCENT),
            Entry("in turns of 131072 and more", "turn_over.131072", PERCENT),
        ),
        "Modelled time. Interactive law: (clients in service + throughput x think) / clients; utilisation law: "
        "throughput x busy time a transaction / busy time a second. Both are 1 where the clock is right. Little's law: "
        "throughput x response / clients in service: what is not 1 of it was cut off at the region's ends.",
    ),
    Section(
        "Probes of memory",
        (
            Entry("copied, MB a second of processor time", "copy_mb", WHOLE),
            Entry("to hand the token over, ns of processor time", "token_ns", WHOLE),
            Entry("the L1", "data_miss_ratio.l1", FINE_PERCENT, head="loads and stores of their own that missed"),
            Entry("the L2, too", "data_miss_ratio.l2", FINE_PERCENT),
        ),
    ),
    Section(
        "Requests of scripts",
        (
            *_each("request_rate", _PROTOCOLS, ONE, head="requests a second"),
            *_each("request_ms", _PROTOCOLS, TWO, head="mean response, ms"),
            *_each("request_cpu_ms.imap", _CLASSES, THREE, head="processor time for an IMAP request, ms"),
        ),
        "A request is a command that was answered; connections are none.",
    ),
    Section(
        "Mail transport",
        (
            Entry("mean of the region", "mail_queue.mean", TWO, head="envelopes in the mail transport's queue"),
            Entry("when the region begins", "mail_queue.begin", WHOLE),
            Entry("when it ends", "mail_queue.end", WHOLE),
            Entry("accepted in the region", "mail_queue.accepted", WHOLE),
            Entry("deliveries put off or refused", "mail_put_off", WHOLE),
        ),
        "An envelope is a message to one recipient. A queue that is much longer at the end than at the begin is that "
        "of a server that does not keep up: its mean goes with the region's length. Where the load is not meant to be "
        "more than is delivered, such a run is no result.",
    ),
    Section(
        "Streams",
        (
            Entry("media that came to the clients, Mbit a second", "stream_mbit", TWO),
            Entry("that came", "stream_packets.received", WHOLE, head="packets"),
            Entry("lost", "stream_packets.lost", WHOLE),
            Entry("late", "stream_packets.late", WHOLE),
            *_each("stream_jitter_ms", _TIMES, TWO, head="jitter, ms"),
            *_each("stream_transit_ms", _TIMES, TWO, head="difference of packets' transit times, ms"),
        ),
        "Jitter is RFC 3550's: each client's smoothed mean of that difference, at the end of each of its plays.",
    ),
    Section(
        "The guest's kernel",
        (
            Entry("timer interrupts a processor, Hz", "tick_hz", WHOLE),
            Entry("the machine file's", "tick_hz_wanted", WHOLE),
            Entry("guest time for modelled time", "guest_time_ratio", TWO),
            Entry("the machine file's", "guest_time_ratio_wanted", TWO),
            Entry("waiting tasks a processor", "run_queue", THREE),
            Entry("busy", "disk_utilisation.all", PERCENT, head="disks"),
            Entry("service, ms", "disk_service_ms", TWO),
            Entry("response, ms", "disk_response_ms", TWO),
            Entry("requests in queues and in service", "disk_queue", ONE),
            Entry("reads a transaction", "disk_per_transaction.reads", TWO),
            Entry("writes a transaction", "disk_per_transaction.writes", TWO),
            Entry("idle for a disk, of idle processors", "iowait_share", PERCENT),
            *_each("guest_per_transaction", _COUNTED, ONE, head="for each transaction"),
            *_each("guest_rate", _COUNTED, WHOLE, head="a modelled second, all processors"),
            *_each("guest_time_share", _NAMES, PERCENT, head="processor time by process"),
        ),
        "By the kernel's own counters. Its ticks and the servers' timeouts are on guest time, which runs faster or "
        "slower than the modelled clock.",
    ),
)

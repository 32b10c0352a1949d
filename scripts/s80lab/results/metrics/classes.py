# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics by process class and by kernel entry cause. The class `session` is the paper's population."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps

from s80lab.base.format import PERCENT, THREE, TWO
from s80lab.base.vocabulary import texts
from s80lab.results.metrics.cache import shares, sources
from s80lab.results.metrics.cycles import cpi_parts, cycles, has_dimension
from s80lab.results.metrics.registry import REGISTRY, Measurement, Rows, Value, each_in, metric, ratio, within

POPULATION = "session"
# The tables of the whole machine show the sessions, so the table of process classes leaves them out.
OTHERS = {label: text for label, text in texts("class").items() if label != POPULATION}
COUNTED = {"instructions": "instructions", "misses": "l2_misses"}


def _of_each(compute: Callable[[Measurement, str], Value]) -> Callable[[Measurement], Value]:
    """The metric of each class; None if the engine does not separate classes."""

    @wraps(compute)
    def of_classes(m: Measurement) -> Value:
        if not has_dimension(m.region, "class"):
            return None
        return {label: compute(m, label) for label in m.region.header.labels["class"] if label != "any"}

    return of_classes


@metric(
    "share",
    "each process class's share of all instructions, of all busy cycles and of all L2 misses",
    "count of the class / count of all classes",
    Rows("classes", PERCENT, each_in(texts("class"), "instructions"), "share of the instructions"),
    Rows("classes", PERCENT, each_in(texts("class"), "misses"), "share of the L2 misses"),
)
@_of_each
def _class_share(m: Measurement, label: str) -> Value:
    counted = {
        name: ratio(m.region.total(stat, **{"class": label}), m.region.total(stat)) for name, stat in COUNTED.items()
    }
    return {**counted, "cycles": ratio(cycles(m.region, **{"class": label}), m.region.total("busy_cycles"))}


@metric(
    "processors",
    "mean number of processors that each process class keeps busy",
    "busy_cycles of the class / (clock_hz x clock_ns)",
    Rows("classes", TWO, texts("class"), "busy processors, on average"),
)
@_of_each
def _class_processors(m: Measurement, label: str) -> Value:
    return ratio(cycles(m.region, **{"class": label}), m.region.header.clock_hz * m.seconds)


@metric(
    "share",
    "share of the L2 misses of a process class that each miss source (memory, or another cache in M, O, E or "
    "S) serviced, by kind of access",
    "miss_source / l2_misses, by process class and kind of access",
    Rows("sources", PERCENT, within(f"{POPULATION}.all", texts("source")), "sessions (the processes that serve users)"),
    Rows("classes", PERCENT, each_in(OTHERS, "all.memory"), "share of the class's L2 misses serviced by memory"),
)
@_of_each
def _miss_source_of(m: Measurement, label: str) -> Value:
    table = m.region.by("miss_source", "class", "kind", "source")
    return sources(m.region, table[m.region.header.labels["class"].index(label)].tolist())


@metric(
    "misses per 1000 instructions",
    "L2 misses of each process class per 1000 instructions of the same class",
    "1000 x l2_misses / instructions, of the class",
    Rows("classes", THREE, texts("class"), "L2 misses per 1000 instructions"),
)
@_of_each
def _l2_mpki_of(m: Measurement, label: str) -> Value:
    return _per_1000(m, "l2_misses", label)


@metric(
    "upgrades per 1000 instructions",
    "upgrades by each process class per 1000 instructions of the same class",
    "1000 x upgrades / instructions, of the class",
    Rows("classes", THREE, texts("class"), "upgrades per 1000 instructions"),
)
@_of_each
def _upgrade_pki_of(m: Measurement, label: str) -> Value:
    return _per_1000(m, "upgrades", label)


def _per_1000(m: Measurement, statistic: str, label: str) -> float | None:
    """Events of a class per 1000 of its instructions."""
    instructions = m.region.total("instructions", **{"class": label}) / 1000
    return ratio(m.region.total(statistic, **{"class": label}), instructions)


@metric(
    "share",
    "E share (fills in state E, as a share of all fills) of the fills that each process class caused",
    "fills in E / fills, of the class",
    Rows("fills", PERCENT, {POPULATION: "E share"}, "fills by sessions"),
    Rows("classes", PERCENT, OTHERS, "E share"),
)
@_of_each
def _e_share_of(m: Measurement, label: str) -> Value:
    in_e = m.region.total("fills", **{"class": label, "state": "E"})
    return ratio(in_e, m.region.total("fills", **{"class": label}))


@metric(
    "share",
    "silent E-to-M upgrades per E fill, for the E fills that each process class caused. The store that makes "
    "the upgrade may be of any class",
    "e_to_m / fills in E, of the class",
    Rows("fills", PERCENT, {POPULATION: "silent E-to-M upgrades per E fill"}, "fills by sessions"),
)
@_of_each
def _e_to_m_share_of(m: Measurement, label: str) -> Value:
    in_e = m.region.total("fills", **{"class": label, "state": "E"})
    return ratio(m.region.total("e_to_m", **{"class": label}), in_e)


@metric(
    "cycles per instruction",
    "cycles per instruction and its parts (base cycles, stall cycles by service), for each process class",
    "as cpi, from the counts of each process class",
)
@_of_each
def _cpi_of(m: Measurement, label: str) -> Value:
    at = m.region.header.labels["class"].index(label)
    stalls = m.region.by("stall_cycles", "class", "service")[at].tolist()
    return cpi_parts(m.region, stalls, m.region.total("instructions", **{"class": label}))


@metric(
    "share",
    "kernel code's share of the instructions and of the busy cycles, for each process class",
    "as kernel_share, from the counts of each process class",
)
@_of_each
def _kernel_share_of(m: Measurement, label: str) -> Value:
    kernel, whole = {"privilege": "kernel", "class": label}, {"class": label}
    return {
        "instructions": ratio(m.region.total("instructions", **kernel), m.region.total("instructions", **whole)),
        "cycles": ratio(cycles(m.region, **kernel), cycles(m.region, **whole)),
    }


def _entries(m: Measurement, name: str) -> Mapping[str, int] | None:
    """The statistic by kernel entry cause, over all classes; None if the engine does not record causes."""
    if name not in m.region.header.statistics:
        return None
    return dict(zip(m.region.header.labels["entry"], m.region.by(name, "entry").tolist(), strict=True))


@metric(
    "share",
    "share of all instructions, of all busy cycles and of all L2 misses that belong to user code, and to "
    "kernel code of each entry cause",
    "of each entry / of all entries: entry_instructions; entry_instructions x base CPI + entry_stall_cycles; "
    "entry_miss_source",
    Rows("entries", PERCENT, each_in(texts("entry"), "instructions"), "share of the instructions"),
    Rows("entries", PERCENT, {"soft_interrupt.cycles": "soft interrupts"}, "share of the busy cycles"),
    Rows("entries", PERCENT, each_in(texts("entry"), "misses"), "share of the L2 misses"),
)
def _entry_share(m: Measurement) -> Value:
    instructions = _entries(m, "entry_instructions")
    stalls, misses = _entries(m, "entry_stall_cycles"), _entries(m, "entry_miss_source")
    if instructions is None or stalls is None or misses is None:
        return None
    busy = {entry: count * m.region.header.base_cpi + stalls[entry] for entry, count in instructions.items()}
    return {
        entry: {
            "instructions": ratio(instructions[entry], sum(instructions.values())),
            "cycles": ratio(busy[entry], sum(busy.values())),
            "misses": ratio(misses[entry], sum(misses.values())),
        }
        for entry in instructions
    }


@metric(
    "share",
    "share of the L2 misses that each miss source (memory, or another cache in M, O, E or S) serviced, for "
    "user code and for kernel code of each entry cause",
    "entry_miss_source of the source / of all sources, by entry",
    Rows("entries", PERCENT, each_in(texts("entry"), "memory"), "share of the cause's L2 misses serviced by memory"),
)
def _miss_source_in(m: Measurement) -> Value:
    if "entry_miss_source" not in m.region.header.statistics:
        return None
    labels = m.region.header.labels
    table = m.region.by("entry_miss_source", "entry", "source").tolist()
    return {entry: shares(labels["source"], counts) for entry, counts in zip(labels["entry"], table, strict=True)}


@metric(
    "share",
    "each process class's share, and each kernel entry cause's share, of all upgrades",
    "entry_upgrades of the class or entry / of all",
    Rows("entries", PERCENT, within("entry", texts("entry")), "share of the upgrades"),
)
def _upgrade_share(m: Measurement) -> Value:
    if "entry_upgrades" not in m.region.header.statistics:
        return None
    labels = m.region.header.labels
    return {dim: shares(labels[dim], m.region.by("entry_upgrades", dim).tolist()) for dim in ("class", "entry")}


# Metrics of the whole machine, computed for this class alone, too.
OF_POPULATION = (
    "l2_stall",
    "walk_stall_from_memory",
    "store_to_load_stall",
    "store_to_load_stall_with_upgrades",
    "store_from_m_share",
    "instruction_group",
)


@metric(
    "as the metric named after `session.`",
    "the metric named after `session.`, for the process class session only: the server processes that serve "
    "users, in user and in kernel code. Koka and Lipasti report these processes",
    "as the metric named after `session.`, from the counts of the class session only",
)
def _session(m: Measurement) -> Value:
    if POPULATION not in m.region.header.labels["class"]:
        return None
    alone = replace(m, region=m.region.only(**{"class": POPULATION}))
    return {name: REGISTRY[name].compute(alone) for name in OF_POPULATION}

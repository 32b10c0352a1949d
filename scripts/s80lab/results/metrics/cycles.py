# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of instructions and cycles: CPI and its parts, stalls by kind of access, kernel and load generator shares."""

from __future__ import annotations

from s80lab.base.format import FINE_PERCENT, PERCENT, THREE, TWO
from s80lab.base.vocabulary import LABELS, texts
from s80lab.results.metrics.registry import Measurement, Rows, Value, each_in, metric, ratio
from s80lab.results.snapshots import Delta

# Services of accesses that missed the L2; their stalls are the paper's "L2 stall cycles".
L2_MISS_SERVICES = ("memory", "llc", "group", "cache")
# Memory accesses of a page walk for a 4 KB page (larger pages need fewer).
WALK_LEVELS = 4
L2_STALLS = "stall cycles of L2 misses, by kind of access"


def cpi_parts(region: Delta, stalls: list[int], instructions: int) -> Value:
    services = region.header.labels["service"]
    parts = {service: ratio(stall, instructions) for service, stall in zip(services, stalls, strict=True)}
    if region.header.threads_per_core == 1:
        parts.pop("issue", None)  # nobody to wait for
    if region.header.cores * region.header.threads_per_core == 1:
        parts.pop("order", None)
    base = instructions * region.header.base_cpi
    return {"all": ratio(base + sum(stalls), instructions), "base": ratio(base, instructions), **parts}


@metric(
    "cycles per instruction",
    "cycles per instruction (all), and its parts: base cycles, and stall cycles by the service that caused "
    "them (L2 hit, memory, another cache, upgrade; issue: waits for the core's other thread; order: waits for a "
    "conflicting access of another processor)",
    "busy_cycles / instructions; parts: base cycles / instructions, stall_cycles of the service / instructions",
    Rows("cpi", THREE, {"all": "CPI", "base": "base", **texts("service")}),
)
def _cpi(m: Measurement) -> Value:
    return cpi_parts(m.region, m.region.by("stall_cycles", "service").tolist(), m.region.total("instructions"))


@metric(
    "cycles per instruction",
    "cycles per instruction and its parts (base cycles, stall cycles by service), for user code and for kernel code",
    "as cpi, from the counts of each privilege",
    Rows("cpi", THREE, each_in(texts("privilege"), "all"), "CPI by privilege"),
)
def _cpi_at(m: Measurement) -> Value:
    labels = m.region.header.labels["privilege"]
    stalls = m.region.by("stall_cycles", "privilege", "service").tolist()
    instructions = m.region.by("instructions", "privilege").tolist()
    return {
        label: cpi_parts(m.region, stall, count)
        for label, stall, count in zip(labels, stalls, instructions, strict=True)
    }


def _l2_miss_stalls(region: Delta, kind: str) -> int:
    services = [one for one in L2_MISS_SERVICES if one in region.header.labels["service"]]
    return sum(region.total("stall_cycles", kind=kind, service=service) for service in services)


@metric(
    "share",
    "stall cycles of L2 misses of each kind of access, as a share of the stall cycles of all L2 misses. walk: "
    "misses of the page-table walker, null if the machine does not model it",
    "stall_cycles with the service memory or cache, of the kind / of all kinds",
    Rows("cpi", PERCENT, texts("kind"), L2_STALLS),
)
def _l2_stall(m: Measurement) -> Value:
    kinds = m.region.header.labels["kind"]
    stalls = {kind: _l2_miss_stalls(m.region, kind) for kind in kinds}
    modelled = {kind: m.region.total("accesses", kind=kind) > 0 for kind in kinds}
    total = sum(stalls.values())
    return {kind: ratio(stall, total) if modelled[kind] else None for kind, stall in stalls.items()}


@metric(
    "share",
    "estimate for another page table: share of page walks in the stall cycles of L2 misses if each TLB miss "
    "cost one memory access, as with a PowerPC page table entry group (PTEG)",
    "W / (W + L2 miss stall_cycles of other kinds), W = accesses by walks / 4 x stall_cycles per miss from "
    "memory (a walk of a 4 KB page has 4 accesses)",
)
def _walk_stall_from_memory(m: Measurement) -> Value:
    stall = ratio(m.region.total("stall_cycles", service="memory"), m.region.total("miss_source", source="memory"))
    if stall is None or not m.region.total("accesses", kind="walk"):
        return None
    walks = m.region.total("accesses", kind="walk") / WALK_LEVELS * stall
    return ratio(walks, walks + sum(_l2_miss_stalls(m.region, kind) for kind in LABELS["kind"] if kind != "walk"))


@metric(
    "ratio",
    "stall cycles of L2 misses by stores, divided by the stall cycles of L2 misses by loads",
    "L2 miss stall_cycles of stores / of loads",
    Rows("cpi", TWO, "store stall cycles per load stall cycle", L2_STALLS),
)
def _store_to_load_stall(m: Measurement) -> Value:
    return ratio(_l2_miss_stalls(m.region, "store"), _l2_miss_stalls(m.region, "load"))


@metric(
    "ratio",
    "stall cycles of L2 misses by stores plus stall cycles of upgrades, divided by the stall cycles of L2 "
    "misses by loads",
    "(L2 miss stall_cycles of stores + stall_cycles of upgrades) / L2 miss stall_cycles of loads",
    Rows("cpi", TWO, "store and upgrade stall cycles per load stall cycle", L2_STALLS),
)
def _store_to_load_stall_with_upgrades(m: Measurement) -> Value:
    stores = _l2_miss_stalls(m.region, "store") + m.region.total("stall_cycles", kind="store", service="upgrade")
    return ratio(stores, _l2_miss_stalls(m.region, "load"))


def cycles(region: Delta, **where: str) -> float:
    return region.total("instructions", **where) * region.header.base_cpi + region.total("stall_cycles", **where)


def has_dimension(region: Delta, dim: str) -> bool:
    """Whether the engine separates the labels of this dimension; if it does not (gem5), it uses the label `any`."""
    return "any" not in region.header.labels[dim] or not region.total("instructions", **{dim: "any"})


@metric(
    "share",
    "kernel code's share of all instructions (instructions) and of all busy cycles (cycles)",
    "instructions of kernel code / instructions; busy cycles of kernel code / busy_cycles",
    Rows("headline", PERCENT, {"cycles": "kernel, share of the busy cycles"}),
    Rows(
        "instructions",
        PERCENT,
        {"instructions": "kernel, share of the instructions", "cycles": "kernel, share of the busy cycles"},
    ),
)
def _kernel_share(m: Measurement) -> Value:
    kernel = {"privilege": "kernel"}
    if not has_dimension(m.region, "privilege"):
        return dict.fromkeys(("instructions", "cycles"))
    return {
        "instructions": ratio(m.region.total("instructions", **kernel), m.region.total("instructions")),
        "cycles": ratio(cycles(m.region, **kernel), m.region.total("busy_cycles")),
    }


@metric(
    "share",
    "the load generator's share of all instructions (instructions), of all busy cycles (cycles), and of all "
    "busy and idle cycles of the machine (machine)",
    "instructions of the class loadgen / instructions; its busy cycles / busy_cycles; its busy cycles / (cores "
    "x threads x clock_ns x clock_hz)",
    Rows(
        "instructions",
        FINE_PERCENT,
        {
            "instructions": "load generator, share of the instructions",
            "machine": "load generator, share of the machine's cycles",
        },
    ),
)
def _loadgen_share(m: Measurement) -> Value:
    loadgen = {"class": "loadgen"}
    if not has_dimension(m.region, "class"):
        return dict.fromkeys(("instructions", "cycles", "machine"))
    return {
        "instructions": ratio(m.region.total("instructions", **loadgen), m.region.total("instructions")),
        "cycles": ratio(cycles(m.region, **loadgen), m.region.total("busy_cycles")),
        "machine": ratio(cycles(m.region, **loadgen), m.capacity_cycles),
    }


@metric(
    "share",
    "retired instructions of each instruction class, as a share of all instructions. An instruction of the "
    "class load_store reads and writes memory",
    "instruction_class / instructions",
    Rows("instructions", PERCENT, texts("instruction"), "instruction mix by class"),
    of_caches=False,
)
def _instruction_mix(m: Measurement) -> Value:
    classes = m.region.header.labels["instruction"]
    counts = m.region.by("instruction_class", "instruction").tolist()
    return {name: ratio(count, sum(counts)) for name, count in zip(classes, counts, strict=True)}


@metric(
    "share",
    "instructions in the two groups that Koka and Lipasti report, as shares of all instructions: instructions "
    "that load or store or both (loads_and_stores), and branches",
    "(load + store + load_store) / instruction_class; (conditional + unconditional branches) / instruction_class",
    Rows(
        "instructions",
        PERCENT,
        {"loads_and_stores": "loads and stores", "branches": "branches"},
        "instruction mix, two groups",
    ),
    of_caches=False,
)
def _instruction_group(m: Measurement) -> Value:
    total = m.region.total("instruction_class")
    groups = {
        "loads_and_stores": ("load", "store", "load_store"),
        "branches": ("branch_conditional", "branch_unconditional"),
    }
    return {
        group: ratio(sum(m.region.total("instruction_class", instruction=name) for name in names), total)
        for group, names in groups.items()
    }

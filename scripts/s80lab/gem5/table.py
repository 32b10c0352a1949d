# SPDX-License-Identifier: GPL-2.0-or-later
"""Translation table from gem5's statistics to s80lab's: transitions STATE.EVENT of MOESI_hammer, latencies of the
sequencers, and counters of the processors. docs/reference/gem5.md describes the table.

Ruby's state `MM` is M. Ruby's `M` is a block without other copies that this core has not stored to: E, or a block that
a migratory M handed over dirty. `e` in this table means both. A cache in `S` never supplies a block. A store to a
block in S or O sends GETX, like a miss. Ruby does not record which request a supplier answered. Miss sources are
therefore known for reads (loads and fetches together) and for stores, summed over all cores.
"""

from __future__ import annotations

from itertools import product

SYSTEM = "board.cache_hierarchy.ruby_system."
CACHE = SYSTEM + "L1Cache_Controller."
DIRECTORY = SYSTEM + "Directory_Controller."

Names = tuple[str, ...]


def cache(states: Names, events: Names) -> Names:
    """Rows with one element per core."""
    return tuple(f"{CACHE}{state}.{event}" for state, event in product(states, events))


def directory(states: Names, events: Names) -> Names:
    return tuple(f"{DIRECTORY}{state}.{event}" for state, event in product(states, events))


# States in which an access finds its block in the L1 that it looks into (at rest, or while the block's own transaction
# is under way), has just had it moved there from the core's L2, or has to ask for it.
_READABLE = ("S", "SM", "ISM", "O", "OM", "SS", "M", "M_W", "MM", "MM_W")
_FROM_L2 = ("SR", "OR", "MR", "MMR")
_MISS = ("I", "IR")
_UPGRADE, _UPGRADE_FROM_L2 = ("S", "O"), ("SR", "OR")
_STORE_IN_E = ("M", "M_W", "MR")
_STORE_IN_M = ("MM", "MM_W")
_STORE_IN_M_FROM_L2 = ("MMR",)
# Stalled: the same access is counted again when it is tried again.
STALLED = ("IM", "IS", "OI", "MI", "II", "ST", "OT", "MT", "MMT")
STALLED_STORES = ("SM", "ISM", "OM", "SS")
EVENTS = {"ifetch": "Ifetch", "load": "Load", "store": "Store"}

_GETS = ("Other_GETS", "Other_GETS_No_Mig", "NC_DMA_GETS", "Merged_GETS")

# Accesses by kind: statistic -> kind -> rows.
ACCESSES: dict[str, dict[str, Names]] = {
    "accesses": {
        **{kind: cache(_READABLE + _FROM_L2 + _MISS, (EVENTS[kind],)) for kind in ("ifetch", "load")},
        "store": cache(
            _STORE_IN_M + _STORE_IN_M_FROM_L2 + _STORE_IN_E + _UPGRADE + _UPGRADE_FROM_L2 + _MISS, ("Store",)
        ),
    },
    "l1_misses": {kind: cache(_FROM_L2 + _MISS, (event,)) for kind, event in EVENTS.items()},
    "l2_accesses": {
        **{kind: cache(_FROM_L2 + _MISS, (EVENTS[kind],)) for kind in ("ifetch", "load")},
        "store": cache(_FROM_L2 + _MISS + _UPGRADE + ("M", "M_W"), ("Store",)),
    },
    "l2_misses": {kind: cache(_MISS, (event,)) for kind, event in EVENTS.items()},
}

# Stores that asked with a copy and lost it on the way: they get the block as misses do.
UPGRADES_LOST_IN_S = cache(("SM",), ("Other_GETX", "Invalidate"))
UPGRADES_LOST = UPGRADES_LOST_IN_S + cache(("OM",), ("Other_GETX", "Invalidate"))

# Blocks that came, by who asked and the state they came in.
FILLS: dict[tuple[str, str], Names] = {
    ("read", "E"): cache(("IS",), ("Exclusive_Data",)),
    ("read", "S"): cache(("IS",), ("Data", "Shared_Data")),
    ("store", "M"): cache(_MISS, ("Store",)),
}

UPGRADES = cache(_UPGRADE + _UPGRADE_FROM_L2, ("Store",))
# With a copy in S it is an owner in O, or memory where the directory has no owner but knows of copies, that sends data.
UPGRADES_FROM_S = cache(("S", "SR"), ("Store",))
STORES_WITH_COPIES = directory(("O",), ("GETX",))

# By core.
COUNTS: dict[str, Names] = {
    "e_to_m": cache(_STORE_IN_E, ("Store",)),
    "e_downgraded": cache(("M",), _GETS),
    "e_evicted": cache(("M",), ("L2_Replacement",)),
    "e_invalidated": cache(("M",), ("Other_GETX", "Invalidate")),
    "l2_evictions": cache(("S", "O", "M", "MM"), ("L2_Replacement",)),
    # An O may be clean; a block that came in dirty and was not stored to leaves as `M`, which may be either.
    "l2_writebacks": cache(("O", "MM"), ("L2_Replacement",)),
    "l2_invalidations": cache(("S", "SM", "O", "OM", "M", "MM"), ("Other_GETX", "Invalidate"))
    + cache(("MM",), ("Other_GETS",)),
    "interventions": cache(("MM", "M", "O", "OM", "MI", "OI"), (*_GETS, "Other_GETX")),
}

# Who answered, of all cores together: memory by the directory's transitions, caches by their own. A block on its way
# out (MI: M or E, OI: O) still answers.
SOURCES: dict[tuple[str, str], Names] = {
    ("read", "memory"): directory(("E", "O"), ("GETS",)),
    ("read", "M"): cache(("MM", "MI"), _GETS),
    # A read that joins merged ones (NO_B_S) is answered together with them, mostly by an owner in O.
    ("read", "O"): cache(("O", "OM", "OI"), _GETS) + directory(("NO_B_S",), ("GETS",)),
    ("read", "E"): cache(("M",), _GETS),
    ("store", "memory"): directory(("E", "O"), ("GETX",)),
    ("store", "M"): cache(("MM", "MI"), ("Other_GETX",)),
    ("store", "O"): cache(("O", "OM", "OI"), ("Other_GETX",)),
    ("store", "E"): cache(("M",), ("Other_GETX",)),
}

# The sequencers' types of request, by kind. A locked operation asks for the block as a store does.
REQUESTS: dict[str, Names] = {
    "ifetch": ("IFETCH",),
    "load": ("LD", "Load_Linked"),
    "store": ("ST", "ATOMIC", "RMW_Read", "RMW_Write", "Locked_RMW_Read", "Locked_RMW_Write", "Store_Conditional"),
}
# Histograms of latencies, by service: `hit`: within the core; `miss`: who answered.
SERVICES: dict[str, Names] = {
    "l2": ("L2Cache.hit_type_mach_latency_hist_seqr",),
    "memory": ("Directory.miss_type_mach_latency_hist_seqr",),
    "cache": ("L1Cache.miss_type_mach_latency_hist_seqr", "L1Cache_wCC.miss_type_mach_latency_hist_seqr"),
}
L1_LATENCY = 1
"""Cycles of an access that hits in the L1. All further cycles of an access are stall cycles."""


def latency_row(request: str, histogram: str, part: str) -> str:
    return f"{SYSTEM}RequestTypeMachineType.{request}.{histogram}::{part}"


# The processors' counters. One alone has no number.
PROCESSOR = r"board\.processor\.cores(\d*)\.core\."
INSTRUCTIONS = PROCESSOR + r"commitStats0\.numInsts"
OPERATIONS = PROCESSOR + r"commitStats0\.numOps"
# Functions of the guest's kernel whose calls are counted, by the name of the counter that each call raises by one.
CALLS = {
    "interrupt.timer": "sysvec_apic_timer_interrupt",
    "interrupt.reschedule": "sysvec_reschedule_ipi",
    "context_switches": "__switch_to_asm",
}
# Of the ticks, those in which it did not wait for an interrupt. `numBusyCycles` is no measure: gem5 adds the cycles of
# a whole wait, and after a restore all those before the checkpoint, when the processor goes on.
BUSY_FRACTION = PROCESSOR + r"exec_context\.thread_0\.notIdleFraction"
# By micro-operation. Floating-point and vector accesses to memory are types of their own.
OPERATION_TYPE = PROCESSOR + r"commitStats0\.committedInstType::{name}"
CONTROL = PROCESSOR + r"commitStats0\.committedControl::{name}"
CLASSES: dict[str, Names] = {"load": ("MemRead", "FloatMemRead"), "store": ("MemWrite", "FloatMemWrite")}
BRANCHES: dict[str, str] = {"branch_conditional": "IsCondControl", "branch_unconditional": "IsUncondControl"}

TICKS = "simTicks"
TICKS_PER_NS = 1000
TICKS_PER_S = 10**12
# Transactions are work items, which the simulation's script counts as they end (facts.json; gem5's own statistics lack
# those that began before the restore): of a type, or of this number more where they failed (markers.h of the load
# generator).
FAILED = 16

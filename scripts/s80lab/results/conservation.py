# SPDX-License-Identifier: GPL-2.0-or-later
"""Conservation checks: equations between counters that every run must satisfy
(docs/reference/interfaces/snapshots.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from s80lab.base.errors import UserError
from s80lab.results.run_folder import RunFolder
from s80lab.results.snapshots import Counts, Delta, Snapshots

# The model counts base cycles in these parts of a cycle, so that a fractional base CPI stays exact.
CYCLE_PARTS = 256
# gem5 separates stores from reads, but not loads from instruction fetches.
READ = "read"
REQUEST, REQUESTS = "request", (READ, "store")
# Statistics by kernel entry cause, and the same statistics by privilege.
ENTRIES = {
    "entry_instructions": "instructions",
    "entry_miss_source": "miss_source",
    "entry_upgrades": "upgrades",
    "entry_stall_cycles": "stall_cycles",
}
E_FATES = ("e_to_m", "e_downgraded", "e_evicted", "e_invalidated")

Sides = tuple[tuple[str, ...], Counts, Counts]


class ConservationError(UserError):
    """A conservation check failed: two numbers that must agree do not."""

    def __init__(self, name: str, span: str, where: str, left: int, right: int, statement: str) -> None:
        self.name = name
        at = f" ({where})" if where else ""
        super().__init__(
            f"conservation check {name} failed over {span}{at}: the counts are {left} and {right}, but "
            f"{statement}; the statistics of this run are wrong: do not use them"
        )


@dataclass(frozen=True)
class ConservationCheck:
    """A conservation check: two sides over the same dimensions and their relation, element by element. both_ends: one
    side counts accesses at their start, the other at their end, so the sides may differ by the accesses in flight.
    engine: the only engine that is checked; None: all."""

    name: str
    statement: str
    sides: Callable[[Delta], Sides]
    relation: Literal["==", "<="] = "=="
    both_ends: bool = False
    engine: str | None = None

    def violations(self, delta: Delta, dims: tuple[str, ...], left: Counts, right: Counts) -> Counts:
        """Mask of the elements that violate the relation."""
        cores = 1 if "core" in dims else delta.header.cores
        slack = delta.header.in_flight * cores if self.both_ends else 0
        return np.asarray(np.abs(left - right) > slack if self.relation == "==" else left > right)


def _same_shape(left: str, right: str) -> Callable[[Delta], Sides]:
    def sides(delta: Delta) -> Sides:
        return delta.header.statistics[left].dims, delta[left], delta[right]

    return sides


def _summed(left: str, right: str, *dims: str) -> Callable[[Delta], Sides]:
    """Two statistics, each summed over all dimensions but the given ones."""

    def sides(delta: Delta) -> Sides:
        return dims, delta.by(left, *dims), delta.by(right, *dims)

    return sides


def _pair(delta: Delta, left: str, right: str, dims: tuple[str, ...]) -> Sides:
    """Two statistics over the same dimensions; kinds of access that the engine does not separate are summed."""
    kinds = delta.header.labels["kind"]
    sides = delta.by(left, *dims), delta.by(right, *dims)
    if READ not in kinds:
        return dims, *sides
    axis = dims.index("kind")
    stores = [side.take([kinds.index("store")], axis) for side in sides]
    reads = [side.sum(axis=axis, keepdims=True) - store for side, store in zip(sides, stores, strict=True)]
    requests = [np.concatenate(both, axis) for both in zip(reads, stores, strict=True)]
    return tuple(REQUEST if dim == "kind" else dim for dim in dims), requests[0], requests[1]


def _sources(delta: Delta) -> Sides:
    dims = tuple(dim for dim in delta.header.statistics["miss_source"].dims if dim != "source")
    return _pair(delta, "miss_source", "l2_misses", dims)


def _fills(delta: Delta) -> Sides:
    return _pair(delta, "fills", "l2_misses", ("core", "class", "kind"))


def _fate_of_e(delta: Delta) -> Sides:
    states = delta.header.labels["state"]
    entered = delta.by("fills", "core", "class", "state")[:, :, states.index("E")]
    went = sum((delta[fate] for fate in E_FATES), start=delta["e_resident"])
    return ("core", "class"), entered, np.asarray(went)


def _left_e(delta: Delta) -> Sides:
    resident = delta.end.values["e_resident"]
    return ("core", "class"), np.zeros_like(resident), resident


def _instructions(delta: Delta) -> Sides:
    return (), delta["instructions"].sum(), np.asarray(delta.instructions)


def _cycles(delta: Delta) -> Sides:
    parts = round(delta.header.base_cpi * CYCLE_PARTS)
    before, after = (line.values["instructions"].sum(axis=(1, 2)) for line in (delta.begin, delta.end))
    base = after * parts // CYCLE_PARTS - before * parts // CYCLE_PARTS
    return ("core",), np.asarray(base + delta.by("stall_cycles", "core")), delta["busy_cycles"]


def _busy_within_time(delta: Delta) -> Sides:
    """Busy cycles of each core, and the cycles (rounded up) that the clock and the largest lead allow: a processor may
    begin the stretch behind by as much as it is ahead at the end."""
    header = delta.header
    if header.longest_lead_ns is None:
        return (), np.asarray(0), np.asarray(0)
    ns = delta.clock_ns + 1 + 2 * header.longest_lead_ns
    cycles = -(-ns * header.clock_hz * header.threads_per_core // 1_000_000_000)
    return ("core",), delta["busy_cycles"], np.full(header.cores, cycles)


def _entries(name: str, whole: str) -> Callable[[Delta], Sides]:
    """A statistic by kernel entry cause, summed to user and kernel code, and the same statistic by privilege."""

    def sides(delta: Delta) -> Sides:
        others = delta.header.statistics[name].dims[2:]
        user = delta.header.labels["entry"].index("user")
        counts = delta.by(name, "entry", "class", *others)
        by_privilege = np.stack([counts[user], counts.sum(axis=0) - counts[user]])
        dims = ("privilege", "class", *others)
        return dims, by_privilege, delta.by(whole, *dims)

    return sides


def _since_start(delta: Delta) -> Delta:
    """The stretch from the start of the counts to the end of `delta`."""
    return replace(delta, begin=replace(delta.end, values={name: 0 * v for name, v in delta.end.values.items()}))


def _after_recall(delta: Delta) -> Sides:
    """Since the start: a copy may be recalled before the stretch, and missed in it. What a group cache lost, a core of
    the group misses."""
    ends = _since_start(delta)
    if _has_groups(delta):
        copies = ends.total("recalled_copies") + ends.total("group_blocks", group_event="recall")
        return (), np.asarray(ends.total("misses_after_recall")), np.asarray(copies)
    dims = ("core", "recall_cause")
    return dims, ends.by("misses_after_recall", *dims), ends.by("recalled_copies", *dims)


def _has_groups(delta: Delta) -> bool:
    return "group_blocks" in delta.header.statistics


def _group_hits(delta: Delta) -> Sides:
    misses = delta.total("miss_source", source="group")
    return (), np.asarray(misses), np.asarray(delta.total("group_blocks", group_event="hit"))


def _left_group(delta: Delta) -> Sides:
    """Since the start, because blocks leave that entered before the stretch."""
    counts = _since_start(delta).by("group_blocks", "group_event", "class")
    events = delta.header.labels["group_event"]
    left = sum(counts[events.index(event)] for event in ("hit", "eviction", "invalidation"))
    return ("class",), np.asarray(left), counts[events.index("fill")]


HOME_CONSERVATION_CHECKS: tuple[ConservationCheck, ...] = (
    ConservationCheck(
        "after_recall_within_recalled",
        "a core misses at most once for each copy that it lost by a recall",
        _after_recall,
        "<=",
    ),
    ConservationCheck(
        "after_recall_within_misses",
        "the misses after a recall are L2 misses",
        _summed("misses_after_recall", "l2_misses", "core", "privilege", "class", "kind"),
        "<=",
    ),
    ConservationCheck(
        "recalled_within_invalidations",
        "each recalled copy is an invalidated block",
        _summed("recalled_copies", "l2_invalidations", "core"),
        "<=",
    ),
)
"""Of machines with a last-level cache or a directory."""

GROUP_CONSERVATION_CHECKS: tuple[ConservationCheck, ...] = (
    ConservationCheck(
        "group_misses_are_hits",
        "for each L2 miss that a group cache services, it gives a block to a core",
        _group_hits,
        "<=",
    ),
    ConservationCheck(
        "group_left_after_it_entered", "at most as many blocks left the group caches as entered", _left_group, "<="
    ),
)
"""Of machines with group caches."""

CONSERVATION_CHECKS: tuple[ConservationCheck, ...] = (
    ConservationCheck(
        "sources_sum_to_misses", "the sources of the L2 misses sum to the L2 misses", _sources, both_ends=True
    ),
    ConservationCheck("fills_sum_to_misses", "the fills by state sum to the L2 misses", _fills, both_ends=True),
    ConservationCheck(
        "fate_of_e",
        "blocks filled in E = went to M + downgraded + evicted + invalidated + still in E",
        _fate_of_e,
        engine="model",
    ),
    ConservationCheck(
        "classes_sum_to_instructions",
        "the instruction classes sum to the instructions of all cores",
        _summed("instruction_class", "instructions", "privilege", "class"),
        engine="model",
    ),
    ConservationCheck(
        "cores_sum_to_instructions",
        "the instructions of all cores sum to the instructions of the run",
        _instructions,
        engine="model",
    ),
    ConservationCheck(
        "l1_misses_within_accesses",
        "an access misses the L1 at most once",
        _same_shape("l1_misses", "accesses"),
        "<=",
    ),
    ConservationCheck(
        "l2_misses_within_accesses",
        "an L2 access misses at most once",
        _same_shape("l2_misses", "l2_accesses"),
        "<=",
    ),
    ConservationCheck(
        "stores_found_e_went_to_m",
        "each store that found a block in E took that block to M",
        _summed("stores_found_e", "e_to_m", "core"),
        engine="model",
    ),
    *(
        ConservationCheck(
            f"entries_sum_to_{whole}",
            f"{whole} by kernel entry cause sum to {whole} of user code and of kernel code",
            _entries(name, whole),
            engine="model",
        )
        for name, whole in ENTRIES.items()
    ),
    # gem5 does not count the blocks that are in E: they are those that entered less those that left.
    ConservationCheck(
        "e_left_after_it_entered", "at most as many blocks left E as entered E", _left_e, "<=", engine="gem5"
    ),
    ConservationCheck(
        "cycles_sum_to_busy", "base cycles and stall cycles sum to the busy cycles", _cycles, engine="model"
    ),
    ConservationCheck(
        "busy_within_time",
        "no core is busy for longer than the elapsed simulated time plus twice the largest lead",
        _busy_within_time,
        "<=",
        engine="model",
    ),
    ConservationCheck(
        "stalls_within_busy",
        "stall cycles are at most the busy cycles",
        _summed("stall_cycles", "busy_cycles"),
        "<=",
        engine="gem5",
    ),
)

COUNTERS_GROW = "counters_only_grow"
TRANSACTIONS = "transactions_match_markers"


def check_stretch(delta: Delta, span: str) -> list[str]:
    """Runs all conservation checks over one stretch. Returns their names; raises ConservationError."""
    _check_growth(delta, span)
    of_home = HOME_CONSERVATION_CHECKS if "recalls" in delta.header.statistics else ()
    of_groups = GROUP_CONSERVATION_CHECKS if _has_groups(delta) else ()
    checks = [
        check for check in (*CONSERVATION_CHECKS, *of_home, *of_groups) if check.engine in (None, delta.header.engine)
    ]
    for check in checks:
        dims, left, right = check.sides(delta)
        bad = check.violations(delta, dims, left, right)
        if np.any(bad):
            first = tuple(int(axis[0]) for axis in np.nonzero(np.atleast_1d(bad))) if dims else ()
            raise ConservationError(
                check.name,
                span,
                _place(delta, dims, first),
                int(left[first]),
                int(right[first]),
                check.statement,
            )
    return [COUNTERS_GROW, *(check.name for check in checks)]


def check_transactions(region: Delta, result: Mapping[str, Any]) -> None:
    """Compares the region's TX_END markers with the load generator's own counts.

    The load generator sees the two ends of the region on the phase page, shortly after the plugin has set them. Each
    client has one transaction in progress at a time. At either end, at most one transaction per client can therefore
    count for the region on one side only. The counts, by type and in total, may differ by the number of clients at
    most.
    """
    clients = int(result["clients"])
    for outcome, key in (("good", "count"), ("failed", "failed")):
        # A marker bears a transaction's place in the job; the places' labels are the names of IMAP's.
        places = region.header.labels["transaction"]
        names = [*result["transactions"], *(f"place {i}" for i in range(len(result["transactions"]), len(places)))]
        counts = {name: int(entry[key]) for name, entry in result["transactions"].items()}
        markers = {
            name: region.total("transactions", transaction=place, outcome=outcome)
            for name, place in zip(names, places, strict=False)
        }
        pairs = [(name, markers.get(name, 0), counts.get(name, 0)) for name in sorted({*markers, *counts})]
        for name, marked, counted in [*pairs, ("all types", sum(markers.values()), sum(counts.values()))]:
            if abs(marked - counted) > clients:
                raise ConservationError(
                    TRANSACTIONS,
                    "the measured region",
                    f"{name}, {outcome}",
                    marked,
                    counted,
                    f"TX_END markers and the load generator's counts differ by at most {clients}, the number of "
                    "clients",
                )


def check_run(run: RunFolder) -> list[str]:
    """Checks one run over the whole run, the measured region and every sampling interval. Returns the names of the
    checks. ConservationError (a UserError) has the name of the failed check and both numbers."""
    names = check_snapshots(run.snapshots)
    check_transactions(run.snapshots.region(), run.transactions)
    return [*names, TRANSACTIONS]


def check_snapshots(snapshots: Snapshots) -> list[str]:
    """Runs all checks on the snapshots, without the load generator's counts. Returns the names of the checks."""
    check_stretch(snapshots.whole(), "the whole run")
    names = check_stretch(snapshots.region(), "the measured region")
    for number, interval in enumerate(snapshots.intervals()):
        check_stretch(interval, f"sampling interval {number}")
    return names


def _check_growth(delta: Delta, span: str) -> None:
    for name, statistic in delta.header.statistics.items():
        shrunk = np.argwhere(delta[name] < 0)
        if statistic.gauge or not len(shrunk):
            continue
        first = tuple(int(axis) for axis in shrunk[0])
        where = f"{name}, {_place(delta, statistic.dims, first)}"
        before, after = int(delta.begin.values[name][first]), int(delta.end.values[name][first])
        raise ConservationError(COUNTERS_GROW, span, where, before, after, "counters never decrease")


def _place(delta: Delta, dims: tuple[str, ...], index: tuple[int, ...]) -> str:
    labels = {**delta.header.labels, REQUEST: REQUESTS}
    return ", ".join(f"{dim} {labels[dim][at]}" for dim, at in zip(dims, index, strict=True))

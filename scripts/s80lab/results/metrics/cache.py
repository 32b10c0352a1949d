# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the caches: miss rates, miss sources, fills by state and the fate of E blocks, upgrades, bus traffic."""

from __future__ import annotations

from collections.abc import Mapping

from s80lab.base.format import FINE_PERCENT, PERCENT, THREE, TWO, WHOLE
from s80lab.base.vocabulary import LABELS, texts
from s80lab.results.metrics.registry import Measurement, Rows, Value, metric, ratio, within
from s80lab.results.snapshots import Delta

ALL = "all"
# Bus transactions by the statistic that counts them.
TRAFFIC = {"fills": "fills", "writebacks": "l2_writebacks", "upgrades": "upgrades"}
MISSES = {"l1": "l1_misses", "l2": "l2_misses"}
LEVELS = {"l1": "L1", "l2": "L2"}
# gem5 counts the sources of loads and fetches together (`read`); other engines have no such metric. Page walks have no
# rows.
SERVICED = {
    **{kind: text for kind, text in texts("kind").items() if kind != "walk"},
    "read": "load or instruction fetch",
    ALL: "all",
}
E_FATES = {
    "e_to_m": "store (silent upgrade to M)",
    "e_downgraded": "read by another core",
    "e_evicted": "eviction",
    "e_invalidated": "invalidation",
}


def _split(region: Delta, part: str, whole: str, dim: str) -> dict[str, float | None]:
    """part / whole by the labels of one dimension, and over all of them."""
    labels = region.header.labels[dim]
    parts, wholes = region.by(part, dim).tolist(), region.by(whole, dim).tolist()
    shares = {label: ratio(p, w) for label, p, w in zip(labels, parts, wholes, strict=True)}
    return {**shares, ALL: ratio(sum(parts), sum(wholes))}


def _per_1000(region: Delta, counts: Mapping[str, int]) -> dict[str, float | None]:
    """Counts per 1000 instructions of all processors."""
    instructions = region.total("instructions") / 1000
    return {label: ratio(count, instructions) for label, count in counts.items()}


def shares(labels: tuple[str, ...], counts: list[int]) -> dict[str, float | None]:
    return {label: ratio(count, sum(counts)) for label, count in zip(labels, counts, strict=True)}


@metric(
    "misses per 1000 instructions",
    "L2 misses per 1000 instructions: of user code (user), of kernel code (kernel) and of both (all)",
    "1000 x l2_misses / instructions of the same privilege",
    Rows("headline", THREE, {ALL: "L2 misses per 1000 instructions"}),
    Rows("mpki", THREE, texts("privilege", ALL)),
)
def _l2_mpki(m: Measurement) -> Value:
    rates = _split(m.region, "l2_misses", "instructions", "privilege")
    return {label: None if rate is None else 1000 * rate for label, rate in rates.items()}


@metric(
    "misses per 1000 instructions",
    "L1 misses by kind of access, per 1000 instructions of any kind. Do not compare it between qemu and gem5: "
    "the engines differ in what they count as one access",
    "1000 x l1_misses / instructions",
)
def _l1_mpki(m: Measurement) -> Value:
    labels, counts = m.region.header.labels["kind"], m.region.by("l1_misses", "kind").tolist()
    instructions = m.region.total("instructions")
    return {label: ratio(1000 * count, instructions) for label, count in zip(labels, counts, strict=True)}


def _misses(m: Measurement) -> dict[str, int]:
    """L1 and L2 misses of the server's cores, by cache level."""
    return {level: int(m.region.by(statistic, "core")[m.server_cores].sum()) for level, statistic in MISSES.items()}


@metric(
    "million misses per simulated second",
    "L1 misses and L2 misses of the server's cores, per simulated second. Cores that the machine file reserves "
    "for the load generator are left out",
    "l1_misses / clock_ns; l2_misses / clock_ns",
    Rows("levels", TWO, LEVELS, "million misses per simulated second"),
)
def _misses_m_per_s(m: Measurement) -> Value:
    return {level: ratio(count / 1e6, m.seconds) for level, count in _misses(m).items()}


@metric(
    "misses per transaction",
    "L1 misses and L2 misses of the server's cores (without cores that the machine file reserves for the load "
    "generator), per successful transaction",
    "l1_misses or l2_misses / TX_END markers (good)",
    Rows("levels", WHOLE, LEVELS, "misses per transaction"),
)
def _misses_per_transaction(m: Measurement) -> Value:
    done = m.region.total("transactions", outcome="good")
    return {level: ratio(count, done) for level, count in _misses(m).items()}


@metric(
    "share",
    "L1 misses of a kind of access, as a share of all line accesses of that kind",
    "l1_misses / accesses",
    Rows("miss-rates", FINE_PERCENT, texts("kind", ALL), "L1 misses, share of the line accesses"),
)
def _l1_miss_rate(m: Measurement) -> Value:
    return _split(m.region, "l1_misses", "accesses", "kind")


@metric(
    "share",
    "L2 misses of a kind of access, as a share of all L2 accesses of that kind",
    "l2_misses / l2_accesses",
    Rows("miss-rates", FINE_PERCENT, texts("kind", ALL), "L2 misses, share of the L2 accesses"),
)
def _l2_miss_rate(m: Measurement) -> Value:
    return _split(m.region, "l2_misses", "l2_accesses", "kind")


@metric(
    "share",
    "L2 misses of each kind of access (ifetch, load, store, walk), as a share of all L2 misses",
    "l2_misses of the kind / l2_misses",
)
def _miss_kind(m: Measurement) -> Value:
    return shares(m.region.header.labels["kind"], m.region.by("l2_misses", "kind").tolist())


def sources(region: Delta, table: list[list[int]]) -> Mapping[str, Value]:
    sources = region.header.labels["source"]
    kinds = dict(zip(region.header.labels["kind"], table, strict=True))
    kinds[ALL] = [sum(column) for column in zip(*table, strict=True)]
    return {kind: shares(sources, counts) for kind, counts in kinds.items()}


@metric(
    "share",
    "share of the L2 misses that each miss source serviced: memory, or another cache that held the block in M, "
    "O, E or S; for each kind of access and for all kinds",
    "miss_source / l2_misses, by kind of access",
    Rows(
        "headline",
        PERCENT,
        {
            f"all.{source}": f"L2 misses serviced by {'a cache in ' if source in LABELS['state'] else ''}{source}"
            for source in LABELS["source"]
        },
    ),
    *(Rows("sources", PERCENT, within(kind, texts("source")), text) for kind, text in SERVICED.items()),
)
def _miss_source(m: Measurement) -> Value:
    return sources(m.region, m.region.by("miss_source", "kind", "source").tolist())


@metric(
    "share",
    "share of the L2 misses that each miss source (memory, or another cache in M, O, E or S) serviced, for "
    "user code and for kernel code, by kind of access",
    "miss_source / l2_misses, by privilege and kind of access",
)
def _miss_source_at(m: Measurement) -> Value:
    tables = m.region.by("miss_source", "privilege", "kind", "source").tolist()
    labels = m.region.header.labels["privilege"]
    return {label: sources(m.region, table) for label, table in zip(labels, tables, strict=True)}


@metric(
    "share",
    "L2 misses by stores whose block came from another cache in M, as a share of all L2 misses; for stores of "
    "user code, of kernel code and of both",
    "miss_source of stores from M / l2_misses",
    Rows("sources", PERCENT, texts("privilege", ALL), "stores serviced by a cache in M, share of all misses"),
)
def _store_from_m_share(m: Measurement) -> Value:
    misses, labels = m.region.total("miss_source"), m.region.header.labels["privilege"]
    stores = {label: m.region.total("miss_source", privilege=label, kind="store", source="M") for label in labels}
    return {label: ratio(count, misses) for label, count in {**stores, ALL: sum(stores.values())}.items()}


@metric(
    "share",
    "fills (blocks that enter an L2) by the state in which the block enters, as shares of all fills",
    "fills in the state / fills",
    Rows("fills", PERCENT, {state: f"filled in {state}" for state in LABELS["state"]}, "state of the fills"),
)
def _fill_state(m: Measurement) -> Value:
    return shares(m.region.header.labels["state"], m.region.by("fills", "state").tolist())


@metric(
    "share",
    "E share: fills in state E, as a share of all fills",
    "fills in E / fills",
    Rows("headline", PERCENT, "E share (E fills, of all fills)"),
    Rows("fills", PERCENT, "E share", "fills by the whole machine"),
)
def _e_share(m: Measurement) -> Value:
    return ratio(m.region.total("fills", state="E"), m.region.total("fills"))


@metric(
    "share",
    "silent E-to-M upgrades per E fill: the share of blocks filled in E that are stored to while in E",
    "e_to_m / fills in E",
    Rows("headline", PERCENT, "silent E-to-M upgrades per E fill"),
    Rows("fills", PERCENT, "silent E-to-M upgrades per E fill", "fills by the whole machine"),
)
def _e_to_m_share(m: Measurement) -> Value:
    """Counted per block, as in Koka and Lipasti."""
    return ratio(m.region.total("e_to_m"), m.region.total("fills", state="E"))


@metric(
    "share",
    "why blocks that entered in E left state E, as shares of all such blocks: a store (e_to_m), a read by "
    "another core (e_downgraded), eviction (e_evicted), invalidation (e_invalidated)",
    "e_to_m, e_downgraded, e_evicted or e_invalidated / their sum",
    Rows("fills", PERCENT, E_FATES, "why blocks left E"),
)
def _e_fate(m: Measurement) -> Value:
    return shares(tuple(E_FATES), [m.region.total(fate) for fate in E_FATES])


@metric(
    "share",
    "stores that find their block in state E, as a share of all stores that reach the L2",
    "stores_found_e / l2_accesses by stores",
    Rows("fills", PERCENT, "stores that found their block in E, share of stores to the L2", "stores and upgrades"),
)
def _stores_found_e_share(m: Measurement) -> Value:
    return ratio(m.region.total("stores_found_e"), m.region.total("l2_accesses", kind="store"))


@metric(
    "upgrades per 1000 instructions",
    "upgrades that were sent on the bus as requests for write permission (made), and upgrades that state E "
    "avoided (saved)",
    "made: 1000 x upgrades / instructions; saved: 1000 x stores_found_e / instructions",
    Rows(
        "fills",
        THREE,
        {
            "made": "upgrades issued, per 1000 instructions",
            "saved": "upgrades avoided by E, per 1000 instructions",
        },
        "stores and upgrades",
    ),
)
def _upgrade_pki(m: Measurement) -> Value:
    return _per_1000(m.region, {"made": m.region.total("upgrades"), "saved": m.region.total("stores_found_e")})


@metric(
    "bus transactions per 1000 instructions",
    "bus transactions of the caches by type: fills (blocks fetched), writebacks, upgrades (requests for write "
    "permission); and the sum of all three (all)",
    "1000 x fills, l2_writebacks, upgrades or their sum / instructions",
    Rows(
        "traffic",
        THREE,
        {
            "fills": "fills (blocks fetched)",
            "writebacks": "writebacks",
            "upgrades": "upgrades (write permission requests)",
            ALL: "all",
        },
    ),
)
def _traffic_pki(m: Measurement) -> Value:
    parts = {name: m.region.total(statistic) for name, statistic in TRAFFIC.items()}
    return _per_1000(m.region, {**parts, ALL: sum(parts.values())})


@metric(
    "share",
    "upgrades avoided by E: stores that found their block in E, as a share of the upgrades that the same run "
    "would issue without state E",
    "stores_found_e / (upgrades + stores_found_e)",
    Rows("headline", PERCENT, "upgrades avoided by E, share of upgrades without E"),
    Rows("fills", PERCENT, "upgrades avoided by E, share of upgrades without E", "stores and upgrades"),
)
def _upgrades_saved_share(m: Measurement) -> Value:
    saved = m.region.total("stores_found_e")
    return ratio(saved, saved + m.region.total("upgrades"))


def _of_home(m: Measurement, name: str, dim: str, whole: float, per: float = 1) -> Value:
    """A statistic by one dimension as a ratio; nothing on machines without the statistic."""
    if name not in m.region.header.statistics:
        return {}
    return {
        label: ratio(per * count, whole)
        for label, count in zip(m.region.header.labels[dim], m.region.by(name, dim).tolist(), strict=True)
    }


@metric(
    "per 1000 instructions",
    "blocks that the home recalled from the L2s, because the last-level cache needed the way (llc) or the directory "
    "the entry (directory); only for machines with either",
    "1000 recalls / instructions, by cause",
)
def _recalls_pki(m: Measurement) -> Value:
    return _of_home(m, "recalls", "recall_cause", m.region.instructions, 1000)


@metric(
    "share",
    "L2 misses on a line whose last copy in the core was recalled, as a share of all L2 misses, by cause of the "
    "recall; only for machines with a last-level cache or a directory",
    "misses_after_recall / l2_misses, by cause",
)
def _after_recall_share(m: Measurement) -> Value:
    return _of_home(m, "misses_after_recall", "recall_cause", m.region.total("l2_misses"))


@metric(
    "per 1000 instructions",
    "blocks that entered the last-level cache (fill), left it (eviction) and were written from it to memory "
    "(writeback); only for machines with a last-level cache or a directory",
    "1000 llc_blocks / instructions, by event",
)
def _llc_pki(m: Measurement) -> Value:
    return _of_home(m, "llc_blocks", "llc_event", m.region.instructions, 1000)


@metric(
    "per 1000 instructions",
    "blocks of group caches by event: fill (an L2 evicted the block), hit (it moved to an L2 that missed), eviction, "
    "writeback, invalidation, recall (an invalidation by the home), supply (a core of another group got the data); "
    "only for machines with group caches",
    "1000 group_blocks / instructions, by event",
)
def _group_pki(m: Measurement) -> Value:
    return _of_home(m, "group_blocks", "group_event", m.region.instructions, 1000)

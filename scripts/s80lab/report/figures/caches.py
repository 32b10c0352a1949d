# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of caches and instructions: miss sources, state E, CPI, stalls, instruction mix."""

from __future__ import annotations

from collections.abc import Sequence

from s80lab.analysis.groups import NOT_WARM, Group
from s80lab.base.vocabulary import LABELS, texts
from s80lab.report.figures.chart import plain, stacked_bars
from s80lab.report.figures.drawing import Drawing
from s80lab.report.figures.registry import picture
from s80lab.results import paper

SERVICES = {
    "l2": "L2 hit",
    "cache": "another cache",
    "llc": "last-level cache",
    "group": "group cache",
    "issue": "wait for the core's other thread",
    "order": "wait for another processor",
}
"""Words of the chart's legend for services; the others are words themselves."""
FATES = {
    "M": ("e_fate.e_to_m", "store (silent upgrade to M)"),
    "S": ("e_fate.e_downgraded", "read by another core"),
    "evicted": ("e_fate.e_evicted", "eviction"),
    "invalidated": ("e_fate.e_invalidated", "invalidation"),
}


def sources_of(groups: Sequence[Group]) -> dict[str, str]:
    """The words for each miss source of the groups' machines: only some have a last-level cache or group caches."""
    return {
        source: text
        for source, text in texts("source").items()
        if any(group.has(f"miss_source.all.{source}") for group in groups)
    }


def panel_title(group: Group, *, of_caches: bool = True) -> str:
    """The group's label; with a remark if its runs had not reached steady state and the numbers depend on the
    caches."""
    return group.label + (f" ({NOT_WARM})" if of_caches and not group.warm else "")


@picture(
    "Sources of the L2 misses",
    "Sources of the L2 misses, by privilege and kind of access. Each bar is 100% of the misses of its kind; the "
    "numbers in the bars are percent. gem5 does not separate user from kernel code, nor loads from instruction "
    "fetches.",
)
def miss_source(groups: Sequence[Group]) -> list[Drawing]:
    """A chart per group."""
    charts = []
    for group in groups:
        bars = [*_bars(group), ("all", "miss_source.all")]
        sources = sources_of([group])
        rows = [(word, [group.mean(f"{metric}.{source}") for source in sources]) for word, metric in bars]
        charts.append(stacked_bars(panel_title(group), rows, sources, "share of the L2 misses"))
    return charts


def _bars(group: Group) -> list[tuple[str, str]]:
    """Label and metric of each bar. gem5 separates neither privileges nor loads from fetches."""
    if group.has("miss_source.read.memory"):
        return [("load or fetch", "miss_source.read"), ("store", "miss_source.store")]
    kinds = [*(kind for kind in LABELS["kind"] if kind != "walk"), "all"]
    return [
        (f"{privilege} {kind.removeprefix('i')}", f"miss_source_at.{privilege}.{kind}")
        for privilege in LABELS["privilege"]
        for kind in kinds
    ]


@picture(
    "Fills of the L2 caches, and the fate of E blocks",
    "Fills of the L2 caches by the state in which the block enters; and why blocks that entered in E left E.",
)
def e_state(groups: Sequence[Group]) -> list[Drawing]:
    fills = [(panel_title(group), [group.mean(f"fill_state.{state}") for state in LABELS["state"]]) for group in groups]
    fates = [(panel_title(group), [group.mean(metric) for metric, _ in FATES.values()]) for group in groups]
    return [
        stacked_bars("Fills by state", fills, {state: state for state in LABELS["state"]}, "share of the fills"),
        stacked_bars(
            "Why blocks left E",
            fates,
            {name: word for name, (_, word) in FATES.items()},
            "share of the blocks that left E",
        ),
    ]


@picture(
    "Cycles per instruction",
    "Cycles per instruction: base cycles, and stall cycles by what serviced the access. The numbers at the right are "
    "the sums.",
)
def cpi(groups: Sequence[Group]) -> list[Drawing]:
    """A chart per group; all have the same scale."""
    words = {"base": "base"} | {
        service: SERVICES.get(service, service)
        for service in LABELS["service"]
        if any(group.has(f"cpi.{service}") for group in groups)
    }
    of_groups = []
    for group in groups:
        known = [name for name in LABELS["privilege"] if group.estimate(f"cpi_at.{name}.all") is not None]
        bars = [*((name, f"cpi_at.{name}") for name in known), ("all", "cpi")]
        of_groups.append([(name, [group.mean(f"{metric}.{part}") for part in words]) for name, metric in bars])
    widest = max((sum(parts) for rows in of_groups for _, parts in rows), default=1.0)
    return [
        stacked_bars(
            panel_title(group),
            rows,
            words,
            "cycles per instruction",
            form=plain,
            inside=_two_digits,
            sums=_two_digits,
            widest=widest,
        )
        for group, rows in zip(groups, of_groups, strict=True)
    ]


def _two_digits(value: float) -> str:
    return f"{value:.2f}"


@picture(
    "L2 stall cycles by kind of access",
    "Stall cycles of L2 misses by the kind of access that waited. Page walks are those of x86's page-table "
    "walker. Figure 7 of Koka and Lipasti divides the stall cycles in the same way.",
)
def l2_stalls(groups: Sequence[Group]) -> list[Drawing]:
    kinds = {
        "E": ("load", "load"),
        "M": ("store", "store"),
        "S": ("ifetch", "instruction fetch"),
        "O": ("walk", "page walk"),
    }
    rows = [(panel_title(group), [group.mean(f"l2_stall.{kind}") for kind, _ in kinds.values()]) for group in groups]
    words = {colour: word for colour, (_, word) in kinds.items()}
    return [stacked_bars("", rows, words, "share of the stall cycles")]


@picture(
    "Instruction mix",
    "Retired instructions by class. Koka and Lipasti state one number for loads and stores together, and one "
    "for branches.",
    of_caches=False,
)
def instruction_mix(groups: Sequence[Group]) -> list[Drawing]:
    classes = {
        "E": ("load", "load"),
        "M": ("store", "store"),
        "O": ("load_store", "load and store"),
        "S": ("branch_conditional", "conditional branch"),
        "upgrade": ("branch_unconditional", "other branch"),
        "memory": ("other", "other"),
    }
    rows = [
        (group.label, [group.mean(f"instruction_mix.{name}") for name, _ in classes.values()]) for group in groups
    ] + _paper_mix(groups)
    words = {colour: word for colour, (_, word) in classes.items()}
    return [stacked_bars("", rows, words, "share of the retired instructions")]


def _paper_mix(groups: Sequence[Group]) -> list[tuple[str, list[float]]]:
    """The paper's two shares as a bar: one part for loads and stores, one for branches."""
    stated = []
    for metric in ("instruction_group.loads_and_stores", "instruction_group.branches"):
        claim = next((found for group in groups if (found := paper.claim_on(metric, group.workload))), None)
        if claim is None or claim.low is None:
            return []
        stated.append(claim.low / 100)
    memory, branches = stated
    return [("paper", [memory, 0.0, 0.0, branches, 0.0, 1 - memory - branches])]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of caches and instructions: miss sources, state E, CPI, stalls, instruction mix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from s80lab.analysis.groups import NOT_WARM, Group
from s80lab.report.figures.registry import picture
from s80lab.report.figures.style import INK, key, label_lines, panel_each, panels, percent_axis, stacked
from s80lab.results import paper

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCES = ("memory", "M", "O", "E", "S")
FATES = {
    "M": ("e_fate.e_to_m", "store (silent upgrade to M)"),
    "S": ("e_fate.e_downgraded", "read by another core"),
    "evicted": ("e_fate.e_evicted", "eviction"),
    "invalidated": ("e_fate.e_invalidated", "invalidation"),
}


def panel_title(group: Group, *, of_caches: bool = True) -> str:
    """The group's label; with a remark if its runs had not reached steady state and the numbers depend on the
    caches."""
    return label_lines(group.label + (f" ({NOT_WARM})" if of_caches and not group.warm else ""))


@picture(
    "miss_source",
    "Sources of the L2 misses",
    "Sources of the L2 misses, by privilege and kind of access. Each bar is 100% of the misses of its kind; the "
    "numbers in the bars are percent. gem5 does not separate user from kernel code, nor loads from instruction "
    "fetches.",
)
def miss_source(groups: Sequence[Group]) -> Figure:
    figure, axes = panel_each(len(groups), 3.0)
    for axis, group in zip(axes, groups, strict=True):
        bars = [*_bars(group), ("all", "miss_source.all")]
        rows = [(word, [group.mean(f"{metric}.{source}") for source in SOURCES]) for word, metric in bars]
        stacked(axis, rows, SOURCES, 100)
        percent_axis(axis, "L2 misses")
        axis.set_title(panel_title(group))
    key(figure, [("memory", "memory"), *((state, f"another cache, in {state}") for state in "MOES")])
    return figure


def _bars(group: Group) -> list[tuple[str, str]]:
    """Label and metric of each bar. gem5 separates neither privileges nor loads from fetches."""
    if group.has("miss_source.read.memory"):
        return [("load or fetch", "miss_source.read"), ("store", "miss_source.store")]
    kinds = {"ifetch": "fetch", "load": "load", "store": "store", "all": "all"}
    return [
        (f"{privilege} {word}", f"miss_source_at.{privilege}.{kind}")
        for privilege in ("user", "kernel")
        for kind, word in kinds.items()
    ]


@picture(
    "e_state",
    "Fills of the L2 caches, and the fate of E blocks",
    "Top: fills of the L2 caches by the state in which the block enters. Bottom: why blocks that entered in E left E.",
)
def e_state(groups: Sequence[Group]) -> Figure:
    figure, axes = panels(2, 1, 1.9 + 0.6 * len(groups), share_x=False)
    fills = [(panel_title(g), [g.mean(f"fill_state.{state}") for state in "MOES"]) for g in groups]
    stacked(axes[0], fills, tuple("MOES"), 100)
    percent_axis(axes[0], "fills")
    key(axes[0], [(state, state) for state in "MOES"], "Fills by state")
    fates = [(panel_title(g), [g.mean(metric) for metric, _ in FATES.values()]) for g in groups]
    stacked(axes[1], fates, tuple(FATES), 100)
    percent_axis(axes[1], "blocks that left E")
    words = [(colour, word) for colour, (_, word) in FATES.items()]
    key(axes[1], words, "Why blocks left E")
    return figure


@picture(
    "cpi",
    "Cycles per instruction",
    "Cycles per instruction: base cycles, and stall cycles by what serviced the access. The numbers at the right are "
    "the sums.",
)
def cpi(groups: Sequence[Group]) -> Figure:
    figure, axes = panel_each(len(groups), 1.9)
    words = {"base": "base", "l2": "L2 hit", "memory": "memory", "cache": "another cache", "upgrade": "upgrade"}
    if any(group.has("cpi.issue") for group in groups):
        words["issue"] = "wait for the core's other thread"
    if any(group.has("cpi.order") for group in groups):
        words["order"] = "wait for another processor"
    for axis, group in zip(axes, groups, strict=True):
        told = [name for name in ("user", "kernel") if group.estimate(f"cpi_at.{name}.all") is not None]
        bars = [*((name, f"cpi_at.{name}") for name in told), ("all", "cpi")]
        rows = [(name, [group.mean(f"{metric}.{part}") for part in words]) for name, metric in bars]
        stacked(axis, rows, tuple(words), 1)
        for place, (_, parts) in enumerate(reversed(rows)):
            axis.text(sum(parts), place, f" {sum(parts):.2f}", va="center", color=INK, fontsize=8.5)
        axis.set_xlabel("cycles per instruction")
        axis.set_title(panel_title(group))
    widest = max(axis.get_xlim()[1] for axis in axes)
    for axis in axes:
        axis.set_xlim(0, widest * 1.14)
    key(figure, list(words.items()))
    return figure


@picture(
    "l2_stalls",
    "L2 stall cycles by kind of access",
    "Stall cycles of L2 misses by the kind of access that waited. Page walks are those of x86's page-table "
    "walker. Figure 7 of Koka and Lipasti divides the stall cycles in the same way.",
)
def l2_stalls(groups: Sequence[Group]) -> Figure:
    parts = {
        "load": ("load", "E"),
        "store": ("store", "M"),
        "ifetch": ("instruction fetch", "S"),
        "walk": ("page walk", "O"),
    }
    rows = [(label_lines(group.label), [group.mean(f"l2_stall.{name}") for name in parts]) for group in groups]
    figure, (axis,) = panels(1, 1, 1.1 + 0.36 * len(rows))
    stacked(axis, rows, [colour for _, colour in parts.values()], 100)
    percent_axis(axis, "stall cycles")
    key(figure, [(colour, word) for word, colour in parts.values()])
    return figure


@picture(
    "instruction_mix",
    "Instruction mix",
    "Retired instructions by class. Koka and Lipasti state one number for loads and stores together, and one "
    "for branches.",
    of_caches=False,
)
def instruction_mix(groups: Sequence[Group]) -> Figure:
    classes = {
        "load": ("load", "E"),
        "store": ("store", "M"),
        "load_store": ("load and store", "O"),
        "branch_conditional": ("conditional branch", "S"),
        "branch_unconditional": ("other branch", "upgrade"),
        "other": ("other", "memory"),
    }
    colours = tuple(colour for _, colour in classes.values())
    rows = [(label_lines(group.label), [group.mean(f"instruction_mix.{name}") for name in classes]) for group in groups]
    rows += _paper_mix(groups)
    figure, (axis,) = panels(1, 1, 1.1 + 0.36 * len(rows))
    stacked(axis, rows, colours, 100)
    percent_axis(axis, "retired instructions")
    key(figure, [(colour, word) for word, colour in classes.values()])
    return figure


def _paper_mix(groups: Sequence[Group]) -> list[tuple[str, list[float]]]:
    """The paper's two shares as a bar: one part for loads and stores, one for branches."""
    stated = []
    for metric in ("instruction_group.loads_and_stores", "instruction_group.branches"):
        claim = next((found for group in groups if (found := paper.claim_on(metric, group.mix))), None)
        if claim is None or claim.low is None:
            return []
        stated.append(claim.low / 100)
    memory, branches = stated
    return [("paper", [memory, 0.0, 0.0, branches, 0.0, 1 - memory - branches])]

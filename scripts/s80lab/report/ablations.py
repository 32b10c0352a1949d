# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of an ablation: the headline shares of each variant of the machine."""

from __future__ import annotations

from collections.abc import Sequence

from s80lab.analysis.groups import Group
from s80lab.analysis.sections import Entry
from s80lab.base.format import ONE, PERCENT, THREE, WHOLE
from s80lab.report.seeds import averaged_text, units_text
from s80lab.report.tables import Cell, Table, table_by_group
from s80lab.report.validity import verdicts_with_reasons

ENTRIES = (
    Entry("memory", "miss_source.all.memory", PERCENT),
    Entry("from M", "miss_source.all.M", PERCENT),
    Entry("E share", "e_share", PERCENT),
    Entry("E to M", "e_to_m_share", PERCENT),
    Entry("kernel", "kernel_share.cycles", PERCENT),
    Entry("MPKI", "l2_mpki.all", THREE),
    Entry("upgrades", "upgrade_pki.made", THREE),
    Entry("utilisation", "utilisation", PERCENT),
    Entry("timer, Hz", "tick_hz", WHOLE),
    Entry("M instr. / transaction", "instructions_per_transaction", ONE),
)


def ablation_table(title: str, groups: Sequence[Group]) -> Table:
    """One row per variant, which is the label of a group: means with 95% intervals, and the speed on this host. The
    note states the invalid runs."""
    table = table_by_group(title, groups, ENTRIES, {"runs": _runs, "MIPS": _speed})
    table.note = (
        "Each row has some of the changes to the guest, which configs/knockouts.toml describes. Cells: means over "
        f"{units_text(groups)} ± 95% confidence intervals.{averaged_text(groups)} memory, from M: shares of the L2 "
        "misses. E to M: silent E-to-M upgrades per E fill. kernel: share of the busy cycles. MPKI, upgrades: L2 "
        "misses and upgrades per 1000 instructions. timer: timer interrupts per processor and simulated second. MIPS: "
        "million instructions that this host simulated per second."
    )
    for verdict, why in verdicts_with_reasons(groups):
        table.note += f" {verdict} {why}"
    return table


def _runs(group: Group) -> Cell:
    return Cell(str(len(group.runs)))


def _speed(group: Group) -> Cell:
    speeds = [float(run.manifest["mips"]) for run in group.runs]
    return Cell(f"{sum(speeds) / len(speeds):.0f}")

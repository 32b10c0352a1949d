# SPDX-License-Identifier: GPL-2.0-or-later
"""Knock-outs: what each property of the guest does to the shares, each alone and all together.

`configs/knockouts.toml` says of each change how it is taken out of a machine again: words of the kernel's command line
that go, and values of the machine file that are put back. A variant has some of the changes; the first has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field, model_validator

from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, validate
from s80lab.config.experiment import Phases
from s80lab.config.machine import Machine
from s80lab.report.data import Group
from s80lab.report.rows import ONE, PERCENT, THREE, TWO, WHOLE, Format
from s80lab.report.tables import Cell, Row, Table, number

# Metric, its title, and its form: the columns of the table.
COLUMNS: tuple[tuple[str, str, Format], ...] = (
    ("miss_source.all.memory", "memory", PERCENT),
    ("miss_source.all.M", "from M", PERCENT),
    ("e_share", "E share", PERCENT),
    ("e_to_m_share", "E to M", PERCENT),
    ("kernel_share.cycles", "kernel", PERCENT),
    ("l2_mpki.all", "MPKI", THREE),
    ("upgrade_pki.made", "upgrades", THREE),
    ("utilisation", "utilisation", PERCENT),
    ("tick_hz", "ticks, Hz", WHOLE),
    ("guest_time_ratio", "guest time", TWO),
    ("instructions_per_transaction", "M instr. a transaction", ONE),
)


class Change(Strict):
    """One change and how to take it out. words: of `guest.kernel_args`; settings: keys of the machine file."""

    description: str
    words: tuple[str, ...] = ()
    settings: dict[str, str | int | float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _does_something(self) -> Change:
        if not self.words and not self.settings:
            raise ValueError("neither `words` nor `settings`: nothing is taken out")
        return self


class Changes(Strict):
    """The file, in its order. lengths: by scale, what is put over the experiment's phases."""

    changes: dict[str, Change]
    lengths: dict[str, dict[str, int | float]] = Field(default_factory=dict)

    def lengthened(self, phases: Phases, scale: str) -> Phases:
        """The phases of a variant's runs. UserError where they do not go together."""
        return validate(phases.model_dump() | self.lengths.get(scale, {}), Phases, f"knock-outs: lengths.{scale}")


@dataclass(frozen=True)
class Variant:
    """A machine with some of the changes; settings: what is put over its file to take out the others."""

    name: str
    settings: Mapping[str, object]


def variants(changes: Mapping[str, Change], machine: Machine) -> list[Variant]:
    """None of the changes, each alone, all of them. UserError where a word is not on the command line."""
    everything = list(changes)
    chosen = {"none": [], **{f"{name} alone": [name] for name in everything}, "all": everything}
    return [Variant(label, _taken_out(changes, kept, machine)) for label, kept in chosen.items()]


def _taken_out(changes: Mapping[str, Change], kept: Sequence[str], machine: Machine) -> dict[str, object]:
    out = [change for name, change in changes.items() if name not in kept]
    settings: dict[str, object] = {key: value for change in out for key, value in change.settings.items()}
    words = machine.guest.kernel_args.split()
    gone = {word for change in out for word in change.words}
    missing = gone - set(words)
    if missing:
        raise UserError(f"knock-outs: {', '.join(sorted(missing))}: not among the kernel_args of {machine.name}")
    if gone:
        settings["guest.kernel_args"] = " ".join(word for word in words if word not in gone)
    return settings


def knockout_table(title: str, groups: Mapping[str, Group]) -> Table:
    """One row a variant, means over the seeds with their intervals; the speed is that of this host."""
    table = Table(
        title,
        (*(name for _, name, _ in COLUMNS), "MIPS"),
        note="Means over independent warm checkpoints ± 95% confidence intervals. MPKI, upgrades: per 1000 "
        "instructions. kernel: of the busy cycles. guest time: guest nanoseconds a modelled one. MIPS: million "
        "instructions a second of this host while measuring.",
    )
    for name, group in groups.items():
        cells = [Cell(number(group.estimate(metric), style), group.warm) for metric, _, style in COLUMNS]
        speeds = [float(run.manifest["mips"]) for run in group.runs]
        cells.append(Cell(f"{sum(speeds) / len(speeds):.0f}"))
        table.rows.append(Row(name, tuple(cells)))
    return table

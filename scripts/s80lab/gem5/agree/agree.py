# SPDX-License-Identifier: GPL-2.0-or-later
"""Agreement check: plays the same accesses through a protocol of gem5's Ruby and through the model with its table, and
compares the counts by category."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.console import Console
from rich.table import Table

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.terminal import plain_text
from s80lab.config.machine import Machine
from s80lab.gem5.agree import categories, replay
from s80lab.gem5.agree.categories import FILTERED_HAMMER, HAMMER, Counterpart, model_counts, ruby_counts
from s80lab.gem5.agree.three_level import THREE_LEVEL
from s80lab.gem5.agree.warm import Warm, prepare
from s80lab.gem5.stats import Dump, dumps_of
from s80lab.gem5.table import SYSTEM
from s80lab.trace import files, tool
from s80lab.trace.order import Order
from s80lab.trace.setup import Setup
from s80lab.trace.tool import Begin

# The check of the loading of warm caches: Ruby's network must have carried the messages that the model's accesses need.
#
# Ruby resets the transition counts of its controllers after the loading. The network's counts of messages remain, up to
# the next reset. They show every request, every forward to the other caches, and every writeback. Two reads that Ruby
# answers as one need another number of messages.
ROW = SYSTEM + "network.msg_count."
HOPS = 2
"""Routers on the way of a message: a network of point-to-point links (configs/gem5/hammer.py)."""
DIRTY, CLEAN = ("MM", "D", "O"), ("E", "OC")
"""States whose eviction writes data back, and states whose eviction only tells the directory."""


def check_loading(dump: Dump, warm: Warm, setup: Setup) -> bool:
    """Compare the messages of the loading. UserError: they differ, so the caches do not have the wanted contents.

    Returns whether the dump has the counts: a release of gem5 may reset them together with the transitions.
    """
    found = {name: dump.number(ROW + name) for name in messages({}, 1)}
    if not any(found.values()):
        return False
    facts = warm.facts
    counts = tool.spare_counts(warm.order, setup, facts["spare_cores"], facts["spare_sets"])
    processors = setup.machine.processors
    for name, wanted in messages(
        counts, processors.count // processors.threads_per_core + facts["spare_cores"]
    ).items():
        if found[name] != wanted:
            raise UserError(
                f"{dump.where}: gem5 did not load the caches exactly: the network carried {found[name]:.0f} messages "
                f"{name}, and the model needs {wanted}; run `s80lab gem5 check` with this gem5"
            )
    return True


def messages(counts: Mapping[str, int], cores: int) -> dict[str, int]:
    """The network's counts of messages that the model's counts (src/replay/order_count.h) need, by type. cores: with
    the spare cores."""
    requests = sum(count for name, count in counts.items() if name.startswith("request."))
    dirty, clean = (sum(counts.get(f"evict.{state}", 0) for state in states) for states in (DIRTY, CLEAN))
    return {
        # The request to the directory, which forwards it to all other caches.
        "Request_Control": HOPS * requests,
        "Broadcast_Control": HOPS * requests * (cores - 1),
        # The request to write back, the answer, and, for a clean block, the message that ends the transaction.
        "Writeback_Control": HOPS * (2 * dirty + 3 * clean),
        "Writeback_Data": HOPS * dirty,
    }


PROTOCOL = "hammer"
COUNTERPARTS = {PROTOCOL: HAMMER, "mesi-llc": THREE_LEVEL}
Spacing = Literal["spaced", "close"]


@dataclass(frozen=True)
class Row:
    """One category: Ruby's count and the model's count."""

    category: str
    ruby: int
    model: int
    accesses: int

    @property
    def difference(self) -> int:
        return self.model - self.ruby

    @property
    def share(self) -> float:
        """The difference between the two counts, as a share of all accesses."""
        return self.difference / self.accesses if self.accesses else 0.0

    def record(self) -> dict[str, Any]:
        """The row as a JSON object."""
        return {"category": self.category, "ruby": self.ruby, "model": self.model}


def with_inclusion(protocol: str, settings: Sequence[str]) -> tuple[str, ...]:
    """The settings, and the organisation of the L2 that Ruby's protocol has, unless they name one. UserError: Ruby has
    no counterpart of the protocol."""
    if protocol not in COUNTERPARTS:
        raise UserError(f"--protocol {protocol}: gem5 has no counterpart; choose one of {', '.join(COUNTERPARTS)}")
    if protocol == PROTOCOL or any(setting.startswith("l2.inclusion=") for setting in settings):
        return tuple(settings)  # the table `hammer` names its organisation itself
    return (f"l2.inclusion={COUNTERPARTS[protocol].inclusion}", *settings)


def counterpart(made: Setup) -> Counterpart:
    """Ruby's protocol for a machine. UserError: Ruby cannot express the machine."""
    machine = made.machine
    found = COUNTERPARTS[machine.protocol]
    if machine.group is not None:
        raise UserError(
            f"gem5's protocol {found.ruby} has no group caches: remove [group] from the machine file and from --set"
        )
    if machine.l2.inclusion != found.inclusion:
        raise UserError(
            f"gem5's protocol {found.ruby} has l2.inclusion={found.inclusion}: remove l2.inclusion from the machine "
            "file and from --set"
        )
    if machine.directory is not None and found is HAMMER:
        return FILTERED_HAMMER
    return found


def setup(machine: str, settings: Sequence[str], protocol: str = PROTOCOL) -> Setup:
    """Load the machine with a protocol that gem5 has too. Raise UserError if Ruby cannot express the machine."""
    made = Setup.load(machine, protocol, list(with_inclusion(protocol, settings)))
    counterpart(made)
    return made


def timed(order: Order, machine: Machine, spacing: Spacing) -> Order:
    """The accesses with the ticks at which both sides play them. `spaced`: one access at a time, in the order given.
    `close`: at the recorded ticks, in their order."""
    if spacing == "spaced":
        return replay.spaced(order, machine)
    if not order["tick"].any():
        raise UserError(
            "--spacing close needs the time of each access, which a text trace does not have: use --spacing spaced"
        )
    tick = order["tick"].astype(np.int64)
    for processor in np.unique(order["processor"]):
        mine = order["processor"] == processor
        tick[mine] = np.maximum.accumulate(tick[mine])
    close = order.copy()
    close["tick"] = tick - tick.min()
    sorted_: Order = close[np.argsort(tick, kind="stable")]
    return sorted_


def compare(rows: dict[str, int], order: Order, made: Setup, where: str, begin: Begin | None = None) -> list[Row]:
    """Compare Ruby's transition counts with the model's counts for the same accesses. begin: the contents of the caches
    before the first access; without it, they are cold."""
    side = counterpart(made)
    ruby = ruby_counts(rows, len(order), where, side)
    model = model_counts(tool.counts(order, made, begin), len(order), side)
    return [Row(c.name, ruby[c.name], model[c.name], len(order)) for c in side.categories]


def run(
    order: Order, made: Setup, spacing: Spacing, gem5: Path, folder: Path, begin: Begin | None = None
) -> tuple[list[Row], dict[str, Any]]:
    """Play the accesses through gem5 and through the model. All files of the gem5 run stay in `folder`. begin: the
    contents of the caches before the first access; without it, they are cold."""
    played = timed(order, made.machine, spacing)
    side = counterpart(made)
    if begin is not None and side is not HAMMER:
        raise UserError(f"--warm: the caches of {side.ruby} with a home cannot be loaded; begin with cold caches")
    warm = None if begin is None else prepare(begin, made, folder)
    replayed = replay.replay(played, made.machine, gem5, folder, warm=warm)
    where, renamed = str(folder / "gem5" / "stats.txt"), replayed.facts.get("rows", {})
    record: dict[str, Any] = {"spacing": spacing, "accesses": len(order), "facts": replayed.facts}
    if warm is not None:
        begin = warm.begin
        first = next(dumps_of(replayed.stats.splitlines(), where, renamed))
        record["loading"] = dict(warm.facts) | {"checked": check_loading(first, warm, made)}
    found = categories.parse_transitions(replayed.stats, where, renamed, side)
    rows = compare(found, played, made, where, begin)
    record["categories"] = [row.record() for row in rows]
    files.write(folder / "agreement.json", (json.dumps(record, indent=1) + "\n").encode())
    return rows, record


def default_folder(name: str) -> Path:
    """The folder for the files of a comparison: results/agreement/NAME."""
    return paths.results() / "agreement" / name


def show(rows: list[Row], console: Console, ruby: str = HAMMER.ruby) -> None:
    """Print the table. Categories that are zero on both sides are left out."""
    table = Table("category", "Ruby", "model", "difference", "of accesses", title=f"Agreement with gem5's {ruby}")
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        if row.ruby or row.model:
            style = "" if row.difference == 0 else "yellow"
            share = "" if row.difference == 0 else f"{100 * row.share:+.4f}%"
            table.add_row(
                plain_text(row.category), f"{row.ruby:,}", f"{row.model:,}", f"{row.difference:+,}", share, style=style
            )
    console.print(table)
    worst = max(rows, key=lambda row: abs(row.share))
    if worst.difference:
        console.print(
            f"largest difference: category `{worst.category}`, {100 * worst.share:+.4f}% of all "
            f"{worst.accesses:,} accesses"
        )
    else:
        console.print(f"gem5 and the model agree in every category; {worst.accesses:,} accesses were played")

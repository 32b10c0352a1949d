# SPDX-License-Identifier: GPL-2.0-or-later
"""Random traces on small caches, through the user's gem5 and through the model.

    python -m tests.gem5.agree.random_traces GEM5 [--traces N] [--record] [KIND ...]

prints a line per trace. The seed decides the machine and the trace. The exit code is 1 if any category differs.
--record keeps what Ruby counted, which the tests compare with the model; `python -m tests.gem5.recorded` then packs it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.gem5.recorded import recording

from s80lab.gem5.agree import agree, categories
from s80lab.gem5.check.traces import random_order
from s80lab.gem5.stats import BEGIN
from s80lab.trace.order import Order
from s80lab.trace.setup import Setup

# Categories that only transactions under way at once can have.
TRANSIENT = {
    "reads: from a block that is being evicted",
    "reads: several reads answered as one",
    "stores: data from a block that is being evicted",
}
ACCESSES = 5000
TRACES = 20


@dataclass(frozen=True)
class Kind:
    """Machines that one protocol of Ruby plays. Every L2 has fewer lines than the traces.

    recalls: the beginning of the names of the categories that count recalls.
    """

    machine: str
    protocol: str
    settings: tuple[tuple[str, ...], ...]
    recalls: str = "recalls"


KINDS = {
    "hammer": Kind(
        "s80",
        "hammer",
        (
            ("l1i.size=512", "l1d.size=512", "l2.size=2KiB"),
            ("l1i.size=1KiB", "l1d.size=512", "l2.size=4KiB", "l2.ways=8"),
            ("l1i.size=512", "l1d.size=1KiB", "l1d.ways=4", "l2.size=2KiB", "line_bytes=64"),
            ("processors.threads_per_core=2", "l1i.size=512", "l1d.size=512", "l2.size=2KiB"),
        ),
    ),
    "probe-filter": Kind(
        "s80",
        "hammer",
        (
            *(
                (
                    "l1i.size=512",
                    "l1d.size=512",
                    "l2.size=2KiB",
                    f"directory.entries={entries}",
                    f"directory.ways={ways}",
                )
                for entries, ways in ((128, 4), (256, 2), (256, 8))
            ),
            (
                *("l1i.size=512", "l1d.size=1KiB", "l1d.ways=4", "l2.size=2KiB", "line_bytes=64"),
                *("processors.threads_per_core=2", "directory.entries=192", "directory.ways=3"),
            ),
        ),
    ),
    "three-level": Kind(
        "server-16",
        "mesi-llc",
        (
            *(
                (*("l1i.size=256", "l1i.ways=2", "l1d.size=256", "l1d.ways=2", "l2.size=1KiB", "l2.ways=4"), *llc)
                for llc in (
                    ("llc.size=4KiB", "llc.ways=4", "llc.slices=1"),
                    ("llc.size=8KiB", "llc.ways=16", "llc.slices=1"),
                    ("llc.size=16KiB", "llc.ways=8", "llc.slices=1"),
                )
            ),
            (
                *("l1i.size=512", "l1i.ways=2", "l1d.size=768", "l1d.ways=3", "l2.size=1KiB", "l2.ways=2"),
                *("processors.threads_per_core=2", "llc.size=6KiB", "llc.ways=6", "llc.slices=1"),
            ),
        ),
        "LLC evictions: ",
    ),
}


def draw(kind: Kind, seed: int) -> tuple[Setup, Order]:
    """A machine, and accesses to 50 to 79 lines. 30 to 69% of the accesses go to lines of one processor alone."""
    made = agree.setup(kind.machine, kind.settings[seed % len(kind.settings)], kind.protocol)
    order = random_order(
        seed,
        ACCESSES,
        processors=made.machine.processors.count,
        lines=50 + seed * 7 % 30,
        stores=10 + seed * 3 % 40,
        fetches=seed * 5 % 40,
        own=30 + seed * 11 % 40,
    )
    return made, order


def recorded(name: str) -> dict[int, dict[str, int]]:
    """Rows of Ruby by the seed of the trace."""
    content = json.loads(_file(name).read_text(encoding="utf-8"))
    return {int(seed): rows for seed, rows in content["rows"].items()}


def _file(name: str) -> Path:
    return recording("agree") / "random" / f"{name}.json"


def replay(kind: Kind, seed: int, gem5: Path, folder: Path) -> tuple[list[agree.Row], dict[str, int], str]:
    """The categories, Ruby's rows, and the version of gem5."""
    made, order = draw(kind, seed)
    rows, record = agree.run(order, made, "spaced", gem5, folder)
    side = agree.counterpart(made)
    stats = (folder / "gem5" / "stats.txt").read_text(encoding="utf-8")
    counts = categories.parse_transitions(stats[stats.rindex(BEGIN) :], "stats.txt", side=side)
    return rows, {row: counts[row] for row in sorted(side.rows & counts.keys()) if counts[row]}, record["facts"]["gem5"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gem5", type=Path)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; default: all")
    parser.add_argument("--traces", type=int, default=TRACES)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    total = 0
    for name in options.kinds or KINDS:
        kind, kept, version = KINDS[name], {}, ""
        evictions = recalls = differ = 0
        for seed in range(1, options.traces + 1):
            with tempfile.TemporaryDirectory(prefix="s80lab-") as folder:
                rows, kept[seed], version = replay(kind, seed, options.gem5, Path(folder))
            different = [row for row in rows if row.difference]
            evictions += sum(row.model for row in rows if row.category.startswith("evictions: "))
            recalls += sum(row.model for row in rows if row.category.startswith(kind.recalls))
            differ += len(different)
            print(f"{name}, seed {seed}: {len(different)} categories differ", flush=True)
            for row in different:
                print(f"    {row.category}: Ruby {row.ruby}, model {row.model}")
        print(f"{name}: {options.traces} traces, {evictions} evictions, {recalls} recalls, {differ} differences")
        total += differ
        if options.record:
            _file(name).parent.mkdir(parents=True, exist_ok=True)
            _file(name).write_text(json.dumps({"gem5": version, "rows": kept}, indent=0) + "\n", encoding="utf-8")
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later
"""User processor time of gem5 and of the model for random accesses of 16 cores, whose LLC or directory overflows.

    python -m tests.gem5.agree.speed [GEM5]

prints the accesses in a second of user time of each side, with the start of the programs. The model plays the accesses
as a capture (s80-replay). gem5 plays the first of them.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from s80lab.base import paths
from s80lab.gem5.agree import agree, replay
from s80lab.gem5.check.traces import random_order
from s80lab.trace import tool
from s80lab.trace.order import Order
from s80lab.trace.setup import Setup

ACCESSES, OF_GEM5 = 4_000_000, 200_000
CACHES = ("l1i.size=8KiB", "l1i.ways=2", "l1d.size=8KiB", "l1d.ways=2", "l2.size=64KiB", "l2.ways=8")
LEAVES = re.compile(r"home\.(displace|recall)\.\w+")
MACHINES = {
    "mesi-llc": ("server-16", (*CACHES, "llc.size=1MiB", "llc.ways=16", "llc.slices=1")),
    "hammer": (
        "s80",
        (*CACHES, "processors.count=16", "line_bytes=64", "directory.entries=8192", "directory.ways=8"),
    ),
}


def user_seconds(work: Callable[[], object]) -> float:
    """The user time of the processes that the work starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    work()
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def model_seconds(order: Order, setup: Setup, folder: Path) -> float:
    capture, machine = folder / "accesses.s80c", folder / "machine.toml"
    lines = int(order["line"].max()) + 1
    tool.to_capture(order, setup.machine, capture, lines=lines, protocol=setup.machine.protocol, origin="{}")
    machine.write_text(setup.machine.resolved(), encoding="utf-8")
    words = {"capture": capture, "machine": machine, "protocol": setup.protocol, "out": folder, "read_ahead": "no"}
    command = [str(paths.REPLAY), *(f"{key}={value}" for key, value in words.items())]
    return user_seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))


def gem5_seconds(order: Order, setup: Setup, gem5: Path, folder: Path) -> float:
    played = agree.timed(order, setup.machine, "spaced")
    return user_seconds(lambda: replay.replay(played, setup.machine, gem5, folder))


def main(gem5: Path | None) -> None:
    order = random_order(1, ACCESSES, processors=16, lines=1500, stores=25, fetches=10, own=70)
    for protocol, (machine, settings) in MACHINES.items():
        made = agree.setup(machine, settings, protocol)
        side = agree.counterpart(made)
        counts = tool.counts(order[:OF_GEM5], made)
        # home.EVENT.STATE; home.EVENT.STATE.COPY counts the copies.
        lines = sum(count for name, count in counts.items() if LEAVES.fullmatch(name))
        print(f"{side.ruby}: {lines:,} lines leave LLC or directory in the first {OF_GEM5:,} accesses")
        with tempfile.TemporaryDirectory(prefix="s80lab-") as folder:
            model = ACCESSES / model_seconds(order, made, Path(folder))
            print(f"  model: {model:,.0f} accesses a second of user time ({ACCESSES:,} accesses)", flush=True)
            if gem5 is not None:
                ruby = OF_GEM5 / gem5_seconds(order[:OF_GEM5], made, gem5, Path(folder))
                print(f"  gem5: {ruby:,.0f} accesses a second ({OF_GEM5:,} accesses); ratio {model / ruby:.0f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)

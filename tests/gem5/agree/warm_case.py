# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorded warm start of Ruby: random accesses of 18 cores warm small caches, which are loaded and then compared.

    python -m tests.gem5.agree.warm_case GEM5

records it anew; `python -m tests.gem5.recorded` then packs it. It needs a gem5.opt with MOESI_hammer; the tests need
only what this has written.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.gem5.agree import probe
from tests.gem5.record import RECORDED, trim_transitions
from tests.gem5.recorded import recording

from s80lab.gem5.agree import agree, replay, warm
from s80lab.gem5.agree.agree import ROW
from s80lab.gem5.check.traces import random_order
from s80lab.gem5.stats import BEGIN, END
from s80lab.trace import tool
from s80lab.trace.order import Order
from s80lab.trace.setup import Setup
from s80lab.trace.tool import Begin

FOLDER = recording("agree") / "warm-random"
MACHINE, SETTINGS = "s80", ["l1i.size=1KiB", "l1d.size=2KiB", "l2.size=8KiB"]
FIRST, ACCESSES, LINES = 6000, 9000, 300 * 19
SETS = 16
"""Sets of the L2: the probe reads all of them."""


def setup() -> Setup:
    return agree.setup(MACHINE, SETTINGS)


def accesses() -> Order:
    """Accesses to shared and private lines, code and data. The first `FIRST` warm the caches."""
    return random_order(40, ACCESSES, processors=18, lines=300, stores=25, fetches=25, own=40)


def begin(folder: Path) -> Begin:
    """The state after the first accesses, in a file in `folder`."""
    tool.state_after(accesses()[:FIRST], setup(), LINES, folder / "begin.state")
    return Begin(folder / "begin.state", LINES)


def recorded(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def facts() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FOLDER / "facts.json").read_text(encoding="utf-8"))
    return content


def record(gem5: Path) -> None:
    made = setup()
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="s80lab-") as name:
        folder = Path(name)
        loaded = warm.prepare(begin(folder), made, folder)
        order = agree.timed(accesses()[FIRST:], made.machine, "spaced")
        replayed = replay.replay(order, made.machine, gem5, folder, warm=loaded)
        loading, following = (replayed.stats.split(END)[n] + END + "\n" for n in (0, 1))
        messages = [row for row in loading.splitlines() if row in (BEGIN, END) or row.startswith(ROW)]
        for dump, kept in (
            ("loading.txt", "\n".join(messages) + "\n"),
            ("following.txt", trim_transitions(following, RECORDED)),
        ):
            (FOLDER / dump).write_text(kept, encoding="utf-8")
        _, different = probe.probe(begin(folder), made, gem5, folder, SETS)
        with gzip.open(folder / "gem5" / replay.TRANSITIONS, "rt", encoding="utf-8", errors="replace") as trace:
            rows = "".join(row for row in trace if probe.relevant(row))
        (FOLDER / "transitions.txt").write_text(rows, encoding="utf-8")
    (FOLDER / "facts.json").write_text(json.dumps(replayed.facts, indent=1) + "\n", encoding="utf-8")
    print(f"{len(different)} events of the probe differ")


if __name__ == "__main__":
    record(Path(sys.argv[1]))

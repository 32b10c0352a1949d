# SPDX-License-Identifier: GPL-2.0-or-later
"""Records what Ruby counts: python -m tests.gem5.agree.record GEM5 [CASE ...] plays the cases (all of them) anew;
`python -m tests.gem5.recorded` then packs what Ruby counted.

Needs a gem5 with MOESI_hammer; the tests need only what this has written.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from tests.gem5.agree.cases import Case, cases
from tests.gem5.record import RECORDED, trim_transitions

from s80lab.gem5.agree import agree, categories, replay


def record(case: Case, gem5: Path) -> None:
    """Replays one case and writes its rows and the facts about the run."""
    made = case.setup()
    order = agree.timed(case.order(), made.machine, case.spacing)
    with tempfile.TemporaryDirectory(prefix="s80lab-") as folder:
        replayed = replay.replay(order, made.machine, gem5, Path(folder))
    kept = trim_transitions(replayed.stats, RECORDED)
    (case.folder / "stats.txt").write_text(kept, encoding="utf-8")
    about = case.about | {"facts": replayed.facts, "accesses": len(order)}
    (case.folder / "case.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    rows = agree.compare(categories.parse_transitions(kept, case.name), order, made, case.name)
    for row in rows:
        if row.difference:
            print(f"{case.name}: {row.category}: Ruby {row.ruby}, model {row.model} ({100 * row.share:+.3f}%)")
    print(f"{case.name}: {len(order)} accesses, {sum(row.difference != 0 for row in rows)} categories differ")


if __name__ == "__main__":
    wanted = set(sys.argv[2:])
    for one in cases():
        if not wanted or one.name in wanted:
            record(one, Path(sys.argv[1]))

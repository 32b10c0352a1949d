# SPDX-License-Identifier: GPL-2.0-or-later
"""Records the answers of a gem5 to the check: python -m tests.gem5.check.record GEM5 NAME

The tests need only what this program has written; `python -m tests.gem5.recorded` packs it. Of the statistics it keeps
the counts of transitions.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from tests.gem5.check.recorded import recorded
from tests.gem5.record import trim_transitions

from s80lab.base.hashing import file_hash
from s80lab.gem5.agree import categories
from s80lab.gem5.check.run import check, sentence
from s80lab.gem5.check.verdict import folder


def record(gem5: Path, name: str) -> None:
    """Check the binary, and keep its answers under this name."""
    verdict = check(gem5, again=True)
    target = recorded(name)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    about = verdict.about.model_dump(mode="json")
    answer = {"gem5": about["version"], "isa": about["isas"]} | {key: about[key] for key in ("release", "protocols")}
    (target / "about.json").write_text(json.dumps(answer) + "\n", encoding="utf-8")
    for facts in sorted(folder(file_hash(gem5)).glob("*/gem5/facts.json")):
        simulation = facts.parents[1].name
        stats = (facts.parent / "stats.txt").read_text(encoding="utf-8")
        kept = trim_transitions(stats, categories.parse_transitions(stats, simulation))
        (target / f"{simulation}.txt").write_text(kept, encoding="utf-8")
        shutil.copyfile(facts, target / f"{simulation}.json")
    print(f"{name}: {sentence(verdict)}")


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2])

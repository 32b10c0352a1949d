# SPDX-License-Identifier: GPL-2.0-or-later
"""The totals of all calls of the kill harness, in a JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from s80lab.base.files import whole


@dataclass
class Violation:
    """A promise that did not hold. what: one sentence each. folder: the lab as the kill left it. repeat: the command
    that repeats the round."""

    command: str
    scenario: str
    round: int
    seed: int
    version: str
    kills: list[str]
    what: list[str]
    folder: str
    repeat: str


@dataclass
class Totals:
    """Kills by command and kind, rounds by command, violations, and the calls that made them.

    missed: commands that ended before the drawn moment; they are not kills.
    """

    kills: dict[str, dict[str, int]] = field(default_factory=dict)
    missed: dict[str, int] = field(default_factory=dict)
    rounds: dict[str, int] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    calls: list[dict[str, object]] = field(default_factory=list)

    def count(self, command: str) -> int:
        """All kills of a command."""
        return sum(self.kills.get(command, {}).values())

    def add_kill(self, command: str, kind: str) -> None:
        kinds = self.kills.setdefault(command, {})
        kinds[kind] = kinds.get(kind, 0) + 1

    def add_missed(self, command: str) -> None:
        self.missed[command] = self.missed.get(command, 0) + 1

    def add_round(self, command: str) -> None:
        self.rounds[command] = self.rounds.get(command, 0) + 1


def read_totals(path: Path) -> Totals:
    """The totals in a file; empty if there is no file."""
    if not path.exists():
        return Totals()
    content = json.loads(path.read_text(encoding="utf-8"))
    return Totals(**content | {"violations": [Violation(**one) for one in content["violations"]]})


def write_totals(totals: Totals, path: Path) -> None:
    """Replace the file, completely or not at all."""
    with whole(path) as partial:
        partial.write_text(json.dumps(asdict(totals), indent=1) + "\n", encoding="utf-8")

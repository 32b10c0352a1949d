# SPDX-License-Identifier: GPL-2.0-or-later
"""Rounds of kills: prepare a lab, kill a command several times, let it end undisturbed, and compare. The totals of all
calls of the harness are in a JSON file."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.kills.process import LIMIT_S, Ended, Kill, draw_kills, end_survivors, execute, survivors, until_none
from tests.kills.scenarios import Scenario, exports_of
from tests.kills.state import Listing, Reader, State, strays, violations
from tests.lab import Lab

from s80lab.base.files import whole
from s80lab.base.version import __version__


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


LAST_CHARACTERS = 600
ROUNDS_PER_KILL = 5
EVERY_S = 30.0


@dataclass
class Reference:
    """What an undisturbed command does: the states before and after it, and its shortest duration in seconds."""

    initial: State
    final: State
    seconds: float


@dataclass
class Campaign:
    """Kills of one call of the harness.

    folder: the labs of the rounds. totals, path: the counts and their file. seed: of all draws. say: prints a line.
    options: the options of this call that a repetition needs.
    """

    folder: Path
    totals: Totals
    path: Path
    seed: int
    say: Callable[[str], None]
    options: str = ""
    found: int = 0
    _reader: Reader = field(default_factory=Reader)
    _references: dict[Scenario, Reference] = field(default_factory=dict)

    @property
    def lab(self) -> Lab:
        """The lab of the current round."""
        root = self.folder / "round"
        return Lab(root / "checkpoints", root / "results")

    def kill(self, command: str, turns: Sequence[Scenario], kills: int, first: int = 1) -> None:
        """Rounds of one command until it was killed `kills` times. turns: its scenarios, one after the other.

        first: the number of the first round. RuntimeError if the commands end before they can be killed.
        """
        goal, shown = self.totals.count(command) + kills, time.monotonic()
        for number in range(first, first + ROUNDS_PER_KILL * kills):
            scenario = turns[(number - 1) % len(turns)]
            self._round(scenario, number, draw_kills(self.seed, command, number)[: goal - self.totals.count(command)])
            self.totals.add_round(command)
            write_totals(self.totals, self.path)
            left = goal - self.totals.count(command)
            if left <= 0:
                return
            if time.monotonic() - shown > EVERY_S:
                self.say(f"{command}: {kills - left} of {kills} kills, {number - first + 1} rounds")
                shown = time.monotonic()
        raise RuntimeError(f"{command}: ended before it could be killed in most of {ROUNDS_PER_KILL * kills} rounds")

    def _round(self, scenario: Scenario, number: int, kills: Sequence[Kill]) -> None:
        reference = self._reference(scenario)
        with self._prepared(scenario) as place:
            done: list[str] = []
            try:
                what = place.attack(reference, kills, self.totals, done)
            except Listing as error:
                what = [str(error)]
            if what:
                self._report(scenario, number, done, what)

    def _reference(self, scenario: Scenario) -> Reference:
        """Measured once: the material does not change."""
        if scenario not in self._references:
            with self._prepared(scenario) as place:
                initial = place.state()
                ended = place.execute()
                if ended.code != 0:
                    raise RuntimeError(f"{scenario.command} ({scenario.name}) fails undisturbed: {ended.output}")
                self._references[scenario] = Reference(initial, place.state(), ended.seconds)
                self.say(f"{scenario.command}, {scenario.name}: {ended.seconds:.1f} s undisturbed")
        return self._references[scenario]

    def _prepared(self, scenario: Scenario) -> Place:
        shutil.rmtree(self.folder / "round", ignore_errors=True)
        (self.folder / "round").mkdir(parents=True)
        scenario.prepare(self.lab)
        return Place(scenario, self.lab, self._reader)

    def _report(self, scenario: Scenario, number: int, done: list[str], what: list[str]) -> None:
        """Count the violation, and keep the lab as it is."""
        self.found += 1
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        kept = self.folder / f"violation-{scenario.command}-{number}-{stamp}"
        (self.folder / "round").rename(kept)
        repeat = (
            f"python -m tests.kills --kills {scenario.command}={max(1, len(done))} --seed {self.seed} "
            f"--first-round {number}{self.options}"
        )
        self.totals.violations.append(
            Violation(scenario.command, scenario.name, number, self.seed, __version__, done, what, str(kept), repeat)
        )
        self.say(
            f"VIOLATION in {scenario.command} ({scenario.name}), round {number}, after: {'; '.join(done) or 'no kill'}"
        )
        for sentence in what:
            self.say(f"  {sentence}")
        self.say(f"  the lab is kept in {kept}; repeat the round with `{repeat}`")


@dataclass
class Place:
    """The lab of one round, with a folder for temporary files of its own; nothing runs on after the block."""

    scenario: Scenario
    lab: Lab
    reader: Reader
    temporary: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="s80kills-")))

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        end_survivors(self.mark)
        shutil.rmtree(self.temporary, ignore_errors=True)

    @property
    def mark(self) -> str:
        """In the environment of the command and of all processes that it starts."""
        return f"TMPDIR={self.temporary}"

    @property
    def root(self) -> Path:
        return self.lab.results.parent

    def state(self) -> State:
        return self.reader.state(self.lab, exports_of(self.lab))

    def execute(self, kill: Kill | None = None, seconds: float = 0.0) -> Ended:
        environment = os.environ | self.lab.own() | {"TMPDIR": str(self.temporary)}
        return execute(self.scenario.words, environment, self.root, kill, seconds)

    def attack(self, reference: Reference, kills: Sequence[Kill], totals: Totals, done: list[str]) -> list[str]:
        """Kill the command, let it end undisturbed, and compare; return what did not hold. Raises Listing.

        done: receives a description of each kill.
        """
        command, exact = self.scenario.command, self.scenario.exact
        before = reference.initial
        ended = False
        for kill in kills:
            moment = kill.share * reference.seconds
            last = self.execute(kill, moment)
            if last.killed:
                totals.add_kill(command, kill.kind)
                done.append(f"{kill.kind} after {moment:.2f} s")
            else:
                totals.add_missed(command)
            what = [*_complaints(last), *(f"the program {name} survives the kill" for name in survivors(self.mark))]
            after = self.state()
            ended = last.code == 0
            if ended and not done:
                reference.seconds = min(reference.seconds, last.seconds)
            if what := [
                *what,
                *violations(reference.initial, reference.final, before, after, ended=ended, exact=exact),
            ]:
                return what
            before = after
            if ended:
                break
        if not ended and (self.scenario.repeatable or before != reference.final):
            what = _complaints(self.execute())
            # The killed command may have completed what it can do only once.
            if what and (self.scenario.repeatable or self.state() != reference.final):
                return what
            ended = True
        if not until_none(self.mark):
            return [f"a process of the command did not end within {LIMIT_S:.0f} s"]
        what = violations(reference.initial, reference.final, before, self.state(), ended=True, exact=exact)
        if ended:
            left = strays(self.root, self.temporary)
            what += [f"{path}: is left of an interrupted command after a complete one" for path in left]
        return [*what, *self._verdicts()]

    def _verdicts(self) -> list[str]:
        """What `verify` says of entries that are not complete."""
        for noun in ("checkpoint", "captures"):
            with suppress(AssertionError):
                self.lab.call(noun, "verify")
                continue
            return [f"`{noun} verify` fails: {self.lab.call(noun, 'verify', code=1)}"]
        return []


def _complaints(last: Ended) -> list[str]:
    """What is wrong with the way in which a command ended."""
    tail = last.output[-LAST_CHARACTERS:].strip()
    if last.code is None:
        return [f"the command did not end within {LIMIT_S:.0f} s: {tail}"]
    if "Traceback (most recent call last)" in last.output:
        return [f"the command printed a traceback: {tail}"]
    if last.code and not last.killed:
        return [f"the undisturbed command failed with code {last.code}: {tail}"]
    return []

# SPDX-License-Identifier: GPL-2.0-or-later
"""Client scripts of a workload profile: the steps of each client, and the resulting lines of the job.

Notation: docs/guides/client-scripts.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from s80lab.base.numbers import NonNegative, Positive
from s80lab.base.strict import Strict
from s80lab.base.suggest import hint

# Of nine digits at most: what the load generator's numbers hold, and its nanoseconds.
_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
_COUNT = r"[1-9][0-9]{0,8}"
_MOST = 999_999_999
_TIME = rf"(?:constant {_NUMBER}|uniform {_NUMBER} {_NUMBER}|exponential {_NUMBER})"
_WORD = r"[^\s#\"\\]+"
_BYTES = r"(?: [0-9]{3,6})?"
# What stands behind a command's name, and how it is said in words.
_NOTHING = ("", "")
_RANGE = (rf" (?:all|last|{_COUNT})", " all, last or a number of messages")
_OF_MAIL = {"send": (rf" {_COUNT}{_BYTES}", " and the number of recipients, then the bytes if they are not drawn")}
COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "imap": {
        **dict.fromkeys(("connect", "login", "capability", "namespace", "noop", "body", "expunge"), _NOTHING),
        **dict.fromkeys(("idle", "done", "logout"), _NOTHING),
        "list": (rf" {_WORD}", " and a pattern"),
        "select": (rf" {_WORD}", " and a mailbox"),
        "copy": (rf" {_WORD}", " and a mailbox"),
        "move": (rf" {_WORD}", " and a mailbox"),
        "status": (rf" {_WORD}", " and a mailbox"),
        "search": (rf" [A-Za-z]+(?: {_WORD})?", " and a search key such as UNSEEN, or a key and a word"),
        "store": (r" (?:\\?[A-Za-z]+|\$[A-Za-z]+)", " and a flag such as Seen or $Forwarded"),
        "flags": _RANGE,
        "headers": _RANGE,
        "append": (rf" {_WORD}{_BYTES}", " and a mailbox, then the bytes if they are not drawn"),
        **_OF_MAIL,
    },
    "pop3": {
        **dict.fromkeys(("connect", "login", "stat", "list", "uidl", "retr", "dele", "quit"), _NOTHING),
        **_OF_MAIL,
    },
    "smtp": _OF_MAIL,
}
"""The steps of each protocol's scripts, as the load generator names them, without `wait` and IMAP's `connection`."""
LEAST_BYTES, MOST_BYTES = 512, 140 << 10

Sizes = dict[Annotated[int, Field(ge=LEAST_BYTES, le=MOST_BYTES)], Positive]


def _flat(steps: object) -> tuple[str, ...]:
    """The steps as lines. A block begins with its head and ends with `end`."""
    return tuple(_lines(steps))


def _lines(steps: object) -> Iterator[str]:
    if not isinstance(steps, Sequence) or isinstance(steps, str) or not steps:
        raise ValueError("steps must be a list that is not empty")
    for step in steps:
        if isinstance(step, str):
            yield " ".join(step.split())
            continue
        if not isinstance(step, Mapping) or "steps" not in step or len(step) != 2:
            raise ValueError(
                f"`{step}` is not a step: write a command, or a table with `steps` and one of repeat, percent or when"
            )
        (kind,) = set(step) - {"steps"}
        value = step[kind]
        if kind == "repeat" and type(value) is int and 1 <= value <= _MOST:
            yield f"repeat {value}"
        elif kind == "percent" and type(value) in (int, float) and 0 <= value <= 100:
            yield f"percent {value:.10g}"
        elif kind == "when" and value == "offline":
            yield "offline"
        else:
            raise ValueError(f'`{kind} = {value}` is not allowed: write repeat = N, percent = P or when = "offline"')
        yield from _lines(step["steps"])
        yield "end"


Steps = Annotated[tuple[str, ...], BeforeValidator(_flat)]


class Script(Strict):
    """A script that a share of the clients repeats. All times are simulated time.

    what: description of the script.
    percent: share of the clients.
    rate_per_s: passes through the steps that arrive per second for all these clients together, even if none is free.
    think: the time between two passes of one client; each script has either rate_per_s or think.
    ramp_s: seconds over which the rate grows, or over which the clients begin.
    start: steps of the login, before the load.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,15}$")]
    what: str
    protocol: Literal["imap", "pop3", "smtp"]
    percent: Positive
    rate_per_s: Positive | None = None
    think: str | None = None
    ramp_s: NonNegative = 0.0
    start: Steps = ()
    steps: Steps

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if (self.rate_per_s is None) == (self.think is None):
            raise ValueError(f"the script {self.name} needs exactly one of rate_per_s and think")
        if self.think is not None:
            _check_time(self.think)
        for line in self.start:
            if line.startswith("wait"):
                raise ValueError(
                    f"the script {self.name} has a step `wait` in `start`: remove this step, because the login "
                    "cannot wait"
                )
        for line in (*self.start, *self.steps):
            self._check(line)
        for steps in (self.start, self.steps):
            self._check_idle(steps)
        if not _always_acts(self.steps):
            raise ValueError(
                f"the script {self.name} needs a command outside the blocks `percent` and `when`, so that each "
                "pass sends at least one command"
            )
        return self

    def _check_idle(self, steps: Sequence[str]) -> None:
        """While the server executes IDLE, it takes no other command."""
        idling = False
        for line in (*steps, "the end of the steps"):
            if idling and line != "done" and not line.startswith("wait "):
                raise ValueError(
                    f"the script {self.name} has `{line}` after `idle`: write `done` before it; only `wait` may stand "
                    "between `idle` and `done`"
                )
            if line == "done" and not idling:
                raise ValueError(f"the script {self.name} has `done` without `idle`: write `idle` before `done`")
            idling = line == "idle" or (idling and line != "done")

    def _check(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "wait":
            _check_time(rest)
        elif word == "offline" and self.protocol == "smtp":
            raise ValueError(
                "`when` cannot be used in an smtp script, because each `send` opens a connection of its own: "
                "remove the block"
            )
        elif word == "connection" and self.protocol == "imap":
            if rest not in ("1", "2", "3", "4"):
                raise ValueError(f"`{line}` is not allowed: write `connection` and a number from 1 to 4")
        elif word not in ("repeat", "percent", "offline", "end"):
            known = COMMANDS[self.protocol]
            if word not in known:
                words = ("wait", *(["connection"] if self.protocol == "imap" else []), *known)
                raise ValueError(f"`{line}` is not a step of {self.protocol}: {hint(word, words)}")
            pattern, behind = known[word]
            if not re.fullmatch(word + pattern, line):
                raise ValueError(f"`{line}` is not allowed: write `{word}`{behind or ' alone'}")
            size = re.search(r" (\d+)$", line) if word in ("append", "send") and line.count(" ") == 2 else None
            if size and not LEAST_BYTES <= int(size[1]) <= MOST_BYTES:
                raise ValueError(f"`{line}` is not allowed: a message has {LEAST_BYTES} to {MOST_BYTES} bytes")

    @property
    def needs_sizes(self) -> bool:
        """Whether the script needs the table [sizes]: it draws message sizes, or recognises messages by their size."""
        return any(
            line in ("body", "retr") or (line.startswith(("append ", "send ")) and line.count(" ") == 1)
            for line in (*self.start, *self.steps)
        )

    def lines(self, clients: int, speed_up: float) -> list[str]:
        """The lines of the script in the job. speed_up: factor by which waits shrink and rates grow."""
        pace = [] if self.rate_per_s is None else [f"rate_per_s={self.rate_per_s * speed_up:.10g}"]
        pace += [] if self.think is None else [f"think={_faster(self.think, speed_up)}"]
        return [
            f"script={self.name} {self.protocol} {clients}",
            *pace,
            f"ramp_s={self.ramp_s / speed_up:.10g}",
            *(f"start={line}" for line in self.start),
            *(f"step={_faster(line, speed_up) if line.startswith('wait ') else line}" for line in self.steps),
        ]


def _check_time(text: str) -> None:
    if not re.fullmatch(_TIME, text):
        raise ValueError(
            f"`{text}` is not a time: write constant MS, uniform LEAST MOST or exponential MEAN, with numbers "
            "in milliseconds"
        )
    least, *most = map(float, re.findall(_NUMBER, text))
    if most and most[0] < least:
        raise ValueError(f"`{text}` is not a time: in uniform LEAST MOST, MOST must not be less than LEAST")


def _always_acts(steps: Sequence[str]) -> bool:
    """Whether each pass executes a command. A pass without any could repeat without ever waiting."""
    depth: list[bool] = []
    for line in steps:
        word = line.partition(" ")[0]
        if word == "end":
            depth.pop()
        elif word in ("repeat", "percent", "offline"):
            depth.append(word == "repeat")
        elif word not in ("wait", "connection") and all(depth):
            return True
    return False


def _faster(text: str, speed_up: float) -> str:
    return re.sub(_NUMBER, lambda match: f"{float(match[0]) / speed_up:.10g}", text)


def sizes_line(sizes: Mapping[int, float]) -> list[str]:
    """The line of the job with message sizes and their percent; none without sizes."""
    return ["sizes=" + " ".join(f"{size}:{percent:.10g}" for size, percent in sizes.items())] if sizes else []


def apportioned(clients: int, percents: Sequence[float]) -> list[int]:
    """Distribute clients over percentages by largest remainders, with at least one client for each.

    clients: number of clients; at least the number of percentages.
    """
    shares = [clients * percent / sum(percents) for percent in percents]
    whole = [max(1, int(share)) for share in shares]
    while sum(whole) != clients:
        step = 1 if sum(whole) < clients else -1
        best = [i for i in range(len(whole)) if step > 0 or whole[i] > 1]
        chosen = max(best, key=lambda i: step * (shares[i] - whole[i]))
        whole[chosen] += step
    return whole

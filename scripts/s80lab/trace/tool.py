# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of `s80-step` and `s80-order`, the C++ programs behind the trace commands."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import whole
from s80lab.base.programs import built
from s80lab.base.staging import scratch
from s80lab.base.terminal import quoted
from s80lab.config.machine import Machine
from s80lab.trace import order as trace_order
from s80lab.trace.order import Order
from s80lab.trace.setup import Setup

STEP = paths.BIN / "s80-step"
"""Plays accesses through the model. It is all that a lesson needs of the compiled programs."""
ORDER = paths.BIN / "s80-order"
"""Converts between captures and totally ordered traces."""


_IMPOSSIBLE = re.compile(
    r"met the impossible cell (?:(?P<side>own access|own miss|own eviction|remote request|recall) in state "
    r"|(?P<row>home\.[\w.]+)\.)(?P<state>\w+) \(line (?P<line>\d+)\)\s*\Z"
)
"""The model's message about an impossible cell (src/memory/private/private.cpp, src/memory/home/directory.cpp)."""


@dataclass(frozen=True)
class Impossible:
    """The impossible cell at which the model stopped: its side or its row at the home (`home.displace`), the state, and
    the line of the block in this state."""

    side: str
    state: str
    line: int


def call(program: Path, command: str, **arguments: Path | str | int) -> str:
    """Return what `PROGRAM COMMAND key=value ...` prints. Its error message becomes a UserError."""
    words = _words(program, command, arguments)
    done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace")
    _check(program, done.returncode, done.stderr)
    return done.stdout


def _words(program: Path, command: str, arguments: Mapping[str, Path | str | int]) -> list[str]:
    words = [str(built(program)), command, *(f"{key}={value}" for key, value in arguments.items())]
    if any("\0" in word for word in words):
        raise UserError(f"{quoted(' '.join(words))}: a name in this command contains a NUL character")
    return words


def _check(program: Path, code: int, complaint: str) -> None:
    if code != 0:
        raise UserError(complaint.strip().removeprefix(f"{program.name}: ") or f"exit code {code}")


@contextmanager
def files(program: Path, order: Order | None, machine: Machine) -> Iterator[tuple[Path, Path]]:
    """Temporary files for `program` with the order and the resolved machine, which exist until the block ends.

    UserError if the program is missing: before any file is written, so that the message is the same on any system.
    """
    built(program)
    with scratch() as folder:
        order_file, machine_file = folder / "order", folder / "machine.toml"
        if order is not None:
            trace_order.check(order, "the trace", machine.processors.count)
            trace_order.write(order_file, order)
        machine_file.write_text(machine.resolved(), encoding="utf-8")
        yield order_file, machine_file


@dataclass(frozen=True)
class Begin:
    """The contents of the model's caches before the first access, and the lines of memory."""

    state: Path
    lines: int


def _warm(begin: Begin | None) -> dict[str, Path | str | int]:
    return {} if begin is None else {"state": begin.state, "lines": begin.lines}


class Stopped(Exception):
    """The model stopped at an access that reaches an impossible cell, which only an unproven table allows."""

    def __init__(self, at: Impossible) -> None:
        super().__init__(at)
        self.at = at


def steps(order: Order, setup: Setup, begin: Begin | None = None) -> Iterator[dict[str, Any]]:
    """What each access changed: one object per access (docs/reference/interfaces/steps.md), as the model plays them.

    begin: without it, the caches are cold. Raises `Stopped` before an access that reaches an impossible cell.
    """
    with files(STEP, order, setup.machine) as (order_file, machine_file), TemporaryFile() as errors:
        words = _words(
            STEP, "step", {"order": order_file, "machine": machine_file, "protocol": setup.protocol} | _warm(begin)
        )
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors) as process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    yield json.loads(line)
            except GeneratorExit:
                process.kill()
                raise
        errors.seek(0)
        complaint = errors.read().decode("utf-8", "replace")
    if stop := _IMPOSSIBLE.search(complaint):
        raise Stopped(Impossible(stop["side"] or stop["row"], stop["state"], int(stop["line"])))
    _check(STEP, process.returncode, complaint)


def counts(order: Order, setup: Setup, begin: Begin | None = None) -> dict[str, int]:
    """Counts by state, with the names in src/replay/order_count.h. begin: without it, the caches are cold."""
    with files(STEP, order, setup.machine) as (order_file, machine_file):
        return _counted(order_file, machine_file, setup, **_warm(begin))


def spare_counts(order: Order, setup: Setup, spare_cores: int, spare_sets: int) -> dict[str, int]:
    """As `counts`, of a trace that `s80-step rebuild` made: it names cores instead of processors, and spare cores."""
    with files(STEP, None, setup.machine) as (order_file, machine_file):
        trace_order.write(order_file, order)
        return _counted(order_file, machine_file, setup, spare_cores=spare_cores, spare_sets=spare_sets)


def _counted(order_file: Path, machine_file: Path, setup: Setup, **more: Path | str | int) -> dict[str, int]:
    counted: dict[str, int] = json.loads(
        call(STEP, "count", order=order_file, machine=machine_file, protocol=setup.protocol, **more)
    )
    return counted


def state_after(order: Order, setup: Setup, lines: int, out: Path) -> None:
    """Write the state of the model's caches after these accesses from cold caches. lines: lines of memory."""
    with files(STEP, order, setup.machine) as (order_file, machine_file):
        call(STEP, "warm", order=order_file, machine=machine_file, protocol=setup.protocol, lines=lines, out=out)


def from_capture(
    capture: Path, setup: Setup, first: int = 0, count: int | None = None, state: Path | None = None
) -> Order:
    """Accesses of a full capture, in the order in which the model plays them.

    state: write the state of the caches before the first of these accesses to this file. The caches at the beginning of
    the capture are then those of the recorded run, if it had the same machine and protocol. In all other cases the
    caches are cold at the beginning of the capture.
    """
    with files(ORDER, None, setup.machine) as (order_file, machine_file):
        limit: dict[str, Path | str | int] = {} if count is None else {"count": count}
        if state is not None:
            limit["state"] = state
        call(
            ORDER,
            "export",
            capture=capture,
            machine=machine_file,
            protocol=setup.protocol,
            out=order_file,
            first=first,
            **limit,
        )
        return trace_order.read(order_file)


def to_capture(
    order: Order, machine: Machine, capture: Path, *, lines: int, protocol: str, origin: str, counted: bool = False
) -> None:
    """Writes the accesses as a full capture with `lines` lines of memory, completely or not at all.

    counted: the ticks are numbers of instructions of the processor; otherwise each access is one instruction.
    """
    with files(ORDER, order, machine) as (order_file, machine_file), whole(capture) as partial:
        call(
            ORDER,
            "import",
            order=order_file,
            machine=machine_file,
            out=partial,
            lines=lines,
            protocol=protocol,
            origin=origin,
            counted=int(counted),
        )


def capture_info(capture: Path) -> dict[str, Any]:
    """The contents of a capture's header and end record."""
    info: dict[str, Any] = json.loads(call(ORDER, "info", capture=capture))
    return info

# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a program's run as text: first what ran and where, then the counts."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import join

from s80lab.base.terminal import plain
from s80lab.config.machine import Machine
from s80lab.exec.counts import Counts, Side, counts_of
from s80lab.exec.folder import ExecRun

SERVICES = {"l2": "L2 hit", "memory": "memory", "cache": "other cache", "upgrade": "upgrade", "issue": "issue",
            "order": "wait"}  # fmt: skip
WAIT_ERROR = 0.05


def program_text(run: ExecRun) -> str:
    """The whole report, lines of at most 100 characters except for the command."""
    return "".join(f"{line}\n" for line in (*_head(run), "", *_counts(counts_of(run.region)), *_per(run)))


def _head(run: ExecRun) -> Iterator[str]:
    record, machine = run.record, run.machine
    yield f"s80lab exec: {plain(join(record.words))}"
    yield f"machine {machine.name}: {machine_line(machine)}"
    if record.settings:
        yield "changed: " + ", ".join(f"{key} = {value}" for key, value in record.settings.items())
    yield f"region: {record.region}" + (f" ({run.parts} times)" if run.parts > 1 else "")
    if not record.complete:
        why = "Ctrl-C" if record.in_time else "--timeout"
        yield f"INTERRUPTED by {why}: the counts end where the run was ended"
    elif not record.in_time:
        yield "ENDED by --simulated-timeout: the counts end there"
    elif record.code:
        yield f"exit code {record.code}"


def _per(run: ExecRun) -> Iterator[str]:
    """The counts divided by the calls of a function."""
    if run.calls is None:
        return
    yield ""
    yield f"{run.calls:,} calls of {run.record.per}; for each call:"
    if not run.calls:
        return
    side = counts_of(run.region).all
    for name, count in (
        ("instructions", side.instructions),
        ("cycles", side.cycles),
        ("L2 misses", side.l2_misses),
        ("of these from other caches", side.transfers),
        ("upgrades", side.upgrades),
    ):
        yield f"{name:28}{count / run.calls:>16.3f}"


def machine_line(machine: Machine) -> str:
    """The machine in one line: processors, caches, line size and protocol."""
    count, l1, l2 = machine.processors.count, machine.l1d.size >> 10, machine.l2.size
    size = f"{l2 >> 20} MB" if l2 >= 1 << 20 else f"{l2 >> 10} KB"
    return (
        f"{count} processors at {machine.processors.clock_hz / 1e9:g} GHz, lines of {machine.line_bytes} bytes, "
        f"{l1} KB L1s, {size} private L2s, {machine.protocol.upper()}"
    )


def _counts(counts: Counts) -> Iterator[str]:
    yield f"{'':28}{'all':>16}{'user':>16}{'kernel':>16}"
    yield _row("instructions", counts, lambda side: f"{side.instructions:,}")
    yield _row("CPI", counts, lambda side: _ratio(side.cycles, side.instructions))
    for part, name in {"base": "base", **SERVICES}.items():
        if counts.all.cpi.get(part):
            yield _row(f"  {name}", counts, lambda side, part=part: f"{side.cpi.get(part, 0.0):.3f}")
    yield _row("L1 misses", counts, lambda side: f"{side.l1_misses:,}")
    yield _row("L2 misses", counts, lambda side: f"{side.l2_misses:,}")
    yield _row("  per 1,000 instructions", counts, lambda side: _ratio(1000 * side.l2_misses, side.instructions))
    for source in counts.all.misses:
        name = "from memory" if source == "memory" else f"from a cache in {source}"
        yield _row(f"  {name}", counts, lambda side, source=source: f"{side.misses[source]:,}")
    yield _row("upgrades", counts, lambda side: f"{side.upgrades:,}")
    yield _row("invalidated copies", counts, lambda side: f"{side.invalidations:,}")
    yield ""
    yield (
        f"simulated time {_time(counts.simulated_ns)}; not in the table: {counts.relay:,} instructions that relayed "
        f"the output, {counts.idle:,} of idle processors"
    )
    if counts.wait_error > WAIT_ERROR:
        yield (
            f"INVALID: processors that poll saw stores late by {100 * counts.wait_error:.0f}% of the cycles (limit "
            "5%); see docs/background/clock.md"
        )


def _row(name: str, counts: Counts, show: object) -> str:
    assert callable(show)
    cells = "".join(f"{show(side):>16}" for side in (counts.all, counts.user, counts.kernel))
    return f"{name:28}{cells}"


def _ratio(part: float, whole: Side | float) -> str:
    assert not isinstance(whole, Side)
    return f"{part / whole:.3f}" if whole else "-"


def _time(ns: int) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3f} {unit}"
    return f"{ns} ns"

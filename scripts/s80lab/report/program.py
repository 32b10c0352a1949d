# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a program's run as text: first what ran and where, then the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from shlex import join

from s80lab.analysis.interval import estimate
from s80lab.base.progress import shorten
from s80lab.base.terminal import plain
from s80lab.base.vocabulary import LABELS, texts
from s80lab.config.machine import Machine
from s80lab.exec.compare import VALUES, ExecComparison, names
from s80lab.exec.compare import Row as Count
from s80lab.exec.contention import Access, Line
from s80lab.exec.folder import Counts, ExecRun, Side, counts_of
from s80lab.results.metrics.standing import ALLOWED_WAIT_ERROR

SIDES = ("all", *LABELS["privilege"])
_SHORT = {"l2": "L2 hit", "cache": "other cache", "order": "wait", "llc": "LLC hit", "group": "group cache"}
SERVICES = {service: _SHORT.get(service, service) for service in LABELS["service"]}
SHOWN_LINES, SHOWN_ACCESSES, SHOWN_SUMS, SHOWN_DATA = 6, 8, 8, 3
NAME_WIDTH = 44
LEAST_SHARE = 0.01
"""Share of all transfers and upgrades that a line must have to be shown; the first line always is."""
PER_CALL: Mapping[str, Callable[[Side], float]] = {
    "instructions": lambda side: side.instructions,
    "cycles": lambda side: side.cycles,
    "L2 misses": lambda side: side.l2_misses,
    "  from other caches": lambda side: side.transfers,
    "upgrades": lambda side: side.upgrades,
}


def program_text(run: ExecRun) -> str:
    """The whole report, lines of at most 100 characters except for the command."""
    return "".join(f"{line}\n" for line in (*_head(run), "", *_counts(counts_of(run.region)), *_per(run), *_lines(run)))


def comparison_text(comparison: ExecComparison) -> str:
    """Both sides of each count, then the fields and functions whose transfers and upgrades changed most."""
    lines = [*_sides(comparison), "", *_changes(comparison)]
    for kind, title in (("fields", "transfers and upgrades by field"), ("functions", "by function")):
        moved = comparison.moved(kind)
        least = LEAST_SHARE * sum(abs(one.second - one.first) for one in moved)
        moved = [one for one in moved[:SHOWN_SUMS] if abs(one.second - one.first) > least]
        if moved:
            lines += ["", f"{title:44}{'before':>16}{'after':>16}{'difference':>16}"]
            lines += [
                f"{shorten(one.name, 43):44}{_number(one.first):>16}{_number(one.second):>16}"
                f"{_signed(one.second - one.first):>16}"
                for one in moved
            ]
    return "".join(f"{line}\n" for line in lines)


def sweep_text(name: str, comparisons: Sequence[ExecComparison]) -> str:
    """The counts of each design of a program, and their changes from the first design, which all comparisons have."""
    first = comparisons[0]
    width = max(16, *(len(label) for one in comparisons for label in one.names)) + 2
    lines = [
        f"{name}: {plain(join(first.first[0].record.words))}, {_counted(comparisons, 'design')} beside the first, "
        f"{_counted(first.first, 'run')} each",
        *([f"all counts are for each call of {first.first[0].record.per}"] if first.per_call else []),
        "in brackets: the change from the first design; *: its 95% interval excludes 0",
        "",
        f"{'':{width}}" + "".join(f"{name:>26}" for name in VALUES),
    ]
    rows = {row.name: row for row in first.rows}
    lines.append(f"{first.names[0]:{width}}" + "".join(f"{_number(rows[name].first):>26}" for name in VALUES))
    for one in comparisons:
        rows = {row.name: row for row in one.rows}
        lines.append(f"{one.names[1]:{width}}" + "".join(f"{_changed(rows[name]):>26}" for name in VALUES))
    return "".join(f"{line}\n" for line in lines)


def _changed(row: Count) -> str:
    """The second side of a count, with its change."""
    change = "" if row.change is None else f"{100 * row.change:+.1f}%"
    return f"{_number(row.second)} ({change or '-'}){'*' if row.verdict in ('higher', 'lower') else ' '}"


def _sides(comparison: ExecComparison) -> Iterator[str]:
    for word, name, runs in zip(
        ("before", "after"), comparison.names, (comparison.first, comparison.second), strict=True
    ):
        boots, seeds = ({getattr(run.record, key) for run in runs} for key in ("boot", "seed"))
        yield (
            f"{word}: {name}, {plain(join(runs[0].record.words))}, {runs[0].record.machine}, {_counted(runs, 'run')} "
            f"({_counted(boots, 'boot')}, {_counted(seeds, 'seed')})"
        )
    if comparison.per_call:
        yield f"all counts are for each call of {comparison.first[0].record.per}"
    if len(comparison.first) > 1 and len(comparison.second) > 1:
        covers = "within each boot and seed" if comparison.paired else "between independent samples"
        yield f"differences {covers}, with 95% intervals (Student's t)"


def _counted(things: Sized, noun: str) -> str:
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


def _changes(comparison: ExecComparison) -> Iterator[str]:
    yield f"{'':24}{'before':>16}{'after':>16}  {'difference':>24}{'change':>9}  verdict"
    for row in comparison.rows:
        half = row.difference.half_width
        text = _signed(row.difference.estimate) + (f" ± {_number(half)}" if half is not None else "")
        change = "-" if row.change is None else f"{100 * row.change:+.1f}%"
        yield f"{row.name:24}{_number(row.first):>16}{_number(row.second):>16}  {text:>24}{change:>9}  {row.verdict}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.3f}"


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + _number(value)


def several_text(runs: Sequence[ExecRun]) -> str:
    """The means over several runs with their intervals; empty for one run."""
    if len(runs) == 1:
        return ""
    boots, seeds = (sorted({getattr(run.record, key) for run in runs}) for key in ("boot", "seed"))
    lines = [
        "",
        f"means of {len(runs)} runs with 95% intervals over them (boots {ranges(boots)}; seeds {ranges(seeds)}); the "
        "report above is of the first",
    ]
    for name in names():
        side, _, count = name.rpartition(".")
        found = estimate([VALUES[count](run.report["counts"][side or "all"]) for run in runs])
        assert found is not None and found.half_width is not None
        lines.append(f"{name:28}{_number(found.mean):>16} ± {_number(found.half_width)}")
    return "".join(f"{line}\n" for line in lines)


def _head(run: ExecRun) -> Iterator[str]:
    record, machine = run.record, run.machine
    yield f"s80lab exec: {plain(join(record.words))}"
    yield f"machine {machine.name}: {machine_line(machine)}"
    if machine.clock_shift:
        yield f"clock: {1 << machine.clock_shift} seconds of the guest are one simulated second"
    if record.settings:
        yield "changed: " + ", ".join(f"{key} = {value}" for key, value in record.settings.items())
    yield f"region: {record.region}" + (f" ({run.region_count} times)" if run.region_count > 1 else "")
    if (ended := _how_ended(run)) is not None:
        yield f"{ended[0]} by {ended[1]}"
    elif record.code:
        yield f"exit code {record.code}"


def _how_ended(run: ExecRun) -> tuple[str, str] | None:
    """What cut the run short: a word, and a text that follows `by`; None: the program ended by itself."""
    record = run.record
    if not record.complete:
        return "INTERRUPTED", f"{'Ctrl-C' if record.in_time else '--timeout'}: the counts end where the run was ended"
    return None if record.in_time else ("ENDED", "--simulated-timeout: the counts end there")


def verdicts_of(run: ExecRun) -> list[tuple[str, str]]:
    """What a reader must know before the counts: a word, and the reason."""
    ended, late = _how_ended(run), _late(counts_of(run.region))
    return [*([(ended[0], f"by {ended[1]}")] if ended else []), *([("INVALID", late)] if late else [])]


def _late(counts: Counts) -> str:
    """Why the counts are invalid; empty if they are valid."""
    if counts.wait_error <= ALLOWED_WAIT_ERROR:
        return ""
    return (
        f"processors that poll saw stores late by {100 * counts.wait_error:.0f}% of the cycles (limit "
        f"{100 * ALLOWED_WAIT_ERROR:g}%); see docs/background/clock.md"
    )


def _per(run: ExecRun) -> Iterator[str]:
    """The counts divided by the calls of a function."""
    if run.calls is None:
        return
    yield ""
    if not run.calls:
        yield f"{run.record.per} was never called in the measured region"
        return
    yield f"{run.calls:,} calls of {run.record.per}; for each call:"
    counts = counts_of(run.region)
    yield _row("", SIDES)
    for name, count in PER_CALL.items():
        yield _row(name, [f"{count(side) / run.calls:.3f}" for side in (counts.all, counts.user, counts.kernel)])


def _lines(run: ExecRun) -> Iterator[str]:
    """The lines that move between caches, then the functions and variables with the most stall cycles."""
    found = run.contention
    if found is None:
        return
    yield ""
    moved = found.transfers + found.upgrades
    yield (
        f"{found.number:,} lines moved between caches: {found.transfers:,} transfers, {found.upgrades:,} upgrades; "
        f"{100 * found.attributed:.0f}% of all misses and upgrades have names"
    )
    for number, line in enumerate(found.lines[:SHOWN_LINES], 1):
        if number == 1 or line.transfers + line.upgrades >= LEAST_SHARE * moved:
            yield ""
            yield from _line(number, line, moved)
    for title, sums in (("function", found.functions), ("data", found.data)):
        yield ""
        yield f"{title:44}{'stall cycles':>14}{'misses':>11}{'transfers':>11}{'upgrades':>11}{'false':>9}"
        for one in sums[:SHOWN_SUMS]:
            numbers = f"{one.stall_cycles:>14,}{one.misses:>11,}{one.transfers:>11,}{one.upgrades:>11,}{one.false:>9,}"
            yield f"{shorten(one.name, 43):44}{numbers}"


def _line(number: int, line: Line, moved: int) -> Iterator[str]:
    """A line: what it holds, how it is shared, and who accesses it where. moved: transfers and upgrades of all
    lines."""
    share = (line.transfers + line.upgrades) / moved if moved else 0.0
    states = ", ".join(f"{count:,} from {state}" for state, count in line.states.items() if count)
    held = ", ".join(shorten(name, NAME_WIDTH) for name in line.data[:SHOWN_DATA])
    yield f"line {number}: {held}{', ...' if len(line.data) > SHOWN_DATA else ''}"
    yield (
        f"  {line.kind}, {100 * share:.1f}% of all: {line.transfers:,} transfers ({states or 'none'}), "
        f"{line.upgrades:,} upgrades, {line.stall_cycles:,} stall cycles"
    )
    yield f"  {'byte':>4} {'loads':>10} {'stores':>10} {'upgrades':>10}  {'processors':12} data, function, source"
    rows = _rows(line.accesses)
    yield from rows[:SHOWN_ACCESSES]
    if len(rows) > SHOWN_ACCESSES:
        yield f"  ... {len(rows) - SHOWN_ACCESSES} more: --json writes all"
    if line.advice:
        yield f"  advice: {line.advice}"


def _rows(accesses: Sequence[Access]) -> list[str]:
    """The accesses by place and code, the most frequent first; processes are added up."""
    found: dict[tuple[int, str, str, str], list[Access]] = {}
    for one in accesses:
        found.setdefault((one.offset, one.data, one.code, one.source), []).append(one)
    rows = []
    for (offset, data, code, source), same in found.items():
        loads, stores, upgrades = (sum(getattr(one, name) for one in same) for name in ("loads", "stores", "upgrades"))
        processors = sorted({number for one in same for number in one.processors})
        place = ", ".join(part for part in (shorten(data, NAME_WIDTH), shorten(code, NAME_WIDTH), source) if part)
        text = f"  {offset:>4} {loads:>10,} {stores:>10,} {upgrades:>10,}  {ranges(processors):12} {place}"
        rows.append((loads + stores + upgrades, text))
    return [text for _, text in sorted(rows, key=lambda row: -row[0])]


def ranges(numbers: Sequence[int]) -> str:
    """Numbers with their neighbours joined: `0, 2-5`."""
    parts: list[str] = []
    for place, number in enumerate(numbers):
        if place and numbers[place - 1] == number - 1:
            first = parts[-1].split("-")[0]
            parts[-1] = f"{first}-{number}"
        else:
            parts.append(str(number))
    return ", ".join(parts)


def machine_line(machine: Machine) -> str:
    """The machine in one line: processors, caches, line size and protocol."""
    processors, caches = machine.processors, [f"{_size(machine.l1d.size)} L1s", f"{_size(machine.l2.size)} private L2s"]
    if machine.group is not None:
        caches.append(f"{_size(machine.group.size)} group caches of {machine.group.cores} cores")
    if machine.llc is not None:
        caches.append(f"{_size(machine.llc.size)} LLC")
    return (
        f"{processors.count} processors at {processors.clock_hz / 1e9:g} GHz, lines of {machine.line_bytes} bytes, "
        f"{', '.join(caches)}, {machine.protocol.upper()}"
    )


def _size(size: int) -> str:
    return f"{size / (1 << 20):g} MB" if size >= 1 << 20 else f"{size >> 10} KB"


def count_rows(counts: Counts) -> Iterator[tuple[str, str, tuple[str, str, str]]]:
    """The table of counts: for each row the count of which it is a part (empty for none), its label, and its values for
    all code, user code and the kernel."""

    def row(whole: str, label: str, show: Callable[[Side], str]) -> tuple[str, str, tuple[str, str, str]]:
        return whole, label, (show(counts.all), show(counts.user), show(counts.kernel))

    yield row("", "instructions", lambda side: f"{side.instructions:,}")
    yield row("", "CPI", lambda side: _ratio(side.cycles, side.instructions))
    for part, name in {"base": "base", **SERVICES}.items():
        if counts.all.cpi.get(part):
            yield row("CPI", name, lambda side, part=part: f"{side.cpi.get(part, 0.0):.3f}")  # type: ignore[misc]
    yield row("", "L1 misses", lambda side: f"{side.l1_misses:,}")
    yield row("", "L2 misses", lambda side: f"{side.l2_misses:,}")
    yield row("L2 misses", "per 1,000 instructions", lambda side: _ratio(1000 * side.l2_misses, side.instructions))
    for source in counts.all.misses:
        name = f"from a cache in {source}" if source in LABELS["state"] else f"from {texts('source')[source]}"
        yield row("L2 misses", name, lambda side, source=source: f"{side.misses[source]:,}")  # type: ignore[misc]
    yield row("", "upgrades", lambda side: f"{side.upgrades:,}")
    yield row("", "invalidated copies", lambda side: f"{side.invalidations:,}")


def _counts(counts: Counts) -> Iterator[str]:
    yield _row("", SIDES)
    for whole, label, cells in count_rows(counts):
        yield _row(f"  {label}" if whole else label, cells)
    yield ""
    yield (
        f"simulated time {simulated(counts.simulated_ns)}; not in the table: {counts.relay:,} instructions that "
        f"relayed the output, {counts.idle:,} of idle processors"
    )
    if late := _late(counts):
        yield f"INVALID: {late}"


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:28}" + "".join(f"{cell:>16}" for cell in cells)


def _ratio(part: float, whole: float) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def simulated(ns: int) -> str:
    """A simulated time in a fitting unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3f} {unit}"
    return f"{ns} ns"

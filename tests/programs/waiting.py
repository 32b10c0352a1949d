# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares programs whose threads wait for each other with the reference order of accesses:

    python -m tests.programs.waiting --spread
    python -m tests.programs.waiting --programs relay-busy --threads 4,5,6,7,8 --work 20000,200000,1000000

In the reference, each time slice has ten instructions, no access is filtered, and of all processors always the earliest
one in simulated time executes (docs/background/clock.md). The table has the transfers and the simulated cycles of an
operation, and how often the programs with a limited wait gave up. A value may differ from the reference by 10%, or by
the spread of references with slices of 5, 10 and 20 instructions if that is larger (--spread). The exit code is 1 if a
value differs by more. Where a thread hardly ever gets the lock, a program does not end in a reasonable time: --patience
skips and lists such programs. The second command measures rings of threads of which one stalls ten times: the time of a
hand-over from the 20th round after a stall.

Measured programs are kept in the folder, so that a repeated or extended call measures only what is missing. After a
change of the plugin or of a program, remove the folder.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from tests.lab import Lab
from tests.programs.program import Measured, Run, measure

from s80lab.base import paths
from s80lab.base.errors import UserError

LIMIT = 0.10
# How often a program sleeps or gives up, per thousand rounds. Regions are too short to compare less.
RARE = 10
EPOCHS = (5_000, 20_000, 50_000)
THREADS = (2, 4, 8)
WORK = (0, 300, 2_000)


@dataclass(frozen=True)
class Program:
    """rounds: the smallest number of rounds, for what the program itself measures. stalls: the work is that of a fixed
    number of stalls, so a work other than 0 needs this number of rounds in each order."""

    name: str
    title: str
    rounds: int = 20
    work: Sequence[int] = WORK
    stalls: bool = False


PROGRAMS = {
    program.name: program
    for program in (
        Program("counter", "counter"),
        Program("falsely", "false sharing"),
        Program("ticket", "ticket lock"),
        Program("mutex", "mutex"),
        Program("rwlock", "reader-writer lock"),
        Program("rwlock-busy", "reader-writer lock without `PAUSE`"),
        Program("tas", "test-and-set"),
        Program("ttas", "test and test-and-set"),
        Program("ttas-uneven", "the same, uneven work"),
        Program("cas", "compare-and-swap"),
        Program("backoff", "test-and-set with backoff"),
        Program("seqlock", "sequence lock", rounds=4_000),
        Program("spinsleep", "spin, then sleep"),
        Program("ring", "padded ring"),
        Program("alternate", "relay"),
        # Ten stalls of this work, and at most 92 rounds between two of them.
        Program("relay-busy", "relay without `PAUSE`", rounds=1_100, work=(0, 20_000, 200_000, 1_000_000), stalls=True),
        Program("twolines", "poll of two lines"),
        Program("deadline", "spin until a time"),
        Program("pipes", "pipes"),
    )
}


@dataclass(frozen=True)
class Case:
    program: str
    threads: int
    work: int

    def __str__(self) -> str:
        return f"{self.program}, {self.threads} threads, work {self.work}"


# In the first epochs of a program the speed of a processor is not known. A tenth of these rounds, which come before the
# region, takes longer than these epochs, although the operations are short.
LONGER = {("seqlock", 0): 60_000}
"""Smallest numbers of rounds by program and work."""


@dataclass(frozen=True)
class Order:
    """How the guest's processors take turns. operations: of each program, all threads together. More with long epochs,
    because in the first ten epochs the speed of a processor is not known."""

    name: str
    operations: int
    settings: Mapping[str, object]
    plugin: Mapping[str, object]

    @property
    def reference(self) -> bool:
        return "slice" in self.plugin


def reference(instructions: int, operations: int) -> Order:
    return Order(f"reference-{instructions}", operations, {"clock.filter_instructions": 1}, {"slice": instructions})


def with_epochs(cycles: int, operations: int) -> Order:
    return Order(f"epochs-{cycles}", operations * max(1, cycles // 50_000), {"clock.epoch_cycles": cycles}, {})


Values = Mapping[str, float]
"""Of a case: transfers and cycles of an operation, and what the program printed."""


def values_of(measured: Measured) -> Values:
    return {
        "transfers": measured.transfers / measured.rounds,
        "cycles": measured.cycles / measured.rounds,
        "wait error": measured.wait_error,
        **measured.printed,
    }


# The speed of a processor that has not executed yet is unknown.
FIRST = Run("falsely", 8, 1_000, 300)
# Runs of one boot: a guest that fails loses no more.
A_BOOT = 60


def rounds_of(case: Case, order: Order) -> int:
    program = PROGRAMS[case.program]
    if program.stalls and case.work != 0:
        return program.rounds
    return max(program.rounds, LONGER.get((case.program, case.work), 0), order.operations // case.threads)


def measure_order(
    order: Order, cases: Sequence[Case], folder: Path, patience_s: float = math.inf
) -> dict[Case, Values]:
    """What the folder has is not measured again. A case that takes longer than the patience has no values."""
    kept = folder / f"{order.name}.json"
    known: dict[Case, Values] = {}
    if kept.is_file():
        known = {Case(**entry["case"]): entry["values"] for entry in json.loads(kept.read_text())}
    missing = [case for case in cases if case not in known]
    while missing:
        some = missing[:A_BOOT]
        runs = [Run(case.program, case.threads, rounds_of(case, order), case.work) for case in some]
        with tempfile.TemporaryDirectory(dir=folder) as boot:
            _, *results = measure(Path(boot), [FIRST, *runs], order.settings, order.plugin, patience_s)
        known |= {case: values_of(of) for case, of in zip(some, results, strict=False)}
        tried = some[: len(results) + 1]
        known |= {case: {} for case in tried[len(results) :]}
        missing = missing[len(tried) :]
        entries = [{"case": asdict(case), "values": dict(values)} for case, values in known.items()]
        kept.write_text(json.dumps(entries, indent=1) + "\n")
    return known


def too_far(name: str, value: float, references: Sequence[float]) -> bool:
    """Whether a value differs by more than the limit from the first reference. The others give the spread."""
    right = references[0]
    least = RARE if name in ("gives_up", "sleeps") else 0
    return abs(value - right) > max(LIMIT * abs(right), max(references) - min(references), least)


def far_values(
    cases: Sequence[Case], references: Sequence[Mapping[Case, Values]], measured: Mapping[Case, Values]
) -> set[tuple[Case, str]]:
    """Cases, with the names of their values that are too far from the reference."""
    return {
        (case, name)
        for case in cases
        for name in compared(references[0], measured, case)
        if too_far(name, measured[case][name], [of[case][name] for of in references if of[case]])
    }


def compared(reference: Mapping[Case, Values], measured: Mapping[Case, Values], case: Case) -> set[str]:
    """The names of the values that have a reference. None if the case was skipped in one of the two."""
    return reference[case].keys() & measured[case].keys() - {"wait error"}


def main(arguments: list[str]) -> int:
    """Returns the exit code: 1 if a value is too far from the reference."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs.waiting", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    numbers = lambda text: [int(word) for word in text.split(",")]  # noqa: E731
    parser.add_argument("--epochs", type=numbers, default=list(EPOCHS), help="lengths of epochs in cycles")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="names of programs")
    parser.add_argument("--threads", type=numbers, default=list(THREADS), help="numbers of threads")
    parser.add_argument("--work", type=numbers, default=list(WORK), help="instructions of work")
    parser.add_argument("--operations", type=int, default=12_000, help="operations of a program (default: 12000)")
    parser.add_argument("--reference-operations", type=int, default=6_000, help="the same in the reference")
    parser.add_argument(
        "--patience", type=float, default=math.inf, help="seconds of the host: skip programs that take longer"
    )
    parser.add_argument(
        "--spread", action="store_true", help="where a value is beyond 10%%, also measure references of 5 and 20"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table of docs/background/clock.md")
    parser.add_argument("--folder", type=Path, default=paths.BUILD / "waiting", help="measured programs")
    given = parser.parse_args(arguments)
    folder = given.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        programs = [PROGRAMS[name] for name in given.programs.split(",")]
    except KeyError as error:
        parser.error(f"there is no program {error}: choose from {', '.join(PROGRAMS)}")
    wanted = [
        Case(program.name, threads, work)
        for program in programs
        for work in given.work
        for threads in given.threads
        if work in program.work
    ]
    with Lab(folder / "checkpoints", folder / "results").entered():
        try:
            measure_all = partial(measure_order, folder=folder, patience_s=given.patience)
            right = measure_all(reference(10, given.reference_operations), wanted)
            cases = [case for case in wanted if right[case]]
            measured = {cycles: measure_all(with_epochs(cycles, given.operations), cases) for cycles in given.epochs}
            far = {cycles: far_values(cases, [right], of) for cycles, of in measured.items()}
            if given.spread:
                some = [case for case in cases if any(case == each for of in far.values() for each, _ in of)]
                others = [measure_all(reference(n, given.reference_operations), some) for n in (5, 20)]
                far = {cycles: far_values(some, [right, *others], of) for cycles, of in measured.items()}
        except UserError as error:
            parser.error(str(error))
    if given.markdown:
        print_markdown(cases, {"reference": right, **{f"epochs of {n:,} cycles": of for n, of in measured.items()}})
    else:
        for case in cases:
            print_case(case, right, measured, far)
    if skipped := [case for case in wanted if not right[case]]:
        print(f"\nskipped, too slow in the reference: {'; '.join(map(str, skipped))}")
    for cycles, of in measured.items():
        if skipped := [case for case in cases if not of[case]]:
            print(f"\nskipped, too slow with epochs of {cycles}: {'; '.join(map(str, skipped))}")
    count = sum(map(len, far.values()))
    of_all = sum(len(compared(right, of, case)) for of in measured.values() for case in cases)
    print(f"\n{count} of {of_all} values are too far from the reference{':' if count else ''}")
    for cycles, values in far.items():
        for case, name in sorted(values, key=str):
            print(f"epochs of {cycles}: {case}: {name}")
    return min(count, 1)


def print_case(
    case: Case,
    right: Mapping[Case, Values],
    measured: Mapping[int, Mapping[Case, Values]],
    far: Mapping[int, set[tuple[Case, str]]],
) -> None:
    """Prints the rows of a case."""
    for name, reference_value in right[case].items():
        cells = [f"{reference_value:10.4g}"]
        for cycles, of in measured.items():
            if name not in of[case]:
                cells.append(f"{'-':>19}")
                continue
            value = of[case][name]
            difference = (value - reference_value) / reference_value if reference_value else 0.0
            mark = "!" if (case, name) in far[cycles] else " "
            cells.append(f"{value:10.4g} {100 * difference:+6.1f}%{mark}")
        print(f"{case!s:34} {name:10} {' '.join(cells)}", flush=True)


def print_markdown(cases: Sequence[Case], by_order: Mapping[str, Mapping[Case, Values]]) -> None:
    """Prints a row for each program and work: transfers (cycles) of an operation for each number of threads."""

    def cell(values: Values) -> str:
        if not values:
            return "-"
        return f"{values['transfers']:.2f} ({values['cycles']:,.0f})"

    print(f"| program, work | threads | {' | '.join(by_order)} |")
    print("| --- " * (2 + len(by_order)) + "|")
    for program, work in dict.fromkeys((case.program, case.work) for case in cases):
        row = [case for case in cases if (case.program, case.work) == (program, work)]
        threads = ", ".join(str(case.threads) for case in row)
        cells = [", ".join(cell(of[case]) for case in row) for of in by_order.values()]
        print(f"| {PROGRAMS[program].title}, {work:,} | {threads} | {' | '.join(cells)} |")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

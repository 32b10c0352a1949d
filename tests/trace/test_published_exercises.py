# SPDX-License-Identifier: GPL-2.0-or-later
"""The exercises of docs/background/published-exercises.md, and the page itself.

All expected values are literals. They were derived by hand from the textbook definition of each protocol, or of a
set-associative cache with LRU replacement, and not from the output of s80lab.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.forked import call
from tests.lab import LIMIT_S

from s80lab.base import paths
from s80lab.base.strict import read_toml

PAGE = paths.ROOT / "docs" / "background" / "published-exercises.md"
EXERCISES = paths.LESSONS / "exercises"
CELL = re.compile(r"\((own|remote)\.(\w+)\.(\w+)\)")
REQUESTS = {"none": "-", "read": "read", "rfo": "read for ownership", "upgrade": "upgrade"}
NO_DATA = "-"


@dataclass(frozen=True)
class Access:
    """One access, with the values that textbooks tabulate."""

    core: int
    op: str
    block: int
    states: str  # of the block in each core, for example "M I I"
    request: str
    data_from: str
    writebacks: int
    invalidated: int
    evicted: list[int]
    stall: int

    @property
    def cells(self) -> list[str]:
        """The row of the access in a table of states."""
        writeback = "yes" if self.writebacks else "-"
        return [f"core {self.core} {self.op}", *self.states.split(), self.request, self.data_from, writeback]

    @property
    def text(self) -> str:
        return " | ".join((f"{self.core} {self.op}", self.states, self.request, self.data_from, self.cells[-1]))

    @property
    def found(self) -> str:
        """Hit or miss in a single cache, with the block that the miss evicts."""
        if self.data_from == NO_DATA:
            return "hit"
        return "miss" + "".join(f", evicts {block}" for block in self.evicted)


@cache
def play(*words: str) -> tuple[str, list[Access]]:
    """Run `s80lab trace step WORDS --json`; return the protocol and the accesses."""
    done = call(["trace", "step", *words, "--json"], os.environ, LIMIT_S)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    table = read_toml(paths.PROTOCOLS / f"{record['protocol']}.toml")
    return record["protocol"], [_access(record, step, table) for step in record["steps"]]


def _access(record: dict[str, Any], step: dict[str, Any], table: dict[str, Any]) -> Access:
    held = {spot["core"]: spot["state"] for spot in step["copies"]}
    gone = {(spot["core"], spot["line"]) for spot in step["changes"] if not spot["where"]}
    lost = [(spot["core"], spot["line"]) for spot in step["was"] if spot["state"] != record["invalid"]]
    lost = [place for place in lost if place in gone]
    # The reasons name the cells of the protocol's table. The cells hold the bus request and the writebacks.
    names = [found for reason in step["reasons"] for found in CELL.findall(reason)]
    cells = [table[side][event][state] for side, event, state in names]
    own = [cell for (side, event, _), cell in zip(names, cells, strict=True) if side == "own" and event != "evict"]
    supplier = NO_DATA if step["supplier"] is None else f"core {step['supplier']}"
    return Access(
        core=step["core"],
        op=step["op"],
        block=step["line"],
        states=" ".join(held.get(core, record["invalid"]) for core in record["cores"]),
        request=REQUESTS[own[0].get("bus", "none")],
        data_from="memory" if step["from_memory"] else supplier,
        writebacks=sum(cell.get("writeback", False) for cell in cells),
        invalidated=sum(core != step["core"] and line == step["line"] for core, line in lost),
        evicted=[line for core, line in lost if core == step["core"]],
        stall=step["stall"],
    )


def exercise(name: str, *words: str) -> list[Access]:
    return play(str(EXERCISES / f"{name}.trace"), *words)[1]


def texts(accesses: list[Access]) -> list[str]:
    return [access.text for access in accesses]


def costs(accesses: list[Access]) -> list[int]:
    """The number of hits, of transactions without a block and of transactions with a block, and the total cycles."""
    hits = sum(access.request == "-" for access in accesses)
    without = sum(access.request == "upgrade" for access in accesses)
    cycles = sum(1 + access.stall for access in accesses)
    return [hits, without, len(accesses) - hits - without, cycles]


def counts(accesses: list[Access]) -> list[int]:
    """The number of transactions, invalidated copies, blocks from memory and writebacks."""
    return [
        sum(access.request != "-" for access in accesses),
        sum(access.invalidated for access in accesses),
        sum(access.data_from == "memory" for access in accesses),
        sum(access.writebacks for access in accesses),
    ]


def lookups(accesses: list[Access]) -> list[int]:
    """The number of hits, misses and evictions of a single cache."""
    hits = sum(access.found == "hit" for access in accesses)
    return [hits, len(accesses) - hits, sum(len(access.evicted) for access in accesses)]


@pytest.mark.parametrize(
    ("name", "protocol", "stalls", "total"),
    [
        ("stream-1", "mesi", [89, 0, 0, 0, 89, 59, 0, 0, 89, 59, 0, 0], 397),
        ("stream-2", "mesi", [89, 89, 89, 59, 89, 89, 89, 89, 0, 59, 89], 841),
        ("stream-3", "mesi", [89, 89, 89, 0, 59, 0, 0, 0, 89, 89], 514),
        ("stream-1", "msi", [89, 59, 0, 0, 89, 59, 0, 0, 89, 59, 0, 0], 456),
    ],
)
def test_streams_cost_the_textbook_cycles(name: str, protocol: str, stalls: list[int], total: int) -> None:
    """Totals under MESI: the solution of Culler and Singh's exercise. Stalls and the MSI row: by hand, with 1 cycle per
    hit, 60 per upgrade and 90 per block."""
    accesses = exercise(name, "--protocol", protocol)
    assert [access.stall for access in accesses] == stalls
    assert costs(accesses)[-1] == total


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("stream-1", ["E I I", *["M I I"] * 3, "S S I", *["I M I"] * 3, "I S S", *["I I M"] * 3]),
        (
            "stream-2",
            ["E I I", "S S I", "S S S", "M I I", "I M I", "I I M", "S I S", "S S S", "S S S", "I I M", "M I I"],
        ),
        ("stream-3", ["E I I", "S S I", "S S S", "S S S", *["M I I"] * 4, "I M I", "I I M"]),
    ],
)
def test_streams_have_the_mesi_states(name: str, expected: list[str]) -> None:
    """By hand from Illinois MESI: a load of a block that another cache holds leaves both copies in S."""
    assert [access.states for access in exercise(name)] == expected


def test_seven_accesses_have_the_textbook_mesi_table() -> None:
    """By hand from Illinois MESI: caches supply (of several, the lowest core), memory takes the data of a read M."""
    assert texts(exercise("seven-accesses")) == [
        "0 load | E I I | read | memory | -",
        "0 store | M I I | - | - | -",
        "2 load | S I S | read | core 0 | yes",
        "2 store | I I M | upgrade | - | -",
        "0 load | S I S | read | core 2 | yes",
        "2 load | S I S | - | - | -",
        "1 load | S S S | read | core 0 | -",
    ]


@pytest.mark.parametrize(
    ("protocol", "expected", "totals"),
    [
        (
            "msi",
            [
                "0 load | S I I | read | memory | -",
                "0 store | M I I | upgrade | - | -",
                "0 load | M I I | - | - | -",
                "1 store | I M I | read for ownership | core 0 | -",
                "2 load | I S S | read | core 1 | yes",
                "1 store | I M I | upgrade | - | -",
                "1 store | I M I | - | - | -",
                "0 load | S S I | read | core 1 | yes",
                "0 store | M I I | upgrade | - | -",
            ],
            [7, 3, 1, 2],
        ),
        (
            "mesi",
            [
                "0 load | E I I | read | memory | -",
                "0 store | M I I | - | - | -",
                "0 load | M I I | - | - | -",
                "1 store | I M I | read for ownership | core 0 | -",
                "2 load | I S S | read | core 1 | yes",
                "1 store | I M I | upgrade | - | -",
                "1 store | I M I | - | - | -",
                "0 load | S S I | read | core 1 | yes",
                "0 store | M I I | upgrade | - | -",
            ],
            [6, 3, 1, 2],
        ),
        (
            "moesi",
            [
                "0 load | E I I | read | memory | -",
                "0 store | M I I | - | - | -",
                "0 load | M I I | - | - | -",
                "1 store | I M I | read for ownership | core 0 | -",
                "2 load | I O S | read | core 1 | -",
                "1 store | I M I | upgrade | - | -",
                "1 store | I M I | - | - | -",
                "0 load | S O I | read | core 1 | -",
                "0 store | M I I | upgrade | - | -",
            ],
            [6, 3, 1, 0],
        ),
    ],
)
def test_nine_accesses_have_the_table_of_each_protocol(protocol: str, expected: list[str], totals: list[int]) -> None:
    """By hand. MSI has no E. MSI and MESI update memory when M is read; MOESI keeps the dirty block in O. A store that
    misses invalidates one copy (access 4), and so does each upgrade of a shared block (6 and 9)."""
    accesses = exercise("nine-accesses", "--protocol", protocol)
    assert texts(accesses) == expected
    assert counts(accesses) == totals


@pytest.mark.parametrize(
    ("protocol", "first"),
    [
        ("msi", ["0 load | S I | read | memory | -", "0 store | M I | upgrade | - | -"]),
        ("mesi", ["0 load | E I | read | memory | -", "0 store | M I | - | - | -"]),
    ],
)
def test_two_withdrawals_have_the_table_of_each_protocol(protocol: str, first: list[str]) -> None:
    """By hand. Only the first withdrawal depends on E; the second one finds a copy of the first core."""
    assert texts(exercise("two-withdrawals", "--protocol", protocol)) == [
        *first,
        "1 load | S S | read | core 0 | yes",
        "1 store | I M | upgrade | - | -",
        "0 load | S S | read | core 1 | yes",
    ]


def test_two_processors_have_the_msi_table() -> None:
    """By hand from MSI: memory supplies shared blocks, the owner supplies a dirty block, an upgrade moves no block."""
    assert texts(exercise("two-processors")) == [
        "0 load | S I | read | memory | -",
        "1 load | S S | read | memory | -",
        "1 store | I M | upgrade | - | -",
        "1 load | I M | - | - | -",
        "1 store | I M | - | - | -",
        "0 store | M I | read for ownership | core 1 | -",
        "1 load | S S | read | core 0 | yes",
    ]


@pytest.mark.parametrize(
    ("protocol", "states", "suppliers", "totals"),
    [
        (
            "msi",
            ["M I I", "S S I", "S S S", "I M I", "S S I", "S S S"],
            ["memory", "core 0", "memory", "-", "core 1", "memory"],
            [6, 2, 3, 2],
        ),
        (
            "mesi",
            ["M I I", "S S I", "S S S", "I M I", "S S I", "S S S"],
            ["memory", "core 0", "core 0", "-", "core 1", "core 0"],
            [6, 2, 1, 2],
        ),
        (
            "mesif",
            ["M I I", "S F I", "S S F", "I M I", "F S I", "S S F"],
            ["memory", "core 0", "core 1", "-", "core 1", "core 0"],
            [6, 2, 1, 2],
        ),
        (
            "moesi",
            ["M I I", "O S I", "O S S", "I M I", "S O I", "S O S"],
            ["memory", "core 0", "core 0", "-", "core 1", "core 1"],
            [6, 2, 1, 0],
        ),
    ],
)
def test_dirty_sharing_costs_the_memory_accesses_of_each_protocol(
    protocol: str, states: list[str], suppliers: list[str], totals: list[int]
) -> None:
    """By hand. MSI: memory supplies every block in S. MESI: a cache with S supplies. MESIF: the newest reader (F)
    supplies. MOESI: the owner supplies and memory is never updated."""
    accesses = exercise("dirty-sharing", "--protocol", protocol)
    assert [access.states for access in accesses] == states
    assert [access.data_from for access in accesses] == suppliers
    assert counts(accesses) == totals


@pytest.mark.parametrize(
    ("ways", "results", "totals"),
    [
        # Sets 0 to 3 by the block number modulo 4: blocks 0 and 4 evict each other, and so do blocks 1 and 5.
        (1, ["-", "h", "-", "h", "h", "0", "4", "0", "-", "-", "h", "1", "5", "h", "h"], [6, 9, 5]),
        # Even blocks share a set of two ways, and so do odd blocks.
        (2, ["-", "h", "-", "h", "h", "2", "h", "h", "-", "-", "h", "3", "h", "5", "0"], [7, 8, 4]),
        # All blocks share one set of four ways.
        (4, ["-", "h", "-", "h", "h", "-", "h", "h", "-", "2", "h", "0", "h", "h", "4"], [8, 7, 3]),
    ],
)
def test_single_cache_has_hits_misses_and_evictions_derived_by_hand(
    ways: int, results: list[str], totals: list[int]
) -> None:
    """By hand from LRU replacement in four blocks; h: hit, -: miss without an eviction, N: miss that evicts block N."""
    words = {"h": "hit", "-": "miss"}
    accesses = exercise("one-cache", "--set", f"l2.ways={ways}")
    assert [access.block for access in accesses] == [0, 0, 2, 2, 0, 4, 0, 4, 1, 3, 1, 5, 1, 3, 2]
    assert [access.found for access in accesses] == [words.get(word, f"miss, evicts {word}") for word in results]
    assert lookups(accesses) == totals


# Addresses are four times those of the exercise. The first six accesses produce its initial state.
SNOOPING = """
# machine: classroom
# protocol: msi
# set: line_bytes=32 l1i.size=128 l1d.size=128 l2.size=128 l2.ways=1
# set: latency.l2_hit=0 latency.memory=100 latency.cache=40 latency.upgrade=15
0 load 0x420
3 load 0x420
0 store 0x440
1 store 0x4a0
1 load 0x460
3 load 0x480
"""
SEQUENCES = {
    "a": ("0 load 0x480\n0 load 0x4a0\n0 load 0x4c0\n", [100, 40, 100], 2, 260),
    "b": ("0 load 0x400\n0 store 0x420\n0 store 0x4c0\n", [100, 15, 100], 1, 225),
    "c": ("1 load 0x480\n1 load 0x4a0\n1 load 0x4c0\n", [100, 0, 100], 0, 200),
    "d": ("1 load 0x400\n1 store 0x420\n1 store 0x4c0\n", [100, 100, 100], 1, 310),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_snooping_sequences_differ_by_ten_cycles_per_writeback(name: str, tmp_path: Path) -> None:
    """The last number is the textbook's answer; the model does not stall for the writebacks. Other values: by hand."""
    text, stalls, writebacks, textbook = SEQUENCES[name]
    trace = tmp_path / f"{name}.trace"
    trace.write_text(SNOOPING + text)
    accesses = play(str(trace))[1][-3:]
    assert [access.stall for access in accesses] == stalls
    assert sum(access.writebacks for access in accesses) == writebacks
    assert sum(stalls) + 10 * writebacks == textbook


Table = list[list[str]]


@dataclass(frozen=True)
class Shown:
    """A table of the page, with the commands before it."""

    section: str
    commands: list[tuple[str, ...]]
    table: Table


def shown() -> Iterator[Shown]:
    """The tables of the page that follow commands, in order."""
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        heading = section.splitlines()[0]
        parts = re.findall(r"^```\n(.*?)^```\n|((?:^\|[^\n]*\n)+)", section, re.MULTILINE | re.DOTALL)
        commands: list[tuple[str, ...]] = []
        for block, rows in parts:
            if block:
                assert not commands, f"{heading}: a block of commands without a table"
                commands = [tuple(line.split()) for line in block.splitlines()]
            elif commands:
                yield Shown(heading, commands, cells(rows))
                commands = []
        assert not commands, f"{heading}: a block of commands without a table"


def cells(rows: str) -> Table:
    """The cells of a Markdown table, without the row of dashes."""
    lines = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines()]
    return [lines[0], *lines[2:]]


def expected_table(header: list[str], commands: list[tuple[str, ...]]) -> Table:
    """The body of a table of the page, from the output of the commands."""
    for command in commands:
        assert command[:3] == ("s80lab", "trace", "step")
    played = [(Path(command[3]).stem, *play(*command[3:])) for command in commands]
    if header[1] == "protocol":
        return [[name, protocol, *map(str, costs(accesses))] for name, protocol, accesses in played]
    if header[0] == "protocol":
        return [[protocol, *map(str, counts(accesses))] for _, protocol, accesses in played]
    if header[1] == "block":
        rows = [
            [step[0].op, str(step[0].block), *(access.found for access in step)]
            for step in zip(*(accesses for *_, accesses in played), strict=True)
        ]
        totals = [", ".join(map(str, lookups(accesses))) for *_, accesses in played]
        return [*rows, ["hits, misses, evictions", "", *totals]]
    ((_, _, accesses),) = played
    return [access.cells for access in accesses]


@pytest.mark.parametrize("part", [pytest.param(part, id=f"{n}-{part.section}") for n, part in enumerate(shown())])
def test_table_of_the_page_is_the_output_of_its_commands(part: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(paths.ROOT)
    header, *body = part.table
    assert body == expected_table(header, part.commands)


def test_columns_of_one_cache_name_the_ways_of_their_commands() -> None:
    (part,) = (part for part in shown() if part.section == "One cache")
    ways = [command[-1].removeprefix("l2.ways=") for command in part.commands]
    assert [title.split()[0] for title in part.table[0][2:]] == ways


def test_page_shows_every_exercise() -> None:
    used = {command[3] for part in shown() for command in part.commands}
    assert used == {str(file.relative_to(paths.ROOT)) for file in EXERCISES.iterdir()}


def test_page_shows_the_snooping_sequences() -> None:
    last = PAGE.read_text(encoding="utf-8").split("\n## ")[-1]
    (rows,) = re.findall(r"((?:^\|.*\n)+)", last, re.MULTILINE)
    expected = [
        [name, str(textbook), str(sum(stalls)), str(writebacks), str(sum(stalls) + 10 * writebacks)]
        for name, (_, stalls, writebacks, textbook) in SEQUENCES.items()
    ]
    assert cells(rows)[1:] == expected


def test_page_names_tests_that_exist() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    assert len(named) == 8
    assert [name for name in named if not callable(globals().get(name))] == []

# SPDX-License-Identifier: GPL-2.0-or-later
"""The teaching traces, access by access: the state of the line accessed in every core, and what is said about it."""

from __future__ import annotations

import io
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from s80lab.base import paths
from s80lab.report import step_page
from s80lab.trace import source, step_table
from s80lab.trace import step as trace_step
from s80lab.trace.source import Wanted
from s80lab.trace.step import Lesson

TRACES = paths.ROOT / "docs" / "traces"


def lesson(name: str, protocol: str | None = None) -> Lesson:
    return trace_step.lesson(source.load(TRACES / f"{name}.trace", Wanted(protocol=protocol)), name)


def states(told: Lesson) -> list[str]:
    """After each access, the line's state in each core of the trace; a star where the data came from."""
    rows = []
    for step in told.steps:
        spots = [step.copies.get(core) for core in told.cores]
        words = [spot.state if spot else told.invalid for spot in spots]
        rows.append(" ".join(w + ("*" if c == step.supplier else "") for c, w in zip(told.cores, words, strict=True)))
    return rows


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("false-sharing", ["M I", "I* M", "M I*", "I* M", "M I*", "I M", "M I", "I M", "M I", "I M"]),
        ("producer-consumer", ["M I", "M I", "O* S", "O* S", "M I", "M I", "O* S", "O* S"]),
        (
            "migratory",
            ["E I I I", "MM I I I", "I* D I I", "I MM I I", "I I* D I", "I I MM I", "I I I* D", "S I I O*"],
        ),
        ("exclusive-saves-upgrade", ["E I I", "M I I", "I E I", "I M I", "E I I", "S* I S", "M I I"]),
        ("owner-supplies", ["M I I I", "O* S I I", "O* S S I", "O* S S S", "E I I I", "E I I I", "I M I I"]),
        ("shared-eviction", ["E I", "S* S", "E I", "E I", "I M"]),
        ("exclusive-eviction", ["E I", "E I", "E I", "M I", "E I", "E I", "I E"]),
        (
            "forgotten-sharers",
            ["E I I", "OC* S I", "E I I", "E I I", "E I I", "I E I", "I E I", "I E I", "I I S", "I I MM"],
        ),
        ("code-and-data", ["E I", "M I", "M I", "O* S"]),
    ],
)
def test_states_after_each_access(name: str, expected: list[str]) -> None:
    assert states(lesson(name)) == expected


def test_every_teaching_trace_is_tested_above() -> None:
    tested = next(m for m in test_states_after_each_access.pytestmark if m.name == "parametrize").args[1]  # type: ignore[attr-defined]
    assert {name for name, _ in tested} == {path.stem for path in TRACES.glob("*.trace")}


def test_reasons_name_the_cells_of_the_table() -> None:
    told = lesson("migratory")
    assert told.steps[1].reasons == ["L1D hit in E: silent E-to-MM upgrade, no bus request (own.store.E)"]
    assert told.steps[2].reasons == [
        "miss in L1 and L2: read request (own.load.I)",
        "core 0 snoops the read request: supplies the block, MM → I (remote.read.MM)",
        "fill in D, data from core 0: the supplier hands the block over",
    ]


def test_memorys_forgotten_sharers_are_explained() -> None:
    assert (
        "fill in S, data from memory: no cache keeps a copy, but the directory assumes sharers"
        in lesson("forgotten-sharers").steps[8].reasons[1]
    )


def test_evictions_say_what_memory_gets() -> None:
    told = lesson("exclusive-eviction")
    assert told.steps[2].reasons[0] == "L2 eviction: A in E, without writeback to memory (own.evict.E)"
    assert any("in M, with writeback to memory (own.evict.M)" in reason for reason in told.steps[5].reasons)


def test_another_protocol_tells_another_story() -> None:
    assert states(lesson("producer-consumer", "msi"))[2] == "S* S"


@pytest.mark.parametrize("path", sorted(TRACES.glob("*.trace")), ids=lambda path: path.stem)
def test_page_is_whole_and_shows_every_cache_at_every_step(path: Path) -> None:
    told = trace_step.lesson(source.load(path, Wanted()), "x")
    page = step_page.page(told)
    seen = _Page()
    seen.feed(page)
    assert seen.open == []
    assert seen.counts["li.step"] == len(told.steps)
    # Each step's table has one empty cell, in the corner.
    assert seen.counts["td"] == len(told.steps) * (len(told.lines) * (len(told.cores) + 1) + 1)
    assert seen.counts["supplier"] == sum(step.supplier is not None for step in told.steps)
    assert seen.counts["memory"] == sum(step.from_memory for step in told.steps)
    assert "http" not in page and "<script" not in page


def test_table_on_the_terminal_has_a_row_an_access() -> None:
    told = lesson("false-sharing")
    console = Console(width=140, record=True, file=io.StringIO())
    step_table.show(told, console)
    rows = [line for line in console.export_text().splitlines() if " stores to " in line]
    assert [row.split("│")[1].strip() for row in rows] == [str(n) for n in range(1, 11)]


class _Page(HTMLParser):
    """Counts what the page shows, and knows which elements are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.counts = {"li.step": 0, "td": 0, "supplier": 0, "memory": 0}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        css = (dict(attrs).get("class") or "").split()
        self.counts["td"] += tag == "td"
        self.counts["li.step"] += tag == "li" and "step" in css
        self.counts["supplier"] += tag == "td" and "supplier" in css
        self.counts["memory"] += tag == "span" and "memory" in css
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

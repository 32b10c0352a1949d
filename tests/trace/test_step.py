# SPDX-License-Identifier: GPL-2.0-or-later
"""The teaching traces, access by access: the state of the line accessed in every core, and what is said about it. The
list for narrow terminals, and the JSON of the steps."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.trace.routes import random_trace, run

from s80lab.base import paths
from s80lab.report import step_page
from s80lab.trace import source, step, step_table, tool
from s80lab.trace import step as trace_step
from s80lab.trace.source import Wanted
from s80lab.trace.step import Lesson
from s80lab.trace.step_table import show_list

TRACES = paths.ROOT / "docs" / "traces"


def lesson(name: str, protocol: str | None = None) -> Lesson:
    return trace_step.lesson(source.load(TRACES / f"{name}.trace", Wanted(protocol=protocol)), name)


def states(told: Lesson) -> list[str]:
    """After each access, the line's state in each core of the trace; a star where the data came from."""
    rows = []
    for one in told.steps:
        spots = [one.copies.get(core) for core in told.cores]
        words = [spot.state if spot else told.invalid for spot in spots]
        rows.append(" ".join(w + ("*" if c == one.supplier else "") for c, w in zip(told.cores, words, strict=True)))
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
        ("recall", ["M I I I", "I E I I", "M I I I", "I I E I", "E I I I", "S* I I S", "I I I M"]),
        (
            "group-cache",  # the last column is the first group cache
            ["M I I I", "E I I I", "E I I I", "I M I I", "S* S I I", "S* S I I", "I I S O*", "I M I I"],
        ),
    ],
)
def test_states_after_each_access(name: str, expected: list[str]) -> None:
    assert states(lesson(name)) == expected


def test_teaching_traces_are_all_tested() -> None:
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


def test_eviction_reasons_name_the_writeback_to_memory() -> None:
    told = lesson("exclusive-eviction")
    assert told.steps[2].reasons[0] == "L2 eviction: A in E, without writeback to memory (own.evict.E)"
    assert any("in M, with writeback to memory (own.evict.M)" in reason for reason in told.steps[5].reasons)


def test_teaching_trace_under_msi_has_different_states() -> None:
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


PAGE = paths.ROOT / "docs" / "reference" / "interfaces" / "steps.md"


def told(trace: Path, *options: str) -> dict[str, Any]:
    """What `trace step --json` prints."""
    code, said = run("step", str(trace), "--json", *options)
    assert code == 0, said
    record: dict[str, Any] = json.loads(said)
    return record


def grown(folder: Path, accesses: int) -> Path:
    """Accesses to as many lines, in an L2 of 4 MiB."""
    trace = folder / f"{accesses}.trace"
    lines = (f"{number % 4} {('load', 'store')[number % 3 == 0]} {number * 64:#x}\n" for number in range(accesses))
    trace.write_text("# machine: classroom\n# set: l2.size=4MiB l2.ways=16\n" + "".join(lines))
    return trace


def test_size_and_steps_grow_in_proportion_to_the_accesses(tmp_path: Path) -> None:
    sizes = []
    for accesses in (500, 2000):
        said = run("step", str(grown(tmp_path, accesses)), "--json", "--count", str(accesses))[1]
        sizes.append(len(said))
        steps = json.loads(said)["steps"]
        assert max(len(one["changes"]) + len(one["copies"]) for one in steps) <= 8
    assert sizes[1] < 4.4 * sizes[0]
    assert sizes[1] < 2000 * 2000


@pytest.mark.parametrize("seed", range(6))
def test_changes_add_up_to_the_complete_state(seed: int, tmp_path: Path) -> None:
    trace = tmp_path / "random.trace"
    trace.write_text(random_trace(seed))
    complete = told(trace, "--complete")["steps"]
    caches: dict[tuple[int, int], Any] = {}
    memory: dict[int, int] = {}
    for one, whole in zip(told(trace)["steps"], complete, strict=True):
        assert "caches" not in one and "memory" not in one
        before = {(was["core"], was["line"]): was["state"] for was in one["was"]}
        assert {place: caches[place]["state"] if place in caches else "I" for place in before} == before
        for change in one["changes"]:
            place = change["core"], change["line"]
            caches.pop(place, None)
            if change["where"]:
                caches[place] = change
        memory |= {item["line"]: item["value"] for item in one["written"]}
        assert {(item["core"], item["line"]): item for item in whole["caches"]} == caches
        assert {item["line"]: item["value"] for item in whole["memory"]} == memory
        assert one["in_memory"] == memory.get(one["line"], 0)
        mine = {core: spot for (core, line), spot in caches.items() if line == one["line"]}
        copies = [{key: value for key, value in spot.items() if key != "line"} for _, spot in sorted(mine.items())]
        assert one["copies"] == copies


def test_page_names_every_key(tmp_path: Path) -> None:
    named = set(re.findall(r"`(\w+)`", PAGE.read_text(encoding="utf-8")))
    record = told(grown(tmp_path, 5), "--complete")
    keys = {*record, *record["steps"][0]}
    loaded = source.load(grown(tmp_path, 5), Wanted())
    assert keys | set(next(tool.steps(loaded.order, loaded.setup))) <= named


def listed(trace: Path, width: int) -> list[str]:
    played = step.lesson(source.load(trace, source.Wanted()), trace.stem)
    console = Console(width=width, file=io.StringIO(), record=True, highlight=False)
    show_list(played, console)
    return console.export_text().splitlines()


@pytest.mark.parametrize("width", [60, 200])
def test_step_shows_markup_and_control_characters_of_a_trace_as_text(tmp_path: Path, width: int) -> None:
    trace = tmp_path / "markup.trace"
    trace.write_text(
        "# Title [red] \x1b]0;window\x07\n# machine: classroom\n0 load 0x10 # read a[i] and b[red]\n"
        "0 load 0x10 # a [/] b \x1b[2J\n"
    )
    played = step.lesson(source.load(trace, source.Wanted()), trace.stem)
    for show in (show_list, step_table.show):
        console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system=None, highlight=False)
        show(played, console)
        assert isinstance(console.file, io.StringIO)
        text = console.file.getvalue()
        assert "\x1b]" not in text and "\x1b[2J" not in text and "\x07" not in text
        if width == 200 or show is show_list:
            assert all(part in text for part in (r"[red] \x1b]0;window\x07", "a[i] and b[red]", r"a [/] b \x1b[2J"))


def test_step_list_says_state_changes_supplier_and_stall(tmp_path: Path) -> None:
    trace = tmp_path / "two.trace"
    trace.write_text("# Two cores\n# machine: classroom\n# protocol: moesi\n0 store 0x100  # mine\n1 load 0x100\n")
    lines = listed(trace, 80)
    assert lines[:2] == ["Two cores", "Machine classroom, protocol moesi. A = line 0x100"]
    assert lines[2] == "M 2: state M, value 2. Memory holds 0 at first; the n-th store writes n."
    assert lines[3] == " 1  core 0 stores to A  I → M 1, memory supplies, 100 cycles"
    assert "    # mine" in lines
    assert " 2  core 1 loads A      I → S 1, core 0 M → O 1, core 0 supplies, 50 cycles" in lines


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("trace", sorted(paths.LESSONS.glob("*.trace")), ids=lambda trace: trace.stem)
def test_step_list_fits_every_lesson_into_the_width(trace: Path, width: int) -> None:
    lines = listed(trace, width)
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)

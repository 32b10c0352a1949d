# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces under refused or unchecked tables: the warning, the values, and the accesses that violate an invariant."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from tests.protocol.tables import NAMES, edited

from s80lab.base import paths
from s80lab.protocol.proof import objection, prove
from s80lab.protocol.table import find_protocol, load_protocol
from s80lab.report import step_page
from s80lab.trace import source, step, step_table
from s80lab.trace.source import Wanted
from s80lab.trace.step import Lesson
from s80lab.trace.step_table import show_list

pytestmark = pytest.mark.usefixtures("proofs")

LOST = "memory or an owner holds the last write"
STALE = "data value: a read returns the last write"


@pytest.fixture
def refused(tmp_path: Path) -> Path:
    """MSI whose cache in M supplies a reader, but does not update memory."""
    return edited(tmp_path, "msi", "remote.read.M", '{ next = "S", supply = true }')


def played(folder: Path, table: Path | str, *accesses: str, head: str = "") -> Lesson:
    trace = folder / "some.trace"
    trace.write_text(
        "\n".join(["# Title", "# machine: classroom", "# set: l2.size=128 l2.ways=1", head, *accesses]) + "\n"
    )
    return step.lesson(source.load(trace, Wanted(protocol=str(table))), "some")


def printed(lesson: Lesson, width: int) -> str:
    console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system="standard", highlight=False)
    (show_list if width < 120 else step_table.show)(lesson, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_refused_table_is_played_with_a_warning_first(tmp_path: Path, refused: Path) -> None:
    lesson = played(tmp_path, refused, "0 store 0x100", "1 load 0x100")
    assert lesson.warning == (
        f"protocol msi is refused: it violates the invariant `{LOST}`; `s80lab protocol check {refused}` shows a "
        "counterexample"
    )
    assert len(lesson.steps) == 2
    for width in (80, 140):
        assert printed(lesson, width).startswith(f"\x1b[1;31m{lesson.warning}\x1b[0m\n")
    page = step_page.page(lesson)
    assert 0 < page.index('<p class="warning">protocol msi is refused: ') < page.index("<h1>")


def test_violation_is_red_at_its_access_only(tmp_path: Path, refused: Path) -> None:
    lesson = played(tmp_path, refused, "0 store 0x100", "1 load 0x100", "1 load 0x100")
    lost = f"A violates the invariant `{LOST}`: the last value stored is 1, but memory holds 0 and no owner holds 1"
    assert [one.violations for one in lesson.steps] == [[], [lost], []]
    for width in (80, 140):
        assert "\x1b[1;31m" in printed(lesson, width).partition("A violates")[0].splitlines()[-1]
    assert step_page.page(lesson).count('<p class="violation">') == 1


def test_load_of_stale_value_is_a_violation_each_time(tmp_path: Path, refused: Path) -> None:
    evictions = ("0 load 0x180", "1 load 0x180")
    lesson = played(tmp_path, refused, "0 store 0x100", "1 load 0x100", *evictions, "2 load 0x100", "2 load 0x100")
    stale = f"A violates the invariant `{STALE}`: core 2 (S) reads 0, but the last value stored is 1"
    assert [one.violations for one in lesson.steps[-2:]] == [[stale], [stale]]


def test_impossible_cell_ends_the_lesson_with_its_violation(tmp_path: Path) -> None:
    table = edited(tmp_path, "mesi", "remote.read.E", '{ impossible = "no block is read twice" }')
    lesson = played(
        tmp_path, table, "0 load 0x100", "1 load 0x100  # here", "1 load 0x140", head=f"# protocol: {table}"
    )
    assert [one.access for one in lesson.steps] == ["core 0 loads A", "core 1 loads A"]
    assert lesson.steps[1].violations == [
        "A violates the invariant `an impossible cell is never reached`: core 0 snoops the read request in E (cell "
        "remote.read.E): the table marks this cell as impossible: no block is read twice"
    ]
    assert (lesson.steps[1].comment, lesson.steps[1].changes) == ("here", {})


def test_access_that_the_l1_absorbs_sends_no_request_whatever_its_cell_says(tmp_path: Path) -> None:
    table = edited(tmp_path, "msi", "own.store.M", '{ bus = "upgrade", next = "M" }')
    second = played(tmp_path, table, "0 store 0x100", "0 store 0x100").steps[1]
    assert second.reasons == ["L1D hit in M: no bus request (own.store.M)"]
    assert "an access that the L1 absorbs has no effect" in second.violations[0]


def test_values_follow_supply_writeback_and_eviction(tmp_path: Path) -> None:
    accesses = ("0 store 0x100", "0 store 0x100", "1 load 0x100", "0 load 0x180", "1 store 0x100", "1 load 0x180")
    lesson = played(tmp_path, "moesi", *accesses)
    values = []
    for _, now in lesson.contents():
        copies = [str(now.caches[core, 4]) if (core, 4) in now.caches else "I" for core in (0, 1)]
        values.append(" ".join([*copies, str(now.memory.get(4, 0))]))
    assert values == ["M 1 I 0", "M 2 I 0", "O 2 S 2 0", "I S 2 2", "I M 3 2", "I I 3"]
    assert not any(one.violations for one in lesson.steps)


@pytest.mark.parametrize("protocol", NAMES)
@pytest.mark.parametrize("trace", sorted(paths.LESSONS.rglob("*.trace")), ids=lambda trace: trace.stem)
def test_shipped_trace_under_shipped_protocol_violates_nothing(trace: Path, protocol: str) -> None:
    """A protocol that needs a last-level cache, or has no use for one, plays on the classroom that fits."""
    home = load_protocol(paths.PROTOCOLS / f"{protocol}.toml").home
    llc = home is not None and home.has_llc
    machine = ("classroom-llc" if llc else "classroom") if llc or trace.stem == "recall" else None
    lesson = step.lesson(source.load(trace, Wanted(protocol=protocol, machine=machine)), "x")
    assert lesson.warning == ""
    assert not any(one.violations for one in lesson.steps)


def test_comments_of_another_protocol_are_hidden(tmp_path: Path) -> None:
    access = "0 load 0x100  # fill in E"
    shown = played(tmp_path, "moesi", access, head="# protocol: moesi")
    assert (shown.steps[0].comment, shown.hidden_comments) == ("fill in E", "")
    hidden = played(tmp_path, "msi", access, head="# protocol: moesi")
    assert (hidden.steps[0].comment, hidden.hidden_comments) == ("", "moesi")
    for text in (printed(hidden, 80), printed(hidden, 140), step_page.page(hidden)):
        assert "The comments are about moesi and are hidden." in text
        assert "fill in E" not in text
    assert played(tmp_path, "msi", access).steps[0].comment == "fill in E"  # the trace names no protocol


def test_comments_stay_with_their_accesses_in_a_part_of_a_trace(tmp_path: Path) -> None:
    trace = tmp_path / "some.trace"
    trace.write_text("# machine: classroom\n0 load 0x100  # one\n0 load 0x140  # two\n0 load 0x180  # three\n")
    lesson = step.lesson(source.load(trace, Wanted(first=1, count=1)), "some")
    assert [one.comment for one in lesson.steps] == ["two"]


def test_objection_without_checker_says_not_checked(
    tmp_path: Path, refused: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("S80LAB_PROOFS", str(tmp_path / "proofs"))
    assert objection(find_protocol("msi")) is None
    assert objection(refused) == (
        "protocol msi is not checked: rumur, which proves protocols, is not on PATH: install the Debian package rumur "
        "(`make setup` does)"
    )


def test_stored_refusal_needs_no_checker(tmp_path: Path, refused: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = prove(refused).counterexample
    monkeypatch.setenv("PATH", str(tmp_path))
    again = prove(refused)
    assert again.proof is None
    assert again.counterexample == found


def test_objection_to_proven_table_of_a_user_is_none(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(find_protocol("msi").read_text().replace('name = "msi"', 'name = "mine"'))
    assert objection(mine) is None

# SPDX-License-Identifier: GPL-2.0-or-later
"""Counterexamples as traces: the model plays each, and the last access violates the invariant that the proof names."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.protocol.tables import edited
from tests.protocol.test_home import MISTAKES as HOME_MISTAKES
from tests.protocol.test_laws import MISTAKES
from typer.testing import CliRunner

from s80lab.base.errors import UserError
from s80lab.commands.line.app import app
from s80lab.protocol.counterexample import Counterexample, Line
from s80lab.protocol.laws import NOT_LOST, Fault
from s80lab.protocol.proof import prove
from s80lab.protocol.table import find_protocol, load_protocol
from s80lab.trace import source, step
from s80lab.trace.counterexample import counterexample_trace
from s80lab.trace.source import Wanted
from s80lab.trace.step import Lesson

pytestmark = pytest.mark.usefixtures("proofs")


def counterexample(table: Path, trace: Path, caches: int = 3) -> tuple[str, Lesson]:
    """The invariant that the table violates, and the trace of its counterexample after it was written and played."""
    verdict = prove(table, caches)
    assert verdict.counterexample is not None
    trace.write_text(counterexample_trace(verdict.counterexample, verdict.protocol, str(table)))
    return verdict.counterexample.fault.law, step.lesson(source.load(trace, Wanted()), trace.stem)


@pytest.mark.parametrize(("base", "place", "instead"), [mistake[:3] for mistake in (*MISTAKES, *HOME_MISTAKES)])
def test_counterexample_trace_of_mistake_violates_invariant_at_last_access(
    tmp_path: Path, base: str, place: str, instead: str
) -> None:
    law, played = counterexample(edited(tmp_path, base, place, instead), tmp_path / "broken.trace")
    *before, last = [one.violations for one in played.steps]
    assert not any(before)
    assert f" violates the invariant `{law}`: " in last[0]


def test_counterexample_trace_evicts_by_loads_of_other_lines(tmp_path: Path) -> None:
    table = edited(tmp_path, "moesi", "own.evict.O", '{ next = "I" }')
    _, played = counterexample(table, tmp_path / "broken.trace")
    assert (tmp_path / "broken.trace").read_text().splitlines() == [
        "# Counterexample to moesi: memory or an owner holds the last write",
        "# Violation: the last value stored is 1, but memory holds 0 and no owner holds 1",
        "# machine: classroom",
        f"# protocol: {table}",
        "# set: l2.size=128 l2.ways=1",
        "0 store 0x100",
        "1 load 0x100",
        "0 load 0x180   # core 0 evicts the block",
    ]
    assert played.steps[-1].violations == [
        "A violates the invariant `memory or an owner holds the last write`: the last value stored is 1, but memory "
        "holds 0 and no owner holds 1"
    ]


def test_counterexample_trace_of_exclusive_l2_evicts_by_two_loads(tmp_path: Path) -> None:
    law, played = counterexample(
        edited(tmp_path, "hammer", "own.evict.MM", '{ next = "I" }'), tmp_path / "broken.trace"
    )
    assert [one.access for one in played.steps] == ["core 0 stores to A", "core 0 loads B", "core 0 loads C"]
    assert [law in "".join(one.violations) for one in played.steps] == [False, False, True]


def test_counterexample_trace_of_fetched_block_evicts_by_fetches(tmp_path: Path) -> None:
    table = edited(tmp_path, "hammer", "own.evict.E", '{ impossible = "clean blocks stay" }')
    text = table.read_text().replace(
        'I = { bus = "read", alone = "E", shared = "S" }', 'I = { bus = "rfo", next = "MM" }', 1
    )
    table.write_text(text)  # only a fetch fills in E
    _, played = counterexample(table, tmp_path / "broken.trace")
    assert [one.op for one in played.steps] == ["ifetch", "ifetch", "ifetch"]
    assert (
        "(cell own.evict.E): the table marks this cell as impossible: clean blocks stay"
        in played.steps[-1].violations[0]
    )


def test_counterexample_trace_displaces_by_the_accesses_that_filled_the_last_level_cache(tmp_path: Path) -> None:
    """CHI's cache took the block when a core gave it up, so a spare core gives the other line up."""
    table = edited(tmp_path, "chi-slc", "home.displace.UD", '{ next = "I" }')
    _, played = counterexample(table, tmp_path / "broken.trace")
    assert (tmp_path / "broken.trace").read_text().splitlines()[2:] == [
        "# machine: classroom-llc",
        f"# protocol: {table}",
        "# set: l2.size=128 l2.ways=1 llc.size=16384 llc.ways=1",
        "0 store 0x100",
        "0 load 0x180   # core 0 evicts the block and writes it back",
        "3 store 0x4100",
        "3 load 0x200   # the last-level cache needs the way (UD)",
    ]
    assert "the last-level cache needs the way of A: A at home UD → I (home.displace.UD)" in played.steps[-1].reasons


def test_counterexample_trace_recalls_by_a_line_of_the_same_set_of_the_directory(tmp_path: Path) -> None:
    table = edited(tmp_path, "chi-slc", "home.recall.SC", '{ next = "UC" }')
    _, played = counterexample(table, tmp_path / "broken.trace")
    assert (tmp_path / "broken.trace").read_text().splitlines()[4:] == [
        "# set: l2.size=128 l2.ways=1 llc.size=8192 llc.ways=1 directory.entries=256 directory.ways=1",
        "0 store 0x100",
        "1 load 0x100",
        "3 load 0x4100   # the directory needs the entry (SC) and recalls the block",
    ]
    assert "recall: core 1 loses A in O, with writeback (remote.recall.O)" in played.steps[-1].reasons


def test_counterexample_trace_with_recall_and_displacement_of_an_inclusive_cache_is_refused() -> None:
    """No shipped table needs this: a line that enters the directory there also enters the last-level cache."""
    lines = [
        Line(None, None, "", ["I", "I"], "0", "0", "NP"),
        Line(0, "store", "", ["M 1", "I"], "0", "1", "MT 0"),
        Line(None, "recall", "", ["I", "I"], "0", "1", "PD 1"),
        Line(None, "displace", "", ["I", "I"], "0", "1", "NP"),
    ]
    with pytest.raises(UserError, match=r"it needs a displacement and a recall of one block.*leave out --trace"):
        counterexample_trace(Counterexample(Fault(NOT_LOST, ""), lines), load_protocol(find_protocol("mesi-llc")), "")


def test_counterexample_trace_of_six_caches_plays_on_six_cores(tmp_path: Path) -> None:
    table = edited(tmp_path, "moesi", "own.evict.O", '{ next = "I" }')
    _, played = counterexample(table, tmp_path / "broken.trace", caches=6)
    assert "# set: l2.size=128 l2.ways=1 processors.count=6" in (tmp_path / "broken.trace").read_text()
    assert played.steps[-1].violations


def test_counterexample_in_another_folder_names_the_table_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = edited(tmp_path, "moesi", "own.evict.O", '{ next = "I" }')
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["protocol", "check", table.name, "--trace", "out/broken.trace"])
    assert done.exit_code == 1
    assert f"# protocol: ../{table.name}\n" in (tmp_path / "out" / "broken.trace").read_text()
    monkeypatch.chdir("/")
    assert source.load(tmp_path / "out" / "broken.trace", Wanted()).setup.protocol.samefile(table)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces as other projects, courses and textbooks have them, with values that were derived by hand."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.trace.routes import run

from s80lab.base.errors import UserError
from s80lab.capture.design import resolve_design
from s80lab.capture.store import open_capture
from s80lab.protocol.laws import NOT_LOST
from s80lab.protocol.proof import prove
from s80lab.protocol.table import find_protocol
from s80lab.trace import source, step
from s80lab.trace.source import Wanted
from s80lab.trace.step import Lesson, Step

SMALL = "l1i.size=64 l1d.size=64 l1i.ways=1 l1d.ways=1"


def played(folder: Path, *lines: str, protocol: str = "msi", sets: str = "", first: int = 0) -> Lesson:
    trace = folder / "some.trace"
    head = ["# machine: classroom", f"# protocol: {protocol}", *([f"# set: {sets}"] if sets else [])]
    trace.write_text("\n".join([*head, *lines]) + "\n")
    return step.lesson(source.load_from_start(trace, Wanted(first=first)), "some", first)


def addresses(word: str, *lines: int) -> list[str]:
    return [f"0 {word} {line * 64:#x}" for line in lines]


def gone(one: Step) -> list[tuple[int, str]]:
    """The lines that left the core of the access, with their states before."""
    places = [place for place, spot in one.changes.items() if spot is None and place[0] == one.core]
    return [(line, one.was[core, line]) for core, line in places]


def is_miss(one: Step) -> bool:
    return one.from_memory or one.supplier is not None


def transactions(one: Step) -> str:
    """The bus request of an access."""
    words = ("read request", "read for ownership", "upgrade request")
    return next((word for word in words if any(word in reason for reason in one.reasons)), "")


def invalidations(lesson: Lesson) -> int:
    lost = [(core, one.core) for one in lesson.steps for (core, _), spot in one.changes.items() if spot is None]
    return sum(core != by for core, by in lost)


def test_snoop_filter_of_four_cores_counts_invalidations_and_the_writeback(tmp_path: Path) -> None:
    """The unit test of DynamoRIO's snoop filter."""
    accesses = ("0 load", "1 load", "2 store", "3 load", "0 load", "1 store")
    lesson = played(tmp_path, *(f"{one} 0x200" for one in accesses))
    assert sum(map(is_miss, lesson.steps)) == 6
    assert invalidations(lesson) == 5
    assert [one.number for one in lesson.steps if one.written] == [4]


@pytest.mark.parametrize(
    ("used", "victim"),
    [([0, 1, 4, 5], 2), ([6, 5, 4, 3, 2, 1, 0], 7)],  # A B E F, then C; H to A, then H
    ids=["half", "twice"],
)
def test_tree_plru_evicts_the_line_that_its_bits_point_to(tmp_path: Path, used: list[int], victim: int) -> None:
    """gem5's unit tests of the tree PLRU."""
    sets = f"replacement.policy=plru {SMALL} l2.size=512 l2.ways=8"
    lesson = played(tmp_path, *addresses("load", *range(8), *used, 8), sets=sets)
    assert gone(lesson.steps[-1]) == [(victim, "S")]
    assert not any(gone(one) for one in lesson.steps[:-1])


def test_way_that_another_core_emptied_is_filled_first(tmp_path: Path) -> None:
    """Faults of gem5, ChampSim and DynamoRIO: they evicted a valid line beside an empty way."""
    lines = [*addresses("load", 0, 1, 2, 3), "1 store 0x80", *addresses("load", 4, 0, 5, 3)]
    lesson = played(tmp_path, *lines, sets=f"{SMALL} l2.size=256 l2.ways=4")
    assert gone(lesson.steps[5]) == []
    assert gone(lesson.steps[7]) == [(1, "S")]
    assert [is_miss(lesson.steps[at]) for at in (6, 8)] == [False, False]


def test_inclusion_victim_leaves_the_l1_dirty_though_it_hits_there(tmp_path: Path) -> None:
    """A course's question: hits in the L1 do not renew a line in the L2."""
    others = [f"0 load {line * 64:#x}" for at in range(1, 8) for line in (at, 0)]
    sets = "l1i.size=128 l1d.size=128 l1i.ways=2 l1d.ways=2 l2.size=512 l2.ways=8"
    lesson = played(tmp_path, "0 store 0x0", *others, "0 load 0x200", "0 load 0x1c0", "0 load 0x0", sets=sets)
    assert len(lesson.steps) == 18
    assert gone(lesson.steps[15]) == [(0, "M")]
    assert lesson.steps[15].written == {0: 1}
    assert [is_miss(one) for one in lesson.steps[16:]] == [False, True]


def test_lock_by_test_and_test_and_set_takes_thirteen_transactions(tmp_path: Path) -> None:
    """An exercise with three processors under the Illinois protocol."""
    words = "0 store,1 load,2 load,0 store,1 load,2 load,1 store,2 store,1 store,2 load,2 store,0 load,1 load,2 store"
    lesson = played(tmp_path, *(f"{word} 0x100" for word in words.split(",")), protocol="mesi")
    requests = [transactions(one) for one in lesson.steps[1:]]
    assert (requests.count("read request"), len([one for one in requests if one])) == (7, 13)


@pytest.mark.parametrize(("head", "expected"), [(696, (22, 18, 19)), (760, (13, 9, 9))], ids=["shared", "padded"])
def test_queue_whose_padding_misses_by_one_field(tmp_path: Path, head: int, expected: tuple[int, ...]) -> None:
    """aeron's queue: the producer's cached head is in the line of the consumer's head, or not."""
    items = ["0 load 640", "0 store 632", "1 load 632", f"1 store {head}"] * 10
    lesson = played(tmp_path, *items, protocol="mesi")
    upgrades = sum(transactions(one) == "upgrade request" for one in lesson.steps)
    assert (sum(map(is_miss, lesson.steps)), upgrades, invalidations(lesson)) == expected


def test_exclusive_l2_takes_the_victim_before_it_gives_the_line(tmp_path: Path) -> None:
    """gem5's order, as docs/reference/protocols.md says: five lines in one L1 line and four ways miss for ever."""
    sets = f"{SMALL} l2.size=256 l2.ways=4 l2.inclusion=exclusive"
    lesson = played(tmp_path, *addresses("load", *range(5), *range(5), *range(5)), protocol="mesi", sets=sets)
    assert all(map(is_miss, lesson.steps))


def test_exclusive_l2_in_textbook_order_changes_places_with_the_victim(tmp_path: Path) -> None:
    sets = f"{SMALL} l2.size=256 l2.ways=4 l2.inclusion=exclusive-textbook"
    lesson = played(tmp_path, *addresses("load", *range(5), *range(5), *range(5)), protocol="mesi", sets=sets)
    assert [is_miss(step) for step in lesson.steps] == [True] * 5 + [False] * 10


CHI = """name = "chi"
description = "States of CHI"
[states]
UD = { description = "Unique dirty", counts_as = "M", readable = true, writable = true }
UC = { description = "Unique clean", counts_as = "E", readable = true }
SC = { description = "Shared clean", counts_as = "S", readable = true }
I = { description = "Invalid" }
[own]
load = { UD.next = "UD", UC.next = "UC", SC.next = "SC", I = { bus = "read", alone = "UC", shared = "SC" } }
fetch = { UD.next = "UD", UC.next = "UC", SC.next = "SC", I = { bus = "read", alone = "UC", shared = "SC" } }
store = { UD.next = "UD", UC.next = "UD", SC = { bus = "upgrade", next = "UD" }, I = { bus = "rfo", next = "UD" } }
evict = { UD = { next = "I", writeback = true }, UC.next = "I", SC.next = "I", I.impossible = "absent" }
[remote.read]
UD = { next = "I", supply = true, gives = "@GIVEN@" }
UC = { next = "SC", supply = true }
SC = { next = "SC" }
I = { next = "I" }
[remote.rfo]
UD = { next = "I", supply = true }
UC = { next = "I", supply = true }
SC = { next = "I" }
I = { next = "I" }
[remote.upgrade]
UD = { impossible = "the requester holds a copy" }
UC = { impossible = "the requester holds a copy" }
SC = { next = "I" }
I = { next = "I" }
"""


@pytest.mark.usefixtures("proofs")
@pytest.mark.parametrize(("given", "accesses"), [("UC", 2), ("UD", None)])
def test_chi_table_that_loses_a_dirty_line_is_refused(tmp_path: Path, given: str, accesses: int | None) -> None:
    """gem5's CHI handed a dirty line over as clean."""
    table = tmp_path / "chi.toml"
    table.write_text(CHI.replace("@GIVEN@", given))
    verdict = prove(table)
    if accesses is None:
        assert verdict.proof is not None
    else:
        assert verdict.counterexample is not None
        assert (verdict.counterexample.fault.law, len(verdict.counterexample.lines) - 1) == (NOT_LOST, accesses)


@pytest.mark.usefixtures("proofs")
def test_mesi_that_writes_back_before_a_store_miss_is_proven(tmp_path: Path) -> None:
    """A course's protocol: memory supplies the block that it just received."""
    table = tmp_path / "mine.toml"
    text = find_protocol("mesi").read_text().replace('name = "mesi"', 'name = "mine"')
    before, row, after = text.partition("[remote.rfo]\n")
    changed = after.replace('M = { next = "I", supply = true }', 'M = { next = "I", writeback = true }', 1)
    assert changed != after
    table.write_text(before + row + changed)
    assert prove(table).proof is not None


def test_step_of_a_part_says_how_many_accesses_the_trace_has(tmp_path: Path) -> None:
    trace = tmp_path / "many.trace"
    trace.write_text("# machine: classroom\n" + "0 load 0x100\n1 load 0x100\n" * 150)
    assert run("step", str(trace))[1].splitlines()[-1] == "200 of 300 accesses; --count N shows more"
    assert "accesses; --count" not in run("step", str(trace), "--count", "300")[1]
    last = run("step", str(trace), "--first", "250")[1].splitlines()[-1]
    assert last == "50 of 300 accesses, from 250 on"
    told = json.loads(run("step", str(trace), "--json")[1])
    assert (told["first"], told["shown"], len(told["steps"]), told["accesses"]) == (0, 200, 200, 300)
    page = tmp_path / "page.html"
    run("step", str(trace), "--html", str(page))
    assert "200 of 300 accesses" in page.read_text()
    capture = tmp_path / "many.s80c"
    run("import", str(trace), "--format", "text", "--out", str(capture))
    assert run("step", str(capture))[1].splitlines()[-1] == "200 of 300 accesses; --count N shows more"


def test_step_from_a_later_access_has_the_caches_of_the_accesses_before(tmp_path: Path) -> None:
    lesson = played(tmp_path, "0 store 0x100", "1 load 0x100", protocol="moesi", first=1)
    (only,) = lesson.steps
    assert (only.number, only.supplier, only.was[0, 4], only.copies[0].state) == (2, 0, "M", "O")
    ((_, now),) = lesson.contents()
    assert {place: str(spot) for place, spot in now.caches.items()} == {(0, 4): "O 1", (1, 4): "S 1"}


def test_two_threads_of_a_core_are_named_as_processors(tmp_path: Path) -> None:
    trace = tmp_path / "threads.trace"
    trace.write_text("# machine: pe4600-ht\n2 store 0x1000\n3 load 0x1000\n")
    said = run("step", str(trace))[1]
    assert "processor 2 (core 1) stores to A" in said
    assert "processor 3 (core 1) loads A" in said
    told = json.loads(run("step", str(trace), "--json")[1])
    assert [(one["processor"], one["core"]) for one in told["steps"]] == [(2, 1), (3, 1)]


def test_step_list_continues_a_long_line_under_its_changes(tmp_path: Path) -> None:
    trace = tmp_path / "snoop.trace"
    trace.write_text("# machine: classroom\n# protocol: msi\n0 load 0x200\n1 load 0x200\n2 store 0x200\n")
    lines = run("step", str(trace))[1].splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(" 3  core 2 stores to A"))
    assert lines[at].endswith("memory supplies,") and lines[at + 1].strip() == "100 cycles"
    assert lines[at + 1].index("100") == lines[at].index("I → M")


def test_wrong_setting_names_the_line_of_the_trace_or_the_option(tmp_path: Path) -> None:
    trace = tmp_path / "typo.trace"
    trace.write_text("# machine: classroom\n# set: l2.sise=1024\n0 load 0x100\n")
    with pytest.raises(UserError, match=r"typo\.trace, line 2: unknown key `l2\.sise`"):
        source.load(trace, Wanted())
    trace.write_text("# machine: classroom\n# set: l2.ways=1\n0 load 0x100\n")
    for setting, complaint in (
        ("l2.sise=3", r"^--set l2\.sise=3: unknown key `l2\.sise`: did you mean size\?"),
        ("l2.ways=x", r"^--set l2\.ways=x: key `l2\.ways`: `x` is not allowed; write a whole number"),
        ("l2.ways=true", r"^--set l2\.ways=true: key `l2\.ways`: `true` is not allowed; write a number"),
        ("l2.ways=3", r"^configs/machines/classroom\.toml with --set l2\.ways=3.*: l2\.size = "),
    ):
        with pytest.raises(UserError, match=complaint):
            source.load(trace, Wanted(settings=(setting,)))


def test_unknown_names_in_a_header_name_the_line(tmp_path: Path) -> None:
    trace = tmp_path / "x.trace"
    for line in ("# machine: clasroom", "# protocol: mesii"):
        trace.write_text(f"# Title\n{line}\n0 load 0x100\n")
        with pytest.raises(UserError, match=r"x\.trace, line 2: there is no (machine|protocol) `\w+` .*did you mean"):
            source.load(trace, Wanted())


@pytest.mark.parametrize(("name", "form"), [("x.trace", "text"), ("x.din", "din"), ("x.data", "cs4223")])
def test_trace_in_place_of_a_capture_is_refused_with_the_import(tmp_path: Path, name: str, form: str) -> None:
    trace = tmp_path / name
    trace.write_text("0 0x100\n")
    with pytest.raises(
        UserError, match=rf"is a trace, not a capture; import it first: .* --format {form} --out x\.s80c"
    ):
        open_capture(str(trace))


def numbered(folder: Path, *names: str) -> list[str]:
    for name in names:
        (folder / name).write_text(f"0 {sum(map(ord, name)):x}000\n")
    return [str(folder / name) for name in names]


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (("core0.din", "core1.din", "core10.din", "core2.din"), (0, 1, 3, 2)),
        (("t_2.din", "t_1.din"), (1, 0)),
        (("cpu03.din", "cpu01.din"), (3, 1)),
        (("b.din", "a.din"), (0, 1)),
        (("a1b2.din", "a2b1.din"), (0, 1)),
    ],
)
def test_import_of_several_files_orders_them_by_their_number_and_says_so(
    tmp_path: Path, names: tuple[str, ...], order: tuple[int, ...]
) -> None:
    files = numbered(tmp_path, *names)
    code, said = run("import", *files, "--format", "din", "--out", str(tmp_path / "x.s80c"))
    assert code == 0
    expected = sorted(zip(order, files, strict=True))
    assert [line for line in said.splitlines() if line.startswith("processor ")] == [
        f"processor {processor}: {file}" for processor, file in expected
    ]
    lines = source.load(tmp_path / "x.s80c", Wanted()).order
    assert lines["processor"].tolist() == sorted(order)


def test_text_files_of_one_processor_each_are_imported_together(tmp_path: Path) -> None:
    first, second = tmp_path / "core_0.trace", tmp_path / "core_1.trace"
    first.write_text("# machine: classroom\nW 0x0\nR 0x100\n")
    second.write_text("R 0x40\n")
    capture = tmp_path / "x.s80c"
    code, said = run("import", str(second), str(first), "--format", "text", "--out", str(capture))
    assert code == 0 and "machine classroom, protocol moesi" in said, said
    order = source.load(capture, Wanted()).order
    assert order[["processor", "op", "line"]].tolist() == [(0, 2, 0), (1, 1, 1), (0, 1, 4)]
    second.write_text("# machine: s80\nR 0x40\n")
    code, said = run("import", str(first), str(second), "--format", "text", "--out", str(capture))
    assert code != 0 and "name different machines, protocols or settings" in said
    second.write_text("1 R 0x40\n")
    code, said = run("import", str(first), str(second), "--format", "text", "--out", str(capture))
    assert code != 0 and "one file contains the accesses of all processors" in said
    assert "The trace names no processor" in run("step", str(first))[1]


def test_pipe_is_imported(tmp_path: Path) -> None:
    capture = tmp_path / "x.s80c"
    reader, writer = os.pipe()
    os.write(writer, b"1 11000\n0 11000\n")
    os.close(writer)
    code, said = run("import", f"/dev/fd/{reader}", "--format", "din", "--out", str(capture))
    os.close(reader)
    assert code == 0, said
    assert len(source.load(capture, Wanted()).order) == 2


def test_compressed_pipe_of_a_slow_writer_is_imported(tmp_path: Path) -> None:
    pipe, capture = tmp_path / "pipe", tmp_path / "x.s80c"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"exec >{pipe}; printf '0 100\\n1 200\\n' | xz"]):
        code, said = run("import", str(pipe), "--format", "din", "--out", str(capture))
    assert code == 0, said
    assert len(source.load(capture, Wanted()).order) == 2


def test_pipe_without_a_writer_and_device_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s80lab.trace.files.PIPE_WAIT_S", 0.1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for file, complaint in ((pipe, "no program has written into this pipe"), (Path("/dev/zero"), "a device")):
        code, said = run("import", str(file), "--format", "din", "--out", str(tmp_path / "x.s80c"))
        assert code != 0 and complaint in said, said


def test_cycles_between_accesses_are_instructions_without_accesses(tmp_path: Path) -> None:
    """Traces of the course CS4223, whose label 2 is a number of cycles, also of more cycles than one event holds."""
    (tmp_path / "t_0.data").write_text("1 0x77000\n2 0x1\n1 0x66000\n2 0x4\n0 0x77000\n")
    (tmp_path / "t_1.data").write_text("1 0x55000\n2 0x1ffff\n0 0x55000\n2 0x32\n")
    files, capture = [str(tmp_path / f"t_{core}.data") for core in (0, 1)], tmp_path / "c.s80c"
    options = ("--machine", "classroom", "--out", str(capture))
    code, said = run("import", *files, "--format", "cs4223", *options)
    assert code == 0, said
    lesson = step.lesson(source.load_from_start(capture, Wanted()), "c")
    assert [is_miss(one) for one in lesson.steps] == [True, True, True, False, False]
    assert all(one.supplier is None for one in lesson.steps)
    info = json.loads(run("info", str(capture), "--json")[1])
    assert (info["accesses"], info["instructions"]) == (5, 5 + 0x1 + 0x4 + 0x1FFFF)
    said = run("import", *files, "--format", "din", *options)[1]
    assert "--format cs4223" in said


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("3 0x10\n", "line 1: unknown label `3`"),
        ("0 0x10\n1 zz\n", "line 2: the label needs one hexadecimal number 0x"),
        ("0 100\n", "line 1: the label needs one hexadecimal number 0x"),
        ("2 0x1000000001\n", "line 1: the file has more than 68719476736 cycles"),
    ],
)
def test_malformed_cs4223_trace_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "x.data").write_text(content)
    code, said = run("import", str(tmp_path / "x.data"), "--format", "cs4223", "--out", str(tmp_path / "x.s80c"))
    assert code != 0 and complaint in said


def test_replay_with_another_line_size_names_the_import(tmp_path: Path) -> None:
    trace, capture = tmp_path / "x.din", tmp_path / "x.s80c"
    trace.write_text("0 100\n")
    run("import", str(trace), "--format", "din", "--machine", "classroom", "--out", str(capture))
    with pytest.raises(UserError, match=r"; import the trace again with --set line_bytes=32$"):
        resolve_design(open_capture(str(capture)), settings={"line_bytes": 32})

# SPDX-License-Identifier: GPL-2.0-or-later
"""Text traces: what their lines mean, and what is said about wrong ones. Settings in comments (`# set: KEY=VALUE`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.trace import text
from s80lab.trace.order import Op
from s80lab.trace.setup import Header
from s80lab.trace.source import Wanted, load

TRACE = """# SPDX-License-Identifier: GPL-2.0-or-later
# A title
# machine: classroom
# protocol: mesi
# set: l2.ways=1 l2.size=128

0 store 0x100   # first
1 load 200
1 ifetch 0x1c0
# machine: s80
"""


def test_text_trace_gives_header_accesses_and_comments() -> None:
    trace = text.parse(TRACE, "x")
    machine, protocol = trace.header.machine, trace.header.protocol
    assert machine is not None and protocol is not None
    assert (trace.title, machine.name, protocol.name) == ("A title", "classroom", "mesi")
    assert (machine.where, protocol.where) == ("x, line 3", "x, line 4")
    assert trace.header.settings == {"l2.ways": 1, "l2.size": 128}
    assert trace.processors == [0, 1, 1]
    assert trace.ops == [Op.STORE, Op.LOAD, Op.IFETCH]
    assert trace.order(64)["line"].tolist() == [4, 3, 7]
    assert trace.comments == ["first", "", ""]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("0 load", "line 1: `0 load` is not an access of the form PROCESSOR"),
        ("0 move 0x10", "`move` is not an operation: allowed are ifetch, load, store"),
        ("0 fetch 0x10", r"`fetch` is not an operation: did you mean ifetch\? \(allowed are ifetch, load, store\)"),
        ("x load 0x10", "the processor `x`"),
        ("256 load 0x10", "the processor `256`"),
        ("0 load 10h", "the address `10h`"),
        ("0 load -5", "the address `-5`"),
    ],
)
def test_malformed_trace_line_is_refused(line: str, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        text.parse(line, "x")


@pytest.mark.parametrize("line", ["P1 w 0x10", "p1 W 16", "1 STORE 0x10", "1 Store 0x10", "1 w 0x10"])
def test_letters_and_capitals_name_processor_and_operation(line: str) -> None:
    trace = text.parse(line, "x")
    assert (trace.processors, trace.ops, trace.addresses) == ([1], [Op.STORE], [16])


def test_lines_without_processor_are_processor_0() -> None:
    trace = text.parse("R 0x10\nw 0x20\nifetch 0x30", "x")
    assert (trace.processors, trace.ops) == ([0, 0, 0], [Op.LOAD, Op.STORE, Op.IFETCH])
    assert trace.without_processor
    with pytest.raises(UserError, match="x, line 2: some lines of the trace name a processor and others do not"):
        text.parse("R 0x10\n1 w 0x20", "x")


@pytest.mark.parametrize(
    ("comment", "meant"),
    [
        ("Machine: classroom", "machine: NAME"),
        ("MACHINE: classroom", "machine: NAME"),
        ("machine = classroom", "machine: NAME"),
        ("machine:", "machine: NAME"),
        ("machines: classroom", "machine: NAME"),
        ("maschine: classroom", "machine: NAME"),
        ("Protocol: MSI", "protocol: NAME"),
        ("protocoll=msi", "protocol: NAME"),
        ("Set: l2.size=128", "set: KEY=VALUE"),
        ("settings: l2.size=128", "set: KEY=VALUE"),
        ("set l2.size=128", "set: KEY=VALUE"),
    ],
)
def test_comment_that_is_nearly_a_directive_is_refused(comment: str, meant: str) -> None:
    with pytest.raises(UserError, match=f"x, line 1: .*; did you mean `# {meant}`\\? .*begin it with ##"):
        text.parse(f"# {comment}\n0 load 0x10", "x")
    kept = text.parse(f"## {comment}\n0 load 0x10\n# {comment}\n", "x")
    assert (kept.title, kept.header) == (comment, Header())


@pytest.mark.parametrize("title", ["A = the lock", "Producer: core 0", "Test: a lock", "Machine room trace", "Step: 1"])
def test_comment_of_another_word_is_the_title(title: str) -> None:
    assert text.parse(f"# {title}\n0 load 0x10", "x").title == title


@pytest.mark.parametrize(
    ("header", "twice"),
    [
        ("# machine: s80\n# machine: s80", "machine"),
        ("# protocol: msi\n# protocol: mesi", "protocol"),
        ("# set: l2.ways=1\n# set: l2.size=128 l2.ways=2", "l2.ways"),
    ],
)
def test_value_that_the_header_gives_twice_is_refused(header: str, twice: str) -> None:
    with pytest.raises(UserError, match=f"x, line 2: the header of the trace gives `{twice}` a second time"):
        text.parse(f"{header}\n0 load 0x10", "x")


def test_trace_address_beyond_the_limit_is_refused() -> None:
    trace = text.parse("0 load 0x3fffffff80\n0 load 0x3fffffffc0", "x")
    with pytest.raises(UserError, match="access 1 has the address 0x3fffffffc0, beyond"):
        trace.order(64)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("a" + ".a" * 30_000 + "=1", r"x\.trace, line 2: tables and lists are nested more than 32 levels deep"),
        (
            "clock.base_cpi=inf",
            r"x\.trace, line 2: key `clock.base_cpi`: `Infinity` is not allowed; write a finite number",
        ),
        (
            "processors.clock_hz=9223372036854775808",
            r"x\.trace, line 2: key `processors.clock_hz`: the number has more than 64 bits",
        ),
    ],
)
def test_hostile_setting_in_a_trace_is_refused(tmp_path: Path, setting: str, message: str) -> None:
    path = tmp_path / "x.trace"
    path.write_text(f"# machine: s80\n# set: {setting}\n0 load 0x10\n")
    with pytest.raises(UserError, match=message):
        load(path, Wanted())

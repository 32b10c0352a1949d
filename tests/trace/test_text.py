# SPDX-License-Identifier: GPL-2.0-or-later
"""Text traces: what their lines mean, and what is said about wrong ones."""

from __future__ import annotations

import pytest

from s80lab.base.errors import UserError
from s80lab.trace import text
from s80lab.trace.order import Op

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


def test_a_trace_says_what_happens_and_on_what() -> None:
    trace = text.parse(TRACE, "x")
    assert (trace.title, trace.machine, trace.protocol) == ("A title", "classroom", "mesi")
    assert trace.settings == ("l2.ways=1", "l2.size=128")
    assert trace.processors == [0, 1, 1]
    assert trace.ops == [Op.STORE, Op.LOAD, Op.IFETCH]
    assert trace.order(64)["line"].tolist() == [4, 3, 7]
    assert trace.comments == ["first", "", ""]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("0 load", "line 1: `0 load` is not an access of the form CORE"),
        ("0 move 0x10", "`move` is not an operation: allowed are ifetch, load, store"),
        ("0 fetch 0x10", r"`fetch` is not an operation: did you mean ifetch\? \(allowed are ifetch, load, store\)"),
        ("x load 0x10", "the core `x`"),
        ("32 load 0x10", "the core `32`"),
        ("0 load 10h", "the address `10h`"),
        ("0 load -5", "the address `-5`"),
    ],
)
def test_a_wrong_line_is_told(line: str, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        text.parse(line, "x")


def test_an_address_beyond_is_refused() -> None:
    trace = text.parse("0 load 0x3fffffff80\n0 load 0x3fffffffc0", "x")
    with pytest.raises(UserError, match="access 1 has the address 0x3fffffffc0, beyond"):
        trace.order(64)

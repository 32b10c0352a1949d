# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths to the members at an offset, in type information that gcc writes."""

from __future__ import annotations

import pytest
from tests.btf import compiled_types

from s80lab.guest.kernel.types import Types

SOURCE = """
union lock { int whole; short half; };
struct part { long count; union lock lock; char name[8]; };
union many { int a, b, c, d; };
struct outer {
    int flags;
    struct part parts[3];
    unsigned low : 4, high : 4;
    union { long wide; struct { int left; int right; }; };
    union many many;
    union { int e, f, g, h; int only[2]; };
};
struct outer variable;
"""


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> Types:
    return compiled_types(SOURCE, tmp_path_factory.mktemp("types"))


@pytest.mark.parametrize(
    ("offset", "path"),
    [
        (0, "flags"),
        (3, "flags"),
        (4, ""),  # padding
        (8, "parts[0].count"),
        (32 + 7, "parts[1].count"),
        (16, "parts[0].lock.{whole|half}"),
        (18, "parts[0].lock.whole"),
        (20, "parts[0].name"),
        (27, "parts[0].name"),
        (28, "parts[0]"),  # padding of the element
        (80, "{low|high}"),
        (88, "{wide|left}"),
        (92, "{wide|right}"),
        (96, "many"),  # four members share the byte
        (100, ""),  # five members of a nameless part
        (104, "only[1]"),
        (108, ""),
        (4096, ""),
    ],
)
def test_path_at_an_offset(types: Types, offset: int, path: str) -> None:
    assert types.path_in("outer", offset) == path


def test_path_in_a_variable(types: Types) -> None:
    assert types.path_in_variable("variable", 32) == "parts[1].count"
    assert types.path_in_variable("no_such", 32) == ""
    assert types.has("outer") and not types.has("no_such")

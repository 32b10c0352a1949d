# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of keys in a TOML text, and values that are replaced with comments kept."""

from __future__ import annotations

import tomllib

from s80lab.base.toml_lines import key_lines, line_of, set_values, toml_value

TEXT = '''\
name = "a"  # first
[l2]
size = "8MiB"   # of a core
ways.most = 4
text = """
size = "no key"
"""
["a b".c]
x = 1
'''


def test_each_key_and_table_has_its_line() -> None:
    assert key_lines(TEXT) == {
        ("name",): 1,
        ("l2",): 2,
        ("l2", "size"): 3,
        ("l2", "ways"): 4,
        ("l2", "ways", "most"): 4,
        ("l2", "text"): 5,
        ("a b", "c"): 8,
        ("a b", "c", "x"): 9,
    }


def test_key_without_a_line_has_that_of_its_table() -> None:
    lines = key_lines(TEXT)
    assert (line_of(lines, ("l2", "missing")), line_of(lines, ("other",))) == (2, None)


def test_new_values_replace_old_ones_and_comments_stay() -> None:
    text = set_values(TEXT, {"name": "b#", "l2.size": "2MiB", "l2.policy": "lru", "new.key": [1, 2], "top": True})
    lines = text.splitlines()
    assert 'name = "b#"  # first' in lines and 'size = "2MiB"   # of a core' in lines
    content = tomllib.loads(text)
    assert content["l2"]["size"] == "2MiB" and content["l2"]["policy"] == "lru"
    assert (content["new"]["key"], content["top"], content["name"]) == ([1, 2], True, "b#")
    assert content["l2"]["text"] == 'size = "no key"\n'


def test_values_are_written_in_toml() -> None:
    assert [toml_value(one) for one in (450_000_000, 18, 1.5, True, 'a"b', [1, "x"])] == [
        "450_000_000",
        "18",
        "1.5",
        "true",
        '"a\\"b"',
        '[1, "x"]',
    ]

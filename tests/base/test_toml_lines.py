# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of keys in a TOML text, and values that are replaced with comments kept."""

from __future__ import annotations

import tomllib

from s80lab.base.toml_lines import key_lines, line_of, set_values, toml_comment, toml_keys, toml_value

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


def test_key_lines_give_the_line_of_keys_and_tables() -> None:
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


def test_toml_values_are_read_as_written() -> None:
    text = 'a = [inf, -inf, 1e300, 1.5]\nb = {"x y" = {z = [{q = true}]}}\nc = 2026-01-01\nd = 12:00:00\n'
    text += 'e = "\\u2028\\u007f\\n"\n'
    content = tomllib.loads(text)
    assert tomllib.loads("".join(f"{key} = {toml_value(value)}\n" for key, value in content.items())) == content
    assert toml_value(float("nan")) == "nan"
    assert toml_keys(("phases", "x y")) == 'phases."x y"'
    assert toml_comment("a\n\x1b\u202eb") == "a\\n\\x1b\\u202eb"


def test_value_of_several_lines_is_replaced_as_a_whole() -> None:
    text = 'a = [\n  1, # one\n]\nb = """\na = 5\n"""\nc = 1\n'
    assert tomllib.loads(set_values(text, {"a": [2], "b": "x\u2028y"})) == {"a": [2], "b": "x\u2028y", "c": 1}


def test_values_are_written_in_toml() -> None:
    assert [toml_value(one) for one in (450_000_000, 18, 1.5, True, 'a"b', [1, "x"])] == [
        "450_000_000",
        "18",
        "1.5",
        "true",
        '"a\\"b"',
        '[1, "x"]',
    ]

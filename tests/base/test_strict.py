# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages about wrong values in configuration files: in words of s80lab, never of the validation library. Lines of
keys in a TOML text, and values that are replaced with comments kept."""

from __future__ import annotations

import re
import tomllib
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, FiniteFloat, NonNegativeFloat, PositiveInt

from s80lab.base.errors import UserError
from s80lab.base.strict import Size, Strict, parse_settings, parse_toml, validate
from s80lab.base.toml_lines import key_lines, line_of, set_values, toml_comment, toml_keys, toml_value
from s80lab.protocol.table import State


class Inner(Strict):
    """A table inside a table."""

    ways: int = 1


class Values(Strict):
    """One key per kind of value that configuration files have."""

    whole: Annotated[int, Field(ge=1, le=16, multiple_of=2)] = 2
    above: Annotated[float, Field(gt=0, lt=1)] = 0.5
    finite: FiniteFloat = 1.0
    positive: PositiveInt = 1
    not_negative: NonNegativeFloat = 1.0
    choice: Literal["inclusive", "exclusive"] = "inclusive"
    switch: bool = False
    text: Annotated[str, Field(min_length=2, max_length=3, pattern="^[a-z]*$")] = "ab"
    numbers: Annotated[list[int], Field(min_length=1, max_length=2)] = Field(default_factory=list)
    pair: tuple[int, ...] = ()
    weights: dict[str, float] = Field(default_factory=dict)
    inner: Inner = Inner()
    size: Size = 1
    either: str | int = 1


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("whole", 18, "`18` is not allowed; write a number of at most 16"),
        ("whole", 0, "`0` is not allowed; write a number of at least 1"),
        ("whole", 3, "`3` is not allowed; write a multiple of 2"),
        ("whole", "x", "`x` is not allowed; write a whole number"),
        ("whole", 1.5, "`1.5` is not allowed; write a whole number"),
        ("above", 0, "`0` is not allowed; write a number above 0"),
        ("above", 1, "`1` is not allowed; write a number below 1"),
        ("above", "x", "`x` is not allowed; write a number"),
        ("finite", float("inf"), "`Infinity` is not allowed; write a finite number"),
        ("positive", 0, "`0` is not allowed; write a number above 0"),
        ("not_negative", -1, "`-1` is not allowed; write a number of at least 0"),
        ("choice", "inclusiv", "did you mean inclusive? (allowed are exclusive, inclusive)"),
        ("switch", "perhaps", "`perhaps` is not allowed; write true or false"),
        ("text", "a", "`a` is not allowed; write at least 2 characters"),
        ("text", "abcd", "`abcd` is not allowed; write at most 3 characters"),
        ("text", "A1", "`A1` is not allowed; write a text that matches the pattern ^[a-z]*$"),
        ("text", 12, "`12` is not allowed; write a text in quotes"),
        ("numbers", [], "`[]` is not allowed; write at least 1 values"),
        ("numbers", [1, 2, 3], "`[1, 2, 3]` is not allowed; write at most 2 values"),
        ("numbers", 1, "`1` is not allowed; write a list in brackets"),
        ("pair", 1, "`1` is not allowed; write a list in brackets"),
        ("weights", 1, "`1` is not allowed; write a table of keys"),
        ("inner", 1, "`1` is not allowed; write a table of keys"),
        ("size", "1MB", "`1MB` is not a size: write a number of bytes, or a number with KiB, MiB or GiB"),
        ("size", "1MiB..4MiB", "to compare several values, use `s80lab explore CAPTURE --vary KEY=VALUES`"),
        ("either", [1], "`[1]` is not allowed; write "),
    ],
)
def test_wrong_value_is_explained_in_own_words(key: str, value: Any, message: str) -> None:
    with pytest.raises(UserError) as refused:
        validate({key: value}, Values, "values.toml")
    text = str(refused.value)
    assert text.startswith(f"values.toml: key `{key}") and message in text
    assert not any(words in text for words in ("Input should", "Value error", "should have", "valid "))


def test_wrong_letter_of_a_state_lists_the_letters() -> None:
    with pytest.raises(UserError, match="key `counts_as`: `F` is not one of its values; allowed are E, M, O, S"):
        validate({"description": "forward", "readable": True, "counts_as": "F"}, State, "mesif.toml")


DEEP = "a" + ".a" * 10_000
TOO_DEEP = "tables and lists are nested more than 32 levels deep; use fewer levels"


@pytest.mark.parametrize(
    "text",
    [
        f"{DEEP} = 1\n",
        f"[{DEEP}]\nx = 1\n",
        "x" + ' . "\\""' * 5_000 + " = 1\n",
        f'x = """a"""" # \\\n{DEEP} = 1\n',
        f"x = '''a'''' # '\n{DEEP} = 1\n",
        f'x = """a\\"""b"""\n{DEEP} = 1\n',
        "x = " + "{a.b.c = " * 20_000 + "1" + "}" * 20_000 + "\n",
        "x = " + "[" * 20_000 + "]" * 20_000 + "\n",
    ],
    ids=["key", "table", "quoted", "after basic text", "after literal text", "after escape", "inline", "list"],
)
def test_toml_that_is_nested_too_deeply_is_refused_before_it_is_parsed(text: str) -> None:
    with pytest.raises(UserError, match=f"^x.toml: {TOO_DEEP}$"):
        parse_toml(text, "x.toml")


def test_dots_in_texts_and_comments_are_not_levels() -> None:
    dots = "a." * 1000
    assert parse_toml(f"x = \"{dots}\" # {dots}\ny = '{dots}'\nz = '''\n{dots}'''\n", "x.toml")["z"] == dots
    assert parse_toml(".".join("a" * 32) + " = 1\n", "x.toml")


@pytest.mark.parametrize("setting", [f"{DEEP}=1", f"provenance.{DEEP}=1", "l2.size=" + "[" * 20_000])
def test_setting_that_is_nested_too_deeply_is_refused(setting: str) -> None:
    with pytest.raises(UserError, match=rf"^--set {re.escape(setting[:200])}\.\.\.: {TOO_DEEP}$"):
        parse_settings([setting])


def test_setting_of_two_lines_is_refused() -> None:
    with pytest.raises(UserError, match=r"^--set l2\.size=1: write KEY=VALUE"):
        parse_settings(["l2.size=1\nl2.ways=2"])


def test_value_that_is_nested_too_deeply_is_refused() -> None:
    """Python callers pass values that no TOML text contains."""
    value: object = 1
    for _ in range(5_000):
        value = [value]
    with pytest.raises(UserError, match=f"^values.toml: {TOO_DEEP}$"):
        validate({"text": value}, Values, "values.toml")


@pytest.mark.parametrize("text", ["a\0b", "\udcff\udcfe"])
def test_text_that_no_command_line_can_contain_is_refused(text: str) -> None:
    class File(Strict):
        name: str

    with pytest.raises(UserError, match="key `name`: the text contains NUL or a byte that is not UTF-8; remove it"):
        validate({"name": text}, File, "own.toml")


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

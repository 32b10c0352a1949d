# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of a TOML text: where each key stands, and new values in place of old ones, with comments kept.

Python's parser gives no line numbers. This module reads only headers of tables and the beginnings of lines, so it
finds keys of tables, and not keys inside inline tables.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date, time

Keys = tuple[str, ...]
_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]")
_ASSIGNED = re.compile(rf"\s*({_DOTTED})\s*=")
_LONG_TEXT = re.compile("\"\"\"|'''")
_SCALAR = re.compile(rf"""(\s*{_DOTTED}\s*=\s*)("(?:[^"\\]|\\.)*"|\[[^\]]*\]|[^#"\[]*?)(\s*(?:#.*)?)$""")


def key_lines(text: str) -> dict[Keys, int]:
    """The line, counted from 1, of each table and key."""
    found: dict[Keys, int] = {}
    table: Keys = ()
    inside = ""  # the quotes of a text of several lines
    for number, line in enumerate(text.split("\n"), 1):
        if not inside:
            if header := _HEADER.match(line):
                table = _split_key(header[1])
                found.setdefault(table, number)
            elif assigned := _ASSIGNED.match(line):
                parts = (*table, *_split_key(assigned[1]))
                for length in range(len(table) + 1, len(parts) + 1):
                    found.setdefault(parts[:length], number)
        for quotes in _LONG_TEXT.findall(line):
            inside = "" if inside == quotes else inside or quotes
    return found


def line_of(lines: Mapping[Keys, int], keys: Keys) -> int | None:
    """The line of a key, or of the innermost table around it that has a line."""
    return next((lines[keys[:length]] for length in range(len(keys), 0, -1) if keys[:length] in lines), None)


def set_values(text: str, values: Mapping[str, object]) -> str:
    """The text with these values by dotted keys. The comment behind a replaced value stays. A key that the text lacks
    becomes the first line of its table, or a table at the end."""
    for dotted, value in values.items():
        keys = tuple(dotted.split("."))
        lines, places = text.removesuffix("\n").split("\n"), key_lines(text)
        if keys in places:
            at = places[keys] - 1
            lines[at : _end_of_value(lines, at)] = [_replaced(lines[at], toml_value(value))]
        elif keys[:-1] in places:
            lines.insert(places[keys[:-1]], f"{toml_key(keys[-1])} = {toml_value(value)}")
        elif len(keys) == 1:
            lines.insert(_first_table(lines), f"{toml_key(keys[0])} = {toml_value(value)}")
        else:
            lines += ["", f"[{toml_keys(keys[:-1])}]", f"{toml_key(keys[-1])} = {toml_value(value)}"]
        text = "\n".join(lines) + "\n"
    return text


def _end_of_value(lines: list[str], first: int) -> int:
    """The line behind a key and its value, which may take several lines. The line of a table's header stands alone."""
    for end in range(first + 1, len(lines) + 1):
        try:
            tomllib.loads("\n".join(lines[first:end]))
            return end
        except tomllib.TOMLDecodeError:
            continue
    return first + 1


def _replaced(line: str, value: str) -> str:
    """The line with another value. A comment behind the value stays if the value is complete on this line."""
    if _HEADER.match(line):
        return line
    if _SCALAR.match(line):
        return _SCALAR.sub(lambda old: f"{old[1]}{value}{old[3]}", line)
    key = _ASSIGNED.match(line)
    return f"{key[0]} {value}" if key else line


def _first_table(lines: list[str]) -> int:
    """The place before the first table and before the blank line and the comments above it."""
    at = next((number for number, line in enumerate(lines) if _HEADER.match(line)), len(lines))
    while at and (not lines[at - 1].strip() or lines[at - 1].lstrip().startswith("#")):
        at -= 1
    return at


def toml_value(value: object) -> str:
    """Any value of a TOML file in TOML; a table becomes an inline table. Large numbers have underscores:
    `450_000_000`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:_}" if abs(value) >= 100_000 else str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{toml_key(key)} = {toml_value(inner)}' for key, inner in value.items())}}}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(key: str) -> str:
    """A key in TOML, in quotes if it needs them."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml_value(key)


def toml_keys(keys: Iterable[str]) -> str:
    """Nested keys in TOML: `phases."x y"`."""
    return ".".join(map(toml_key, keys))


def toml_comment(text: str) -> str:
    r"""The text for a comment of one line. Characters that end the line or do not print become escapes such as `\n`."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _split_key(dotted: str) -> Keys:
    return tuple(part.strip("\"'") for part in re.findall(_KEY, dotted))

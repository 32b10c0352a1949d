# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of a TOML text: where each key stands, and new values in place of old ones, with comments kept.

Python's parser gives no line numbers. This module reads only headers of tables and the beginnings of lines, so it
finds keys of tables, and not keys inside inline tables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

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
    for number, line in enumerate(text.splitlines(), 1):
        if not inside:
            if header := _HEADER.match(line):
                table = _parts(header[1])
                found.setdefault(table, number)
            elif assigned := _ASSIGNED.match(line):
                parts = (*table, *_parts(assigned[1]))
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
        lines, places = text.splitlines(), key_lines(text)
        if keys in places:
            at = places[keys] - 1
            lines[at] = _replaced(lines[at], toml_value(value))
        elif keys[:-1] in places:
            lines.insert(places[keys[:-1]], f"{toml_key(keys[-1])} = {toml_value(value)}")
        elif len(keys) == 1:
            lines.insert(_first_table(lines), f"{toml_key(keys[0])} = {toml_value(value)}")
        else:
            table = ".".join(map(toml_key, keys[:-1]))
            lines += ["", f"[{table}]", f"{toml_key(keys[-1])} = {toml_value(value)}"]
        text = "\n".join(lines) + "\n"
    return text


def _replaced(line: str, value: str) -> str:
    """The line with another value, if its value is complete on this line."""
    return _SCALAR.sub(lambda old: f"{old[1]}{value}{old[3]}", line)


def _first_table(lines: list[str]) -> int:
    """The place before the first table and before the blank line and the comments above it."""
    at = next((number for number, line in enumerate(lines) if _HEADER.match(line)), len(lines))
    while at and (not lines[at - 1].strip() or lines[at - 1].lstrip().startswith("#")):
        at -= 1
    return at


def toml_value(value: object) -> str:
    """A number, text, truth value or list in TOML. Large numbers have underscores: `450_000_000`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:_}" if abs(value) >= 100_000 else str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(key: str) -> str:
    """A key in TOML, in quotes if it needs them."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml_value(key)


def _parts(dotted: str) -> Keys:
    return tuple(part.strip("\"'") for part in re.findall(_KEY, dotted))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of commands on stdout: tables for people, or one JSON value with --json."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from s80lab.base.terminal import say

if TYPE_CHECKING:
    from rich.console import Console

# Characters a line where the output is no terminal.
WIDE = 160

_C1 = re.compile("[\x7f-\x9f]")
"""Control characters that JSON permits in a text, and that a terminal obeys."""


def print_json(value: Any) -> None:
    """Print a value as JSON. The value must consist of JSON's own types, without infinities."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    print(_C1.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_records(value: dict[str, Any], key: str) -> None:
    """Print an object as JSON whose `key` is a long list: one line for each of its items, and one for each other key.

    Python writes lines without breaks several times as fast as the indented form of `print_json`.
    """
    rest = {name: content for name, content in value.items() if name != key}
    for name, content in rest.items():
        _print_part("{" if name == next(iter(rest)) else "", f"{_compact(name)}: {_compact(content)},\n")
    _print_part(f"{_compact(key)}: [\n", ",\n".join(map(_compact, value[key])), "\n]}\n")


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _print_part(*parts: str) -> None:
    for part in parts:
        sys.stdout.write(_C1.sub(lambda found: f"\\u{ord(found[0]):04x}", part))


def wide_console() -> Console:
    """A console for tables of many columns."""
    # Commands without tables start faster without rich.
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else WIDE)


def sayer(as_json: bool) -> Callable[[str], None]:
    """A function that prints a sentence outside the tables: on stdout, or on stderr with --json."""
    return lambda text: say(text, sys.stderr if as_json else sys.stdout)

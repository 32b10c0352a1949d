# SPDX-License-Identifier: GPL-2.0-or-later
"""Text from files on its way to the terminal: it must neither control the terminal nor act as markup."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.text import Text

MOST_QUOTED = 60
"""Characters of a file's word that a message repeats."""


def plain(text: str) -> str:
    r"""The text with every character that a terminal would not print as its escape: `\x1b` for the escape character.

    Line feeds, tabs and blanks of any width stay.
    """
    return text if text.isprintable() else "".join(one if _is_harmless(one) else repr(one)[1:-1] for one in text)


def _is_harmless(one: str) -> bool:
    return one.isprintable() or one in "\n\t" or unicodedata.category(one) == "Zs"


def plain_text(text: str, style: str = "") -> Text:
    """`plain` for Rich: the text is shown as it is, without markup."""
    from rich.text import Text

    return Text(plain(text), style=style)


def quoted(text: str) -> str:
    """The text in backquotes on one line, for a message; only the beginning of a long text."""
    line = plain(text[:MOST_QUOTED]).replace("\n", "\\n").replace("\t", "\\t")
    return f"`{line}`" if len(text) <= MOST_QUOTED else f"`{line}...`"


def say(text: str, stream: TextIO | None = None, indent: int = 0) -> None:
    """Print sentences (`plain`) on a stream; None: stderr. On a terminal, lines are wrapped at its width.

    indent: blanks before each line after a break.
    """
    stream = stream or sys.stderr
    print(wrapped(plain(text), terminal_width(stream), indent), file=stream, flush=True)


def terminal_width(stream: TextIO) -> int | None:
    """Columns of the stream's terminal, or those that COLUMNS names; None if the stream is not a terminal."""
    if not stream.isatty():
        return None
    try:
        return int(os.environ.get("COLUMNS", "")) or None
    except ValueError:
        return os.get_terminal_size(stream.fileno()).columns or None


def wrapped(text: str, width: int | None, indent: int = 0) -> str:
    """The text in lines of at most `width` characters, broken at blanks outside of backquotes. None: unchanged.

    A longer word, and a longer command in backquotes, gets a line of its own, so that it can be copied as a whole.

    indent: blanks before each line after a break.
    """
    return text if width is None else "\n".join(_fold(line, width, " " * indent) for line in text.split("\n"))


def _fold(line: str, width: int, indent: str) -> str:
    lines = [""]
    # Words with the blanks before them; backquotes and what stands between them belong to one word.
    for blanks, word in re.findall(r"(\s*)((?:`[^`]*`|\S)+)", line):
        if lines[-1].strip() and len(lines[-1]) + len(blanks) + len(word) > width:
            lines.append(indent + word)
        else:
            lines[-1] += blanks + word
    return "\n".join(lines)


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 run`, `2 runs`, `1 match`, `2 matches`. plural: if it is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def disk_size(size: int) -> str:
    """Bytes in MB below 1 GB, else in GB: `19 MB`, `1.2 GB`."""
    return f"{size / 1e6:.0f} MB" if size < 999.5e6 else f"{size / 1e9:.1f} GB"


def short_time(time: str) -> str:
    """An ISO time in UTC without seconds: `2026-11-26 07:35`. Any other text stays."""
    return time[:16].replace("T", " ") if re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d", time) else time

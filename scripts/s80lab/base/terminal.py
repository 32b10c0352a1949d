# SPDX-License-Identifier: GPL-2.0-or-later
"""Text from files on its way to the terminal: it must neither control the terminal nor act as markup.

plain(text)       for print() and for messages
plain_text(text)  for Rich consoles and tables, which would take [red] in a str as markup
quoted(text)      for a word of a file in a message
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

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

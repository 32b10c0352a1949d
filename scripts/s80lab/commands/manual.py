# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of a Typer application as Markdown, for the documentation: the text of each --help."""

from __future__ import annotations

import re
from collections.abc import Iterator

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

from s80lab.commands.line.declare import RARE
from s80lab.commands.line.help import rows, usage

# What Markdown would take for more than a character, and the code spans in which it would not.
_MARKS = re.compile(r"(`[^`]*`)|([\\*_<>\[\]])")


def markdown(app: typer.Typer, name: str) -> str:
    """One section per command, one level deeper for commands of a group: description, usage, arguments, options and
    examples. Commands for maintainers, which lists of commands omit, stand last.

    name: the command as the user types it. The text does not depend on the terminal or its width.
    """
    return "\n".join(_lines(typer.Context(get_command(app), info_name=name), 2))


def _lines(context: typer.Context, level: int) -> Iterator[str]:
    command = context.command
    yield from ("", f"{'#' * level} {context.command_path}", _plain(command.help or ""))
    if command.hidden:
        yield from ("", "This command is for maintainers of s80lab. The first page of help omits it.")
    yield from ("", "```text", usage(context), "```")
    for record in (*rows(context, TyperArgument), *rows(context, TyperOption), *rows(context, TyperOption, RARE)):
        yield from ("", f"`{record[0]}`", f": {_plain(record[1])}")
    if command.epilog:
        yield from ("", "```sh", command.epilog, "```")
    if isinstance(command, TyperGroup):
        for name, part in sorted(command.commands.items(), key=lambda item: item[1].hidden):
            yield from _lines(typer.Context(part, info_name=name, parent=context), level + 1)


def _plain(text: str) -> str:
    """The text of a --help as one line of Markdown: code spans are kept, all other marks are escaped."""
    return _MARKS.sub(lambda found: found[1] or f"\\{found[2]}", " ".join(text.split()))

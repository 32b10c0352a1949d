# SPDX-License-Identifier: GPL-2.0-or-later
"""A stepped trace on a terminal: a table with one column per core for wide terminals, else a list."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.table import Table
from rich.text import Text

from s80lab.base.terminal import plain, plain_text
from s80lab.trace.step import Lesson, Step

WARNING = "bold red"
"""The style of a warning and of a violated invariant on the terminal."""


def show(lesson: Lesson, console: Console) -> None:
    """Prints a table: for each access the line's state and value in each core (requester in bold), the value in memory,
    and the explanation. A warning comes first; violated invariants are red."""
    show_warning(lesson, console)
    table = Table(
        "step",
        "access",
        *(lesson.holder(core) for core in lesson.cores),
        "memory",
        "explanation (cell of the table)",
        title=plain_text(f"{lesson.title}\n{lesson.setup}: {lesson.about_protocol}"),
        show_lines=True,
    )
    for step in lesson.steps:
        spots = [_spot(lesson, step, core) for core in lesson.cores]
        access = plain_text(step.access).append_text(plain_text(f"\n{step.comment}" if step.comment else "", "dim"))
        text = plain_text("\n".join(step.reasons))
        for sentence in step.violations:
            text.append_text(plain_text(f"\n{sentence}", WARNING))
        table.add_row(str(step.number), access, *spots, str(step.in_memory), text)
    console.print(table)
    for line, letter in lesson.shown_lines.items():
        console.print(f"{letter}: the line at address {line * lesson.line_bytes:#x}")
    for note in (*lesson.notes, *([lesson.left_out] if lesson.left_out else [])):
        console.print(plain_text(note))


def show_warning(lesson: Lesson, console: Console) -> None:
    """Prints the lesson's warning, if there is one, without breaking a command that the reader may copy."""
    if lesson.warning:
        console.print(plain_text(lesson.warning, WARNING), soft_wrap=True)


def _spot(lesson: Lesson, step: Step, core: int) -> Text:
    spot = step.copies.get(core)
    text = f"{spot} {spot.where}" if spot else lesson.invalid
    if core == step.core:
        return plain_text(text, "bold")
    if core == step.supplier:
        return plain_text(f"{text} supplies", "green")
    return plain_text(text, "" if (core, step.line) in step.was else "dim")


INDENT = 4


def show_list(lesson: Lesson, console: Console) -> None:
    """Print every access of `lesson`. No line is longer than the console is wide, and nothing is cut off."""
    show_warning(lesson, console)
    console.print(plain_text(textwrap.fill(plain(lesson.title), console.width), "bold"))
    lines = ", ".join(f"{letter} = line {line * lesson.line_bytes:#x}" for line, letter in lesson.shown_lines.items())
    head = f"{lesson.setup[:1].upper()}{lesson.setup[1:]}. {lines}"
    for text in (head, *lesson.notes):
        console.print(plain_text(textwrap.fill(plain(text), console.width)))
    wide = max((len(step.access) for step in lesson.steps), default=0)
    for step in lesson.steps:
        _put(console, summary(lesson, step, wide), "bold", "", " " * (INDENT + wide + 2))
        for reason in step.reasons:
            _put(console, reason)
        for sentence in step.violations:
            _put(console, sentence, WARNING)
        if step.comment:
            _put(console, f"# {step.comment}", "dim")
    if lesson.left_out:
        console.print(plain_text(lesson.left_out))


def summary(lesson: Lesson, step: Step, wide: int) -> str:
    """One line: number, access (padded to `wide` characters), changes of state, supplier, stall cycles."""
    parts = [_change(lesson, step, step.core)]
    for core in lesson.cores:
        if core != step.core and (core, step.line) in step.was:
            parts.append(f"{lesson.holder(core)} {_change(lesson, step, core)}")
    if step.supplier is not None:
        parts.append(f"{lesson.holder(step.supplier)} supplies")
    elif step.from_group:
        parts.append("the group cache supplies")
    elif step.from_llc:
        parts.append("the LLC supplies")
    elif step.from_memory:
        parts.append("memory supplies")
    if step.at_home:
        parts.append(f"home {step.at_home}")
    if step.stall:
        parts.append(f"{step.stall} cycles")
    return f"{step.number:>{INDENT - 2}}  {step.access:<{wide}}  {', '.join(parts)}"


def _put(
    console: Console, text: str, style: str | None = None, first: str = " " * INDENT, rest: str = " " * (INDENT + 2)
) -> None:
    """Print a text, with `rest` before each line after a break, or a shorter indent if little room is left."""
    width = console.width
    if len(first) + len(text) > width or not text.isprintable():
        rest = rest if len(rest) <= width // 2 else " " * (INDENT + 2)
        text = textwrap.fill(plain(text), width, initial_indent=first, subsequent_indent=rest)
    else:
        text = first + text
    # The lines are broken already, and Rich's own breaks take most of the time.
    console.out(text, style=style, highlight=False)


def _change(lesson: Lesson, step: Step, core: int) -> str:
    """The state of the access's line in a core, with its value: `S → M 1`, or `M 1` if the state stayed the same."""
    spot = step.copies.get(core)
    after = spot.state if spot else lesson.invalid
    before = step.was.get((core, step.line), after)
    return ("" if before == after else f"{before} → ") + (str(spot) if spot else after)

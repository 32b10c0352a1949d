# SPDX-License-Identifier: GPL-2.0-or-later
"""A stepped trace as a table for wide terminals, with one column per core."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from s80lab.base.terminal import plain_text
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
        *(f"core {core}" for core in lesson.cores),
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

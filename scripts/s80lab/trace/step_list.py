# SPDX-License-Identifier: GPL-2.0-or-later
"""A stepped trace as a list for narrow terminals: one line per access, its reasons and its comment below it."""

from __future__ import annotations

import textwrap

from rich.console import Console

from s80lab.base.terminal import plain, plain_text
from s80lab.trace.step import Lesson, Step
from s80lab.trace.step_table import WARNING, show_warning

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
            parts.append(f"core {core} {_change(lesson, step, core)}")
    if step.supplier is not None:
        parts.append(f"core {step.supplier} supplies")
    elif step.from_memory:
        parts.append("memory supplies")
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a verdict show the texts of the verdict's file as they are, without markup and control characters."""

from __future__ import annotations

import io

from rich.console import Console

from s80lab.commands.gem5_check import print_differences, print_transitions
from s80lab.gem5.binary import About
from s80lab.gem5.check.verdict import Difference, Verdict


def test_texts_of_a_verdict_are_neither_markup_nor_control_characters() -> None:
    verdict = Verdict(
        binary="0",
        about=About(version="24", release="24", protocols=(), isas=()),
        traces=1,
        accesses=1,
        categories=1,
        differences=[Difference(trace="[/]", category="[red]a\x1b[2J", ruby=1, model=2)],
        failure="",
        reached={"[/x]": ["[bold]I.\x1b]0;evil\x07"]},
        seconds=1.0,
    )
    text = io.StringIO()
    console = Console(file=text, width=120, force_terminal=False)
    print_differences(verdict, console)
    print_transitions(verdict, console)
    said = text.getvalue()
    assert "\x1b" not in said and "\x07" not in said
    assert all(word in said for word in ("[/]", "[red]a\\x1b[2J", "[/x]", "[bold]I", "\\x1b]0;evil\\x07"))

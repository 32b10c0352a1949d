# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab lesson`: the shipped traces, stepped through a protocol. It needs no guest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import hint
from s80lab.commands.output import AsJson, print_json, sayer
from s80lab.trace import files, source, step, step_page, text
from s80lab.trace.step_list import show_list

FIRST = "producer-consumer"


def lesson_command(
    name: Annotated[
        str, typer.Argument(metavar="LESSON", help="Name of a trace in docs/traces; --list shows the names.")
    ] = FIRST,
    protocol: Annotated[
        str | None,
        typer.Option(
            help="Coherence protocol that plays the trace: a name in configs/protocols, or a .toml file. Default: "
            "the protocol that the trace file names."
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the names and titles of all lessons, and step through none.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(help="HTML file to write, with the state of every cache after each access.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Step through a short coherence trace (a lesson), with the reason for each change of state. No guest is needed."""
    lessons = {file.stem: file for file in sorted(paths.LESSONS.glob("*.trace"))}
    if listed:
        titles = {stem: text.read(file).title for stem, file in lessons.items()}
        if as_json:
            print_json([{"lesson": stem, "title": title} for stem, title in titles.items()])
        else:
            print("\n".join(f"{stem:<26} {title}" for stem, title in titles.items()))
        return
    if name not in lessons:
        raise UserError(f"there is no lesson `{name}`: {hint(name, lessons)}")
    played = step.lesson(source.load(lessons[name], source.Wanted(None, protocol, (), 0, None)), name)
    if as_json:
        print_json(step.record(played))
    else:
        show_list(played, Console(highlight=False))
    if html is not None:
        files.write(html, step_page.page(played).encode())
        sayer(as_json)(f"page: {html}")

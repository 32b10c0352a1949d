# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab lesson`: the shipped traces, stepped through a protocol. It needs no guest."""

from __future__ import annotations

import sys
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.suggest import hint
from s80lab.base.terminal import say
from s80lab.commands.output import print_json, print_records, sayer
from s80lab.trace import files, source, step, text

FIRST = "producer-consumer"


def lesson_command(name: str, protocol: str | None, listed: bool, html: Path | None, as_json: bool) -> None:
    """Step through a short coherence trace (a lesson), with the reason for each change of state. No guest is needed."""
    lessons = {file.stem: file for file in sorted(paths.LESSONS.glob("*.trace"))}
    if listed:
        titles = {stem: text.read(file).title for stem, file in lessons.items()}
        if as_json:
            print_json([{"lesson": stem, "title": title} for stem, title in titles.items()])
        else:
            for stem, title in titles.items():
                say(f"{stem:<26} {title}", sys.stdout, indent=27)
        return
    if name not in lessons:
        if Path(name).is_file():
            raise UserError(f"`{name}` is a file, and `lesson` takes a name: write `s80lab trace step {name}`")
        raise UserError(f"there is no lesson `{name}`: {hint(name, lessons)}")
    played = step.lesson(source.load(lessons[name], source.Wanted(None, protocol, (), 0, None)), name)
    if as_json:
        print_records(step.record(played), "steps")
    else:
        from rich.console import Console

        from s80lab.trace.step_list import show_list

        show_list(played, Console(highlight=False))
    if html is not None:
        from s80lab.report import step_page

        files.write(html, step_page.page(played).encode())
        sayer(as_json)(f"page: {html}")

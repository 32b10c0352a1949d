# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab lesson`: the shipped traces, stepped through a protocol. It needs no guest."""

from __future__ import annotations

import sys
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.suggest import hint
from s80lab.base.terminal import say
from s80lab.commands.line.traces import LessonArguments
from s80lab.commands.output import print_json, print_records, sayer
from s80lab.trace import files, source, step, text


def lesson_command(args: LessonArguments) -> None:
    """Step through a short coherence trace (a lesson), with the reason for each change of state. No guest is needed."""
    lessons = {file.stem: file for file in sorted(paths.LESSONS.glob("*.trace"))}
    if args.listed:
        titles = {stem: text.read(file).title for stem, file in lessons.items()}
        if args.as_json:
            print_json([{"lesson": stem, "title": title} for stem, title in titles.items()])
        else:
            for stem, title in titles.items():
                say(f"{stem:<26} {title}", sys.stdout, indent=27)
        return
    if args.name not in lessons:
        if Path(args.name).is_file():
            raise UserError(
                f"`{args.name}` is a file, and `lesson` takes a name: write `s80lab trace step {args.name}`"
            )
        raise UserError(f"there is no lesson `{args.name}`: {hint(args.name, lessons)}")
    played = step.lesson(source.load(lessons[args.name], source.Wanted(None, args.protocol, (), 0, None)), args.name)
    if args.as_json:
        print_records(step.record(played), "steps")
    else:
        from rich.console import Console

        from s80lab.trace.step_table import show_list

        show_list(played, Console(highlight=False))
    if args.html is not None:
        from s80lab.report import step_page

        files.write(args.html, step_page.page(played).encode())
        sayer(args.as_json)(f"page: {args.html}")

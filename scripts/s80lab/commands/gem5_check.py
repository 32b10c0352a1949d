# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab gem5 check`: certifies or refuses the MOESI_hammer of a gem5 binary."""

from __future__ import annotations

from pathlib import Path

import typer

from s80lab.commands.output import print_json, sayer, wide_console
from s80lab.gem5.binary import find_gem5
from s80lab.gem5.check.run import check, sentence
from s80lab.gem5.check.show import coverage_sentence, print_differences, print_transitions
from s80lab.gem5.check.verdict import folder


def check_command(gem5: Path | None, again: bool, as_json: bool) -> None:
    """Play short traces on the user's gem5 and compare its counts with the model's. Exit code 1: refused."""
    say = sayer(as_json)
    binary = find_gem5(gem5)
    verdict = check(binary, again=again)
    if as_json:
        print_json(verdict.record(binary))
    else:
        console = wide_console()
        if verdict.reached:
            print_transitions(verdict, console)
        if verdict.differences:
            print_differences(verdict, console)
    say(f"{binary}: gem5 {verdict.about.version}, adapter for releases since {verdict.about.release}")
    if verdict.reached:
        say(coverage_sentence(verdict))
    if verdict.unchecked:
        say(f"other protocols of this gem5, not checked: {', '.join(verdict.unchecked)}")
    say(f"{sentence(verdict)} ({verdict.seconds:.0f} s)")
    say(f"files: {folder(verdict.binary)}")
    if not verdict.certified:
        raise typer.Exit(1)

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab check`: all problems of configuration files."""

from __future__ import annotations

import sys
from dataclasses import asdict

import typer

from s80lab.base.strict import short_path
from s80lab.base.terminal import say
from s80lab.commands.line.measure import CheckArguments
from s80lab.commands.output import print_json
from s80lab.experiment.check import check_file


def check_command(args: CheckArguments) -> None:
    """Print a sentence for each problem of each file; exit code 1 if there is one."""
    found = [check_file(path) for path in args.files]
    if args.as_json:
        print_json(
            [
                {
                    "file": short_path(one.path),
                    "kind": one.kind or None,
                    "right": not one.problems,
                    "summary": one.summary or None,
                    "problems": [asdict(problem) for problem in one.problems],
                }
                for one in found
            ]
        )
    else:
        for sentence in (sentence for one in found for sentence in one.sentences()):
            say(sentence, sys.stdout)
    if any(one.problems for one in found):
        raise typer.Exit(1)

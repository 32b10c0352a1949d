# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure caches and coherence of a simulated multiprocessor that runs a complete Linux server.

`s80lab COMMAND --help` describes a command. An error that you can fix is printed as one sentence on stderr.

Exit codes: 0 done, 1 a check failed, 2 an error that you can fix, 3 the runs are complete but not all are valid (`run`
and `sweep`), 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from s80lab.base.version import __version__
from s80lab.commands.line import clusters, compare, explore, images, maintain, measure, programs, traces
from s80lab.commands.line.declare import Declaration, Group
from s80lab.commands.line.help import Command, CommandGroup

SECTIONS = (
    measure.SECTION,
    programs.SECTION,
    compare.SECTION,
    compare.GEM5,
    explore.SECTION,
    traces.SECTION,
    images.SECTION,
    clusters.SECTION,
    maintain.SECTION,
)

FIRST_STEPS = """\
s80lab lesson                    step through a coherence trace (no guest)
s80lab doctor                    check what this host lacks
s80lab run quick                 measure a mail server on small caches (3 min)"""


def declarations() -> Iterator[Declaration]:
    """All commands."""
    return (entry for section in SECTIONS for entry in section.entries if isinstance(entry, Declaration))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"s80lab {__version__}")
        raise typer.Exit


def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    # The help of s80lab is the docstring of this module.
    pass


def make_app() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        help=__doc__,
        epilog=FIRST_STEPS,
        cls=CommandGroup,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(common)
    groups: dict[str, typer.Typer] = {}
    for section in SECTIONS:
        for entry in section.entries:
            if isinstance(entry, Group):
                groups[entry.name] = typer.Typer(
                    help=entry.help, cls=CommandGroup, no_args_is_help=True, rich_markup_mode=None
                )
                # A group with a single command stays a group.
                groups[entry.name].callback()(lambda: None)
                app.add_typer(groups[entry.name], name=entry.name, rich_help_panel=section.title)
                continue
            group, _, name = entry.name.rpartition(" ")
            (groups[group] if group else app).command(
                name,
                cls=Command,
                epilog="\n".join(entry.examples),
                hidden=entry.hidden,
                rich_help_panel=section.title if not group else None,
                context_settings=dict(entry.settings),
            )(entry.command())
    return app


app = make_app()

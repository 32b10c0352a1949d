# SPDX-License-Identifier: GPL-2.0-or-later
"""Declarations of commands: a function with arguments, options and a docstring, without a body.

The first line of the docstring is the summary in lists of commands. When the command runs, the function that does the
work is imported and gets the arguments by name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeVar

from s80lab.commands.process import ended_by_signals, reports_interruption

F = TypeVar("F", bound=Callable[..., None])

HEADINGS = (
    "Measure",
    "Programs",
    "Compare",
    "Compare with gem5 (you build gem5)",
    "Explore designs",
    "Protocols and traces",
    "Images and checkpoints",
    "Clusters",
    "Maintenance",
)
"""Headings of `s80lab --help`, in the order of the page; each is the title of a section."""
RARE = "Further options"
"""Heading of those options of a command that few users need; they stand last in its help."""


@dataclass(frozen=True)
class Declaration:
    """One command.

    name: as the user types it after `s80lab`, for example `trace step`.
    function: the declaration.
    work: `module:function` below s80lab.commands; the function has the same parameters.
    settled: further arguments of the work, which no option sets.
    examples: two command lines.
    hidden: whether lists of commands omit it, because only maintainers of s80lab need it.
    settings: for typer's parser.
    """

    name: str
    function: Callable[..., None]
    work: str
    examples: tuple[str, str]
    settled: Mapping[str, object]
    hidden: bool
    settings: Mapping[str, Any]

    def worker(self) -> Callable[..., None]:
        """The function that does the work. Its module is imported now."""
        module, _, name = self.work.partition(":")
        with ended_by_signals():
            found: Callable[..., None] = getattr(import_module(f"s80lab.commands.{module}"), name)
        return found

    def command(self) -> Callable[..., None]:
        """A function with the declared parameters that does the work."""

        @functools.wraps(self.function)
        def run(**arguments: object) -> None:
            worker = self.worker()
            with reports_interruption():
                worker(**arguments, **self.settled)

        return run


@dataclass(frozen=True)
class Group:
    """A command that has commands of its own, for example `s80lab trace`. help: as the docstring of a declaration."""

    name: str
    help: str


@dataclass(frozen=True)
class Section:
    """The commands under one heading of `s80lab --help`, in the order of the page."""

    title: str
    entries: list[Declaration | Group] = field(default_factory=list)

    def group(self, name: str, help: str) -> None:
        """Declare a group. Its commands follow."""
        self.entries.append(Group(name, help))

    def command(
        self,
        name: str,
        work: str,
        *examples: str,
        hidden: bool = False,
        settled: Mapping[str, object] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Callable[[F], F]:
        """Declare the decorated function as a command; see Declaration."""
        first, second = examples

        def declare(function: F) -> F:
            self.entries.append(
                Declaration(name, function, work, (first, second), settled or {}, hidden, settings or {})
            )
            return function

        return declare

# SPDX-License-Identifier: GPL-2.0-or-later
"""Declarations of commands: a subclass of `Arguments` whose fields are the arguments and options.

The first line of its docstring is the summary in lists of commands. When the command runs, the function that does the
work is imported and gets an object of the class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from importlib import import_module
from inspect import Parameter, Signature
from typing import Annotated, Any, TypeVar, dataclass_transform, get_type_hints

import typer

from s80lab.commands.process import ended_by_signals, reports_interruption

T = TypeVar("T")

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
DECLARATION = "declaration"
"""The key of a field's metadata under which `option` and `argument` keep what typer reads."""
RARE = "Further options"
"""Heading of those options of a command that few users need; they stand last in its help."""


def option(default: T, help: str, *names: str, **settings: Any) -> T:
    """The default of a field that is an option of its command. names: default: from the field's name;
    settings: as of typer.Option."""
    return _declared(default, typer.Option(*names, help=help, **settings))


def argument(default: T, help: str, **settings: Any) -> T:
    """The default of a field that is an argument of its command, which may be omitted."""
    return _declared(default, typer.Argument(help=help, **settings))


def _declared(default: T, declaration: object) -> T:
    # For type checkers, the field has the default itself.
    return field(default=default, metadata={DECLARATION: declaration})


@dataclass_transform(frozen_default=True)
class Arguments:
    """The arguments and options of a command. Each subclass is a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


@dataclass(frozen=True)
class Declaration:
    """One command.

    name: as the user types it after `s80lab`, for example `trace step`.
    arguments: the class that declares its arguments and options.
    work: `module:function` below s80lab.commands; the function gets an object of that class.
    settled: further arguments of the work by name, which no option sets.
    help: what the command does, as in a docstring.
    examples: two command lines.
    hidden: whether lists of commands omit it, because only maintainers of s80lab need it.
    settings: for typer's parser.
    """

    name: str
    arguments: type
    work: str
    examples: tuple[str, str]
    settled: Mapping[str, object]
    help: str
    hidden: bool
    settings: Mapping[str, Any]

    def worker(self) -> Callable[..., None]:
        """The function that does the work. Its module is imported now."""
        module, _, name = self.work.partition(":")
        with ended_by_signals():
            found: Callable[..., None] = getattr(import_module(f"s80lab.commands.{module}"), name)
        return found

    def command(self) -> Callable[..., None]:
        """A function for typer, with the declared parameters, that does the work."""

        def run(**values: object) -> None:
            worker = self.worker()
            with reports_interruption():
                worker(self.arguments(**values), **self.settled)

        types = get_type_hints(self.arguments, include_extras=True)
        parameters = [
            Parameter(
                one.name,
                Parameter.POSITIONAL_OR_KEYWORD,
                default=Parameter.empty if one.default is MISSING else one.default,
                annotation=Annotated[types[one.name], one.metadata[DECLARATION]] if one.metadata else types[one.name],
            )
            for one in fields(self.arguments)
        ]
        run.__doc__ = self.help
        run.__annotations__ = types
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
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
        help: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Callable[[type[T]], type[T]]:
        """Declare the decorated class as a command; see Declaration. help: instead of its docstring."""
        first, second = examples

        def declare(arguments: type[T]) -> type[T]:
            text = help or arguments.__doc__ or ""
            self.entries.append(
                Declaration(name, arguments, work, (first, second), settled or {}, text, hidden, settings or {})
            )
            return arguments

        return declare

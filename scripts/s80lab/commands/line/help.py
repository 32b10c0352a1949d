# SPDX-License-Identifier: GPL-2.0-or-later
"""The text of --help, in plain lines of at most 80 columns: usage, description, examples, arguments and options."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from s80lab.base.errors import UserError
from s80lab.base.suggest import suggestion
from s80lab.commands.line.declare import HEADINGS, RARE


def summary(command: Any) -> str:
    """The first paragraph of a command's help, in one line."""
    return " ".join(inspect.cleandoc(command.help or "").partition("\n\n")[0].split())


def parameter_name(parameter: Any) -> str:
    """An argument or the value of an option, as usage and help show it: `EXPERIMENT`, `N`, `qemu|gem5`."""
    if parameter.metavar:
        return str(parameter.metavar)
    choices = parameter.type_descriptor.choices
    if choices:
        return "|".join(map(str, choices))
    kind = parameter.type_descriptor.annotation
    if isinstance(parameter, TyperArgument):
        return parameter.name.upper().replace("_", "-")
    return {int: "N", float: "NUMBER"}.get(kind, "TEXT")


def usage(context: typer.Context) -> str:
    """The command with its required options and its arguments, e.g. `s80lab run [OPTIONS] EXPERIMENT...`."""
    words = [context.command_path, "[OPTIONS]"]
    words += [
        f"{parameter.opts[0]} {parameter_name(parameter)}"
        for parameter in context.command.params
        if isinstance(parameter, TyperOption) and parameter.required
    ]
    for parameter in context.command.params:
        if isinstance(parameter, TyperArgument):
            name = parameter_name(parameter) + ("..." if parameter.nargs == -1 else "")
            words.append(name if parameter.required else f"[{name}]")
    if isinstance(context.command, TyperGroup):
        words.append("COMMAND")
    return " ".join(words)


def rows(
    context: typer.Context, kind: type[TyperArgument] | type[TyperOption], heading: str | None = None
) -> Iterator[tuple[str, str]]:
    """Name and description of each visible argument or option under a heading. --help itself is left out.

    heading: RARE for the options that few users need, None for all others.
    """
    for parameter in context.command.params:
        if not isinstance(parameter, kind) or parameter.hidden or parameter.rich_help_panel != heading:
            continue
        if isinstance(parameter, TyperArgument):
            name = parameter_name(parameter) + ("..." if parameter.nargs == -1 else "")
        else:
            name = " / ".join(", ".join(names) for names in (parameter.opts, parameter.secondary_opts) if names)
            name += "" if parameter.is_flag else f" {parameter_name(parameter)}"
        yield name, " ".join((parameter.help or "").split()) + _remark(parameter)


def _remark(parameter: TyperArgument | TyperOption) -> str:
    """Default and limits, in brackets. A flag is off by default."""
    is_flag = isinstance(parameter, TyperOption) and parameter.is_flag
    words = []
    if parameter.default not in (None, (), "") and not is_flag:
        words.append(f"default: {parameter.default}")
    if parameter.min is not None and parameter.max is not None:
        words.append(f"{parameter.min} to {parameter.max}")
    elif parameter.min is not None:
        words.append(f"at least {parameter.min}")
    if parameter.required and isinstance(parameter, TyperOption):
        words.append("required")
    return f" [{'; '.join(words)}]" if words else ""


class _Plain:
    """What the help of commands and of groups has in common."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        command: Any = self
        formatter.write(f"Usage: {usage(ctx)}\n")
        for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
            formatter.write_paragraph()
            formatter.write_text(" ".join(paragraph.split()))
        self.write_lists(ctx, formatter)

    def write_lists(self, ctx: Any, formatter: Any) -> None:
        """Write what follows the description."""
        raise NotImplementedError

    def write_examples(self, formatter: Any, title: str) -> None:
        command: Any = self
        if command.epilog:
            with formatter.section(title):
                for example in command.epilog.split("\n"):
                    formatter.write(f"  {example}\n")

    def write_parameters(self, ctx: Any, formatter: Any) -> None:
        for title, kind, heading in (
            ("Arguments", TyperArgument, None),
            ("Options", TyperOption, None),
            (RARE, TyperOption, RARE),
        ):
            found = list(rows(ctx, kind, heading))
            if title == "Options":
                found.append(("--help, -h", "Print this text and exit."))
            if found:
                with formatter.section(title):
                    formatter.write_dl(found, col_max=24)


class Command(_Plain, TyperCommand):
    """A command with plain help."""

    def write_lists(self, ctx: Any, formatter: Any) -> None:
        self.write_examples(formatter, "Examples")
        self.write_parameters(ctx, formatter)


class CommandGroup(_Plain, TyperGroup):
    """A group of commands with plain help. Commands stand under the headings of their sections."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the words name. UserError names the nearest commands if there is none."""
        if args[0] not in self.commands and not args[0].startswith("-") and not ctx.resilient_parsing:
            visible = [name for name, command in self.commands.items() if not command.hidden]
            visible += [name for parameter in self.params for name in parameter.opts]
            raise UserError(
                f"there is no command `{ctx.command_path} {args[0]}`{suggestion(args[0], visible)}: "
                f"`{ctx.command_path} --help` lists all commands"
            )
        return super().resolve_command(ctx, args)

    def write_lists(self, ctx: Any, formatter: Any) -> None:
        self.write_parameters(ctx, formatter)
        visible: dict[str, Any] = {name: command for name, command in self.commands.items() if not command.hidden}
        width = max(map(len, visible))
        for title in (None, *HEADINGS):
            found = [
                (name.ljust(width), summary(command))
                for name, command in visible.items()
                if command.rich_help_panel == title
            ]
            if found:
                with formatter.section(title or "Commands"):
                    formatter.write_dl(found)
        # Last, because the page is longer than a screen.
        self.write_examples(formatter, "First steps")

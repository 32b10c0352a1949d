# SPDX-License-Identifier: GPL-2.0-or-later
"""One sentence for each mistake in a command line that typer finds."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperArgument, TyperOption

from s80lab.base.suggest import hint, suggestion
from s80lab.commands.line.help import parameter_name, usage

EXTRA = {
    "query": "put the whole SQL text into quotation marks",
    "captures prune": "`s80lab captures remove NAME` removes one capture",
    "checkpoint prune": "`s80lab checkpoint remove NAME` removes one checkpoint",
    "compare": "runs of two experiments are compared by `s80lab report EXPERIMENT EXPERIMENT`",
}
"""Remedies for too many words after a command."""


def sentence(error: typer.TyperException) -> str:
    """What is wrong, where, and what to do. No text of the validation library is used."""
    context: Any = getattr(error, "ctx", None)
    option = getattr(error, "option_name", None)
    if context is None:
        return f"the option {option} needs a value" if option else error.format_message()
    words = context.command_path.removeprefix("s80lab").strip()
    where = f"{words}: " if words else ""
    if getattr(error, "possibilities", None) is not None or "No such option" in error.message:
        return f"{where}there is no option `{option}`{_near(str(option), context)}; {_see(context)}"
    if "unexpected extra argument" in error.message:
        return f"{where}{_extra_words(error.message, context)}; {_see(context)}"
    parameter = getattr(error, "param", None)
    if isinstance(parameter, TyperArgument | TyperOption):
        if error.message and error.__cause__ is not None:
            return f"{where}{_wrong_value(parameter, error.__cause__)}"
        if not error.message:
            return f"{where}{_missing(context)} missing: write `{usage(context)}`; {_see(context)}"
    text = error.format_message().rstrip(".")
    return f"{where}{text[:1].lower()}{text[1:]}; {_see(context)}"


def _missing(context: Any) -> str:
    """Everything that is missing, with its verb. Typer reads first what the command line has."""
    names = [
        _name(parameter)
        for parameter in context.command.params
        if parameter.required and parameter.name not in context.params
    ]
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"


def _extra_words(message: str, context: Any) -> str:
    """What is wrong with words after the last argument, and what to write if another place for them is known."""
    words = message.partition(" (")[2].rpartition(")")[0]
    first = words.split(" ")[0]
    text = f"`{words}` is more than the command takes"
    if remedy := EXTRA.get(context.command_path.removeprefix("s80lab ")):
        return f"{text}: {remedy}"
    for parameter in context.command.params:
        if isinstance(parameter, TyperOption) and first in _completions(parameter, context):
            return f"{text}: write `{parameter.opts[0]} {first}`"
    return f"{text}: write `{usage(context)}`"


def _completions(parameter: TyperOption, context: Any) -> list[str]:
    return [item.value for item in parameter.shell_complete(context, "")]


def _near(option: str, context: Any) -> str:
    known = [name for parameter in context.command.params for name in (*parameter.opts, *parameter.secondary_opts)]
    return suggestion(option, [name for name in known if name.startswith("--")])


def _see(context: Any) -> str:
    return f"`{context.command_path} --help` describes the command"


def _name(parameter: TyperArgument | TyperOption) -> str:
    return parameter_name(parameter) if isinstance(parameter, TyperArgument) else f"the option {parameter.opts[0]}"


def _wrong_value(parameter: TyperArgument | TyperOption, cause: Any) -> str:
    value = str(cause.errors()[0]["input"])
    name = parameter_name(parameter) if isinstance(parameter, TyperArgument) else parameter.opts[0]
    choices = parameter.type_descriptor.choices
    if choices:
        return f"{name} {value}: {hint(value, map(str, choices))}"
    kind = {int: "a whole number", float: "a number"}.get(parameter.type_descriptor.annotation, "another value")
    if kind == "a number" and parameter.metavar:
        kind = f"a number of {parameter.metavar} without the unit, for example 3200"
    limits = [f"at least {parameter.min}"] if parameter.min is not None else []
    limits += [f"at most {parameter.max}"] if parameter.max is not None else []
    return f"{name} {value}: write {kind}" + (f" of {' and '.join(limits)}" if limits else "")


def is_help(error: BaseException) -> bool:
    """Whether the error stands for the help of a group that was called without a command."""
    return type(error).__name__ == "NoArgsIsHelpError"

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab machine new`, `experiment new`, `workload new` and `protocol new`: commented files to start from.
`s80lab machine show`: all values of a machine, in the same form.

A command parses the text that it is going to write and compares the result with the values that the user asked for. It
writes nothing if they differ.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import create_file
from s80lab.base.strict import (
    LARGEST,
    find,
    parse_settings,
    parse_toml,
    put,
    read_toml,
    short_path,
    shortened,
    with_bases,
)
from s80lab.base.terminal import plain, quoted, say
from s80lab.base.toml_lines import set_values, toml_comment
from s80lab.commands.line.measure import (
    ExperimentNewArguments,
    MachineNewArguments,
    MachineShowArguments,
    WorkloadNewArguments,
)
from s80lab.commands.line.traces import NewArguments
from s80lab.config.grid import Grid


def new_path(kind: str, folder: Path, name: str) -> Path:
    """The path of a new file: a name in the lab's folder, or a path that ends in .toml. UserError for names that cannot
    be typed in a command, and for paths that do not print."""
    is_file = name.endswith(".toml")
    stem = Path(name).stem if is_file else name
    if not re.fullmatch(r"[\w-]+", stem):
        raise UserError(
            f"{quoted(stem)}: the name of {kind} may contain only letters, digits, - and _; write such a name, or "
            "a path that ends in .toml"
        )
    if stem.startswith("-"):
        raise UserError(
            f"{quoted(stem)}: the name of {kind} must not begin with -, because commands take such a name for an "
            "option; write another name"
        )
    if not name.isprintable():
        raise UserError(f"{quoted(name)}: the path contains a character that does not print; write another path")
    return Path(name) if is_file else paths.own(folder) / f"{name}.toml"


def write_new(path: Path, text: str) -> None:
    """Write a file that does not exist yet. UserError if it exists or cannot be written."""
    try:
        create_file(path, text)
    except FileExistsError:
        raise UserError(f"{short_path(path)} exists already: choose another name, or remove the file first") from None


def where(path: Path, name: str) -> str:
    """The path for a message, as the user can type it in a command: a short name lies in the lab, which need not be the
    working folder."""
    text = str(path) if name.endswith(".toml") or Path.cwd() != paths.HOME else short_path(path)
    return quote(f"./{text}" if text.startswith("-") else text)


def new_machine(args: MachineNewArguments) -> None:
    """Write a commented machine file."""
    from s80lab.config import new_files as new
    from s80lab.config.machine import load_machine_text

    path = new_path("a machine", paths.MACHINES, args.name)
    machine = new.new_machine(path.stem, args.source, parse_settings(args.settings or []))
    place = where(path, args.name)
    text = new.machine_text(machine, place, args.source)
    if load_machine_text(text, short_path(path)) != machine:
        raise _unwritten(path)
    _write_checked(path, text, "machine")
    say(f"{place}: {args.source} with comments; edit the file, then run `s80lab check {place}`", sys.stdout)


def show_machine(args: MachineShowArguments) -> None:
    """Print all values of a machine."""
    from s80lab.config.machine import load_machine
    from s80lab.config.new_files import machine_lines

    print(plain("\n".join(machine_lines(load_machine(args.name, parse_settings(args.settings or []))))))


def new_experiment(args: ExperimentNewArguments) -> None:
    """Write a commented experiment file."""
    from s80lab.config.new_files import experiment_content, experiment_text

    path = new_path("an experiment", paths.EXPERIMENTS, args.name)
    bases = with_bases("experiment", paths.EXPERIMENTS, args.source)
    in_lab = path.absolute().parent in (paths.EXPERIMENTS, paths.own(paths.EXPERIMENTS))
    if in_lab and path.stem in (base.stem for base in bases):
        raise UserError(f"{quoted(path.stem)}: the new experiment cannot be its own base; choose another name")
    sweep = Grid.parse(args.vary) if args.vary else Grid(())
    content = experiment_content(args.source, parse_settings(args.settings or []), sweep)
    place = where(path, args.name)
    text = experiment_text(path.stem, place, content)
    if not _equal(_parsed(text), content):
        raise _unwritten(path)
    _write_checked(path, text, "experiment")
    # Commands find an experiment by its name in the lab.
    then = "" if args.name.endswith(".toml") else f" and `s80lab estimate {path.stem}`"
    say(f"{place}: {args.source} with comments; edit the file, then run `s80lab check {place}`{then}", sys.stdout)


def new_workload(args: WorkloadNewArguments) -> None:
    """Write a copy of a profile with other values. Its comments stay."""
    from s80lab.config.mix import Workload

    path = new_path("a workload", paths.PROFILES, args.name)
    file = find("workload", paths.PROFILES, args.source)
    text, content = file.read_text(encoding="utf-8"), read_toml(file)
    for key, value in {"mix": path.stem, **parse_settings(args.settings or [])}.items():
        put(content, key, value, f"--set {key}", Workload)
        text = set_values(text, {key: value})
        if not _equal(_parsed(text), content):
            raise UserError(
                f"--set {shortened(f'{key}={value}')}: this key is a table, or is in a list or an inline table, and "
                "`workload new` sets only single values; set the keys of the table one by one (mix_percent.VIEW=32), "
                "or edit the new file; nothing was written"
            )
    _write_checked(path, text, "workload")
    place = where(path, args.name)
    say(f"{place}: a copy of {args.source}; edit the file, then run `s80lab check {place}`", sys.stdout)


def new_protocol(args: NewArguments) -> None:
    """Write a commented table of the protocol MSI, as a start for a protocol of your own."""
    from s80lab.protocol.show import TEMPLATE

    path = new_path("a protocol", paths.PROTOCOLS, args.name)
    place = where(path, args.name)
    text = TEMPLATE.read_text(encoding="utf-8").replace("@NAME@", path.stem)
    # Commands find a protocol by its name in the lab.
    checked = place if args.name.endswith(".toml") else args.name
    _write_checked(path, text.replace("@FILE@", toml_comment(checked)), "protocol")
    say(f"{place}: MSI with comments; edit the file, then run `s80lab protocol check {checked}`", sys.stdout)


def _write_checked(path: Path, text: str, kind: str) -> None:
    """Write the file unless it has a problem."""
    from s80lab.experiment.check import check_text

    if len(text.encode(errors="replace")) > LARGEST:
        raise UserError(f"{short_path(path)}: would be larger than {LARGEST >> 10} KiB, the limit; nothing was written")
    checked = check_text(path, text, parse_toml(text, short_path(path)), kind)
    if checked.problems:
        raise UserError(f"{short_path(path)}: {checked.problems[0].text}; nothing was written")
    write_new(path, text)


def _unwritten(path: Path) -> UserError:
    return UserError(f"{short_path(path)}: these settings cannot be written to a file; nothing was written")


def _parsed(text: str) -> Mapping[str, Any] | None:
    try:
        return parse_toml(text, "")
    except UserError:
        return None


def _equal(first: object, second: object) -> bool:
    """Whether two contents of a file are equal, with the types of their values: 1, 1.0 and true differ."""
    one, other = (json.dumps(content, sort_keys=True, default=repr) for content in (first, second))
    return one == other

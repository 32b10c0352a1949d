# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab machine new`, `experiment new` and `workload new`: commented configuration files to start from."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import find, parse_settings, shown
from s80lab.base.terminal import quoted, say
from s80lab.base.toml_lines import set_values
from s80lab.config.grid import Grid


def new_path(kind: str, folder: Path, name: str) -> Path:
    """The path of a new file: a name in the lab's folder, or a path that ends in .toml. UserError for other names."""
    is_file = name.endswith(".toml")
    stem = Path(name).stem if is_file else name
    if not stem.replace("-", "").replace("_", "").isalnum():
        raise UserError(
            f"{quoted(stem)}: the name of {kind} may contain only letters, digits, - and _; write such a name, or "
            "a path that ends in .toml"
        )
    return Path(name) if is_file else paths.own(folder) / f"{name}.toml"


def write_new(path: Path, text: str) -> None:
    """Write a file that does not exist yet. UserError if it exists or cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UserError(f"{shown(path)} exists already: choose another name, or remove the file first") from None
    except OSError as error:
        raise UserError(f"{shown(path)} cannot be written: {error.strerror}") from None


def where(path: Path, name: str) -> str:
    """The path for a message, as the user can type it: a short name lies in the lab, which need not be the working
    folder."""
    return str(path) if name.endswith(".toml") or Path.cwd() != paths.HOME else shown(path)


def new_machine(name: str, source: str, settings: list[str] | None) -> None:
    """Write a commented machine file."""
    from s80lab.config.new_machine import machine_text

    path = new_path("a machine", paths.MACHINES, name)
    text = machine_text(path.stem, where(path, name), source, parse_settings(settings or []))
    _write_checked(path, text)
    place = where(path, name)
    say(f"{place}: {source} with comments; edit the file, then run `s80lab check {place}`", sys.stdout)


def new_experiment(name: str, source: str, settings: list[str] | None, vary: list[str] | None) -> None:
    """Write a commented experiment file."""
    from s80lab.config.new_experiment import experiment_text

    path = new_path("an experiment", paths.EXPERIMENTS, name)
    sweep = Grid.parse(vary) if vary else Grid(())
    text = experiment_text(path.stem, where(path, name), source, parse_settings(settings or []), sweep)
    _write_checked(path, text)
    place = where(path, name)
    # Commands find an experiment by its name in the lab.
    then = "" if name.endswith(".toml") else f" and `s80lab estimate {path.stem}`"
    say(f"{place}: {source} with comments; edit the file, then run `s80lab check {place}`{then}", sys.stdout)


def new_workload(name: str, source: str, settings: list[str] | None) -> None:
    """Write a copy of a profile with other values. Its comments stay."""
    path = new_path("a workload", paths.PROFILES, name)
    changed = {"mix": path.stem, **parse_settings(settings or [])}
    text = find("workload", paths.PROFILES, source).read_text(encoding="utf-8")
    _write_checked(path, set_values(text, changed))
    place = where(path, name)
    say(f"{place}: a copy of {source}; edit the file, then run `s80lab check {place}`", sys.stdout)


def _write_checked(path: Path, text: str) -> None:
    """Write the file unless it has a problem."""
    from s80lab.experiment.check import check_text

    content: Mapping[str, object] = tomllib.loads(text)
    checked = check_text(path, text, content)
    if checked.problems:
        raise UserError(f"{shown(path)}: {checked.problems[0].text}; nothing was written")
    write_new(path, text)

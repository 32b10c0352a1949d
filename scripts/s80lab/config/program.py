# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of programs: files that `s80lab exec --save` writes, and `s80lab run` and other commands read.

The table [program] has the options of `s80lab exec` by their names, with absolute paths of the host. Machine, protocol,
settings, boots, seeds and a sweep stand beside it, as in the file of an experiment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, NonNegativeFloat

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, find, load, parse_toml, read_toml, short_path, validate
from s80lab.base.suggest import names
from s80lab.config.experiment import Seed, Values

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Names of runs and of experiments of programs."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
DEFAULT_MACHINE, DEFAULT_MEMORY, MOST_WARMUPS = "desktop-8", "3GiB", 1000
Order = Literal["default", "reference"]
_HEAD = """\
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands run, sweep, compare, capture, estimate, report and batch take this file (docs/guides/exec.md).
"""
# Options whose names are words of Python, or say less than the field.
_OPTIONS = {
    **{"words": "command", "host_packages": "with", "folder": "cwd", "variables": "env", "begin": "from", "end": "to"},
    **{"packages": "package", "run_as": "run-as", "simulated_timeout": "simulated-timeout"},
}


class Program(Strict):
    """What `s80lab exec` runs and measures: its options without those of the machine and of the output. words: the
    program and its arguments."""

    model_config = ConfigDict(alias_generator=lambda name: _OPTIONS.get(name, name), populate_by_name=True)

    words: Annotated[list[str], Field(min_length=1)]
    memory: str = DEFAULT_MEMORY
    add: list[str] = Field(default_factory=list)
    host_packages: str | None = None
    folder: str | None = None
    variables: list[str] = Field(default_factory=list)
    run_as: str | None = None
    stdin: Path | None = None
    timeout: NonNegativeFloat | None = None
    simulated_timeout: NonNegativeFloat | None = None
    begin: str | None = None
    end: str | None = None
    per: str | None = None
    markers: bool = False
    misses: bool = True
    heap: bool = True
    warmup: Annotated[int, Field(ge=0, le=MOST_WARMUPS)] = 0
    setup: str | None = None
    background: str | None = None
    ready: str | None = None
    rootfs: Path | None = None
    packages: str | None = None
    order: Order = "default"


class Saved(Strict):
    """The experiment of a program. settings: keys of the machine with other values than in its file. sweep: `machine`,
    `protocol` or keys of the machine, with their values; every combination is measured."""

    description: str
    machine: str = DEFAULT_MACHINE
    protocol: str | None = None
    settings: dict[str, str | int | float | bool] = Field(default_factory=dict)
    seeds: Annotated[list[Seed], Field(min_length=1)] = Field(default_factory=lambda: [1])
    boots: Annotated[list[Seed], Field(min_length=1)] = Field(default_factory=lambda: [1])
    sweep: dict[str, Values] = Field(default_factory=dict)
    program: Program


def saved_file(name: str) -> Path | None:
    """The file of the program's experiment with this name, or at this path if it ends in .toml; None: it is another
    experiment, or does not exist."""
    if name.endswith(".toml"):
        path = Path(name)
        return path if path.is_file() and "program" in read_toml(path) else None
    if name not in names(paths.EXPERIMENTS):
        return None
    path = find("experiment", paths.EXPERIMENTS, name)
    return path if "program" in read_toml(path) else None


def load_saved(path: Path) -> Saved:
    """UserError: the file is not right, or its name cannot name runs."""
    if not NAME.fullmatch(path.stem):
        raise UserError(f"{short_path(path)}: runs have this name: use letters, digits, dots, underscores and hyphens")
    if path.stem in names(paths.EXPERIMENTS) and not find("experiment", paths.EXPERIMENTS, path.stem).samefile(path):
        raise UserError(f"{short_path(path)}: {path.stem} is another experiment of the lab: rename the file")
    return load(path, Saved)


def saved_text(path: Path, saved: Saved) -> str:
    """The content of the file. UserError: its name or a value is one that no such file can have."""
    if path.suffix != ".toml" or not NAME.fullmatch(path.stem):
        raise UserError(f"--save {path}: name a file such as before.toml: letters, digits, dots, underscores, hyphens")
    text = _HEAD + "".join(f"{line}\n" for line in _lines(saved.model_dump(mode="json", by_alias=True)))
    try:
        same = validate(parse_toml(text, str(path)), Saved, str(path)) == saved
    except (UserError, ValueError):
        same = False
    if not same:
        raise UserError(f"--save {path}: an argument or a path has characters that the file cannot hold: rename it")
    return text


def _lines(content: Mapping[str, Any], table: str = "") -> Iterator[str]:
    """The content as TOML, without keys that have no value."""
    defaults = Program(words=["-"]).model_dump(mode="json", by_alias=True) if table == "program" else {}
    kept = {key: value for key, value in content.items() if value not in (None, {}) and value != defaults.get(key)}
    if table and kept:
        yield from ("", f"[{table}]")
    tables = {key: value for key, value in kept.items() if isinstance(value, dict)}
    for key, value in kept.items():
        if key not in tables:
            yield f"{key if _BARE.fullmatch(key) else _text(key)} = {_text(value)}"
    for key, inner in tables.items():
        yield from _lines(inner, key)


def _text(value: object) -> str:
    """A text, a number, a truth value or a list of these, as TOML writes them."""
    return json.dumps(value, ensure_ascii=False)

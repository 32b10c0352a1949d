# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes the examples of a page of documentation.

A page's blocks are followed from top to bottom, in one folder:

    ```console            commands after `$ `, each followed by the output that it prints
    ```LANGUAGE as FILE   the content of a file that the reader writes
    ```LANGUAGE in FILE   a line `old` and a line `new` (after `- ` and `+ `): an edit of a file

In expected output a line `...` stands for any number of lines, and `...` within a line for any text.

`python3 -m tests.console PAGE FOLDER` follows a page in a folder and prints each command. The module needs nothing but
Python: scripts/first-minute uses it in a Debian root that has only the packages of the README.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = re.compile(r"^( *)```(\w+)(?: (as|in) (\S+))?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
ANY = "..."
LIMIT_S = 600
"""Limit of one command that `python3 -m tests.console` executes."""
PROGRESS = re.compile(r"\[\d+:\d\d\] ")
"""Lines that a log shows, but not a terminal, where a bar takes their place."""


@dataclass(frozen=True)
class Command:
    """A command line with the lines that it must print."""

    line: str
    expected: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class File:
    """A file that the page tells the reader to write (`edit` False) or to change (`edit` True)."""

    name: str
    content: str
    edit: bool


def examples(page: Path) -> Iterator[Command | File]:
    """The examples of a page in their order."""
    for indent, language, how, name, content in BLOCK.findall(page.read_text(encoding="utf-8")):
        text = re.sub(f"^{indent}", "", content, flags=re.MULTILINE)
        if how:
            yield File(name, text, how == "in")
        elif language == "console":
            yield from _commands(text)


def _commands(text: str) -> Iterator[Command]:
    command: Command | None = None
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command
            command = Command(line.removeprefix("$ "))
        else:
            assert command, f"output before the first command: {line}"
            command.expected.append(line)
    if command:
        yield command


def follow(page: Path, folder: Path, environment: Mapping[str, str], limit_s: float) -> int:
    """Do what the page says in `folder`, and print each command; return the number of commands.

    AssertionError shows the first difference.
    """
    done = 0
    for example in examples(page):
        if isinstance(example, File):
            _write(example, folder)
        else:
            print(f"$ {example.line}", flush=True)
            run(example, folder, environment, limit_s)
            done += 1
    return done


def run(command: Command, folder: Path, environment: Mapping[str, str], limit_s: float) -> None:
    """Run one command with s80lab and Python of this environment, and compare what it prints on stdout and stderr."""
    programs = Path(sys.executable).parent
    ended = subprocess.run(
        ["bash", "-c", command.line],
        cwd=folder,
        env={**environment, "PATH": f"{programs}:{os.environ['PATH']}", "COLUMNS": "80", "PYTHONWARNINGS": "ignore"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=limit_s,
    )
    printed = [line for line in ended.stdout.splitlines() if not PROGRESS.match(line)]
    # A page may show a command that fails; then it shows what the command prints.
    assert command.expected or ended.returncode == 0, f"$ {command.line}\nexit code {ended.returncode}\n{ended.stdout}"
    missing = difference(command.expected, printed)
    assert missing is None, f"$ {command.line}\nexpected: {missing}\nprinted:\n{ended.stdout}"


def difference(expected: list[str], printed: list[str]) -> str | None:
    """The first expected line that was not printed in its place; None if all were. No expected line: anything goes."""
    if not expected:
        return None
    at, free = 0, False
    for line in expected:
        if line.strip() == ANY:
            free = True
            continue
        pattern = re.compile(".*".join(map(re.escape, line.rstrip().split(ANY))))
        found = next((n for n in range(at, len(printed)) if pattern.fullmatch(printed[n].rstrip())), None)
        if found is None or (found != at and not free):
            return line
        at, free = found + 1, False
    return None if free or at == len(printed) else f"no line after {expected[-1]!r}"


def _write(file: File, folder: Path) -> None:
    path = folder / file.name
    if not file.edit:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.content, encoding="utf-8")
        return
    old = "".join(line[2:] + "\n" for line in file.content.splitlines() if line.startswith("- "))
    new = "".join(line[2:] + "\n" for line in file.content.splitlines() if line.startswith("+ "))
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file.name} has {text.count(old)} places like\n{old}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def main(page: str, folder: str) -> None:
    """Follow a page as the module's docstring says. AssertionError shows the first difference."""
    if follow(Path(page), Path(folder), os.environ, LIMIT_S) == 0:
        raise SystemExit(f"{page}: has no command to execute")


if __name__ == "__main__":
    main(*sys.argv[1:])

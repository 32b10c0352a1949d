# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that a group of checkpoints and a group of captures both have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from s80lab.commands.line import complete
from s80lab.commands.line.declare import Arguments, Section
from s80lab.commands.line.options import AsJson

Sources = Annotated[list[Path], typer.Argument(metavar="SOURCE", help="Folders or .tar files that `export` wrote.")]
Target = Annotated[
    Path, typer.Argument(metavar="TARGET", help="Folder to write the copy into, or a file name that ends in .tar.")
]
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="Name of the entry, or the beginning of its name.", autocompletion=complete.entries
    ),
]
Names = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME", help="Names of entries, or beginnings of their names.", autocompletion=complete.entries
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Entries that are not removed: a name, or the beginning of names. May be repeated.",
        autocompletion=complete.entries,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Remove without a question. Required if stdin is not a terminal.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be removed, and remove nothing.")]


class ListArguments(Arguments):
    """Of `list` and `verify`."""

    as_json: AsJson = False


class RemoveArguments(Arguments):
    """Of `remove`."""

    names: Names
    yes: Yes = False
    dry_run: DryRun = False


class PruneArguments(Arguments):
    """Of `prune`."""

    keep: Keep = None
    yes: Yes = False
    dry_run: DryRun = False


class ExportArguments(Arguments):
    """Of `export`."""

    name: Name
    target: Target


class ImportArguments(Arguments):
    """Of `import`."""

    sources: Sources


def declare_store(section: Section, group: str, noun: Literal["checkpoint", "capture"], example: str) -> None:
    """Declare list, verify, remove, prune, export and import of a store of large files.

    group: the command that gets these commands.
    noun: an entry of the store, for texts.
    example: the name of an entry, for examples.
    """

    def declare(name: str, arguments: type, work: str, first: str, second: str, help: str) -> None:
        examples = (f"s80lab {group} {name} {words}".rstrip() for words in (first, second))
        section.command(f"{group} {name}", f"stores:{work}", *examples, settled={"noun": noun}, help=help)(arguments)

    declare("list", ListArguments, "list_entries", "", "--json", f"List every {noun} with its size and its time.")
    declare(
        "verify",
        ListArguments,
        "verify_entries",
        "",
        "--json",
        f"""Compare the files of every {noun} with their hashes.

        The exit code is 1 if a file is damaged or missing.""",
    )
    declare(
        "remove",
        RemoveArguments,
        "remove_entries",
        example,
        f"{example} --dry-run",
        f"""Remove {noun}s by name.

        The command prints names and sizes, and asks before it removes anything.""",
    )
    declare(
        "prune",
        PruneArguments,
        "prune_entries",
        "--dry-run",
        f"--keep {example}",
        f"""Remove all {noun}s that --keep does not name.

        The command also removes the files that interrupted commands left. It prints names and sizes, and asks before it
        removes anything.""",
    )
    declare(
        "export",
        ExportArguments,
        "export_entry",
        f"{example} /mnt/shared",
        f"{example} {noun}.tar",
        f"""Copy a {noun} to a folder or tar file.

        The copy contains the hashes of the files. `s80lab {group} import` takes it in on another host.""",
    )
    usable = " If no run can use the checkpoint here, the command names the inputs that differ."
    declare(
        "import",
        ImportArguments,
        "import_entries",
        f"/mnt/shared/{example}*",
        f"{noun}.tar",
        f"""Import a {noun} that was exported on another host.

        The hash of every file is checked.{usable if noun == "checkpoint" else ""}""",
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that a group of checkpoints and a group of captures both have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from s80lab.commands.line import complete
from s80lab.commands.line.declare import Section
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


def declare_store(section: Section, group: str, noun: Literal["checkpoint", "capture"], example: str) -> None:
    """Declare list, verify, remove, prune, export and import of a store of large files.

    group: the command that gets these commands.
    noun: an entry of the store, for texts.
    example: the name of an entry, for examples.
    """
    settled = {"noun": noun}

    def call(words: str) -> str:
        return f"s80lab {group} {words}"

    def list_all(as_json: AsJson = False) -> None: ...

    def verify(as_json: AsJson = False) -> None: ...

    def prune(keep: Keep = None, yes: Yes = False, dry_run: DryRun = False) -> None: ...

    def remove(names: Names, yes: Yes = False, dry_run: DryRun = False) -> None: ...

    def export(name: Name, target: Target) -> None: ...

    def import_(sources: Sources) -> None: ...

    list_all.__doc__ = f"List every {noun} with its size and its time."
    verify.__doc__ = f"""Compare the files of every {noun} with their hashes.

    The exit code is 1 if a file is damaged or missing."""
    remove.__doc__ = f"""Remove {noun}s by name.

    The command prints names and sizes, and asks before it removes anything."""
    prune.__doc__ = f"""Remove all {noun}s that --keep does not name.

    The command also removes the files that interrupted commands left. It prints names and sizes, and asks before it
    removes anything."""
    export.__doc__ = f"""Copy a {noun} to a folder or tar file.

    The copy contains the hashes of the files. `s80lab {group} import` takes it in on another host."""
    usable = " If no run can use the checkpoint here, the command names the inputs that differ."
    import_.__doc__ = f"""Import a {noun} that was exported on another host.

    The hash of every file is checked.{usable if noun == "checkpoint" else ""}"""

    section.command(f"{group} list", "stores:list_entries", call("list"), call("list --json"), settled=settled)(
        list_all
    )
    section.command(f"{group} verify", "stores:verify_entries", call("verify"), call("verify --json"), settled=settled)(
        verify
    )
    section.command(
        f"{group} remove",
        "stores:remove_entries",
        call(f"remove {example}"),
        call(f"remove {example} --dry-run"),
        settled=settled,
    )(remove)
    section.command(
        f"{group} prune",
        "stores:prune_entries",
        call("prune --dry-run"),
        call(f"prune --keep {example}"),
        settled=settled,
    )(prune)
    section.command(
        f"{group} export",
        "stores:export_entry",
        call(f"export {example} /mnt/shared"),
        call(f"export {example} {noun}.tar"),
        settled=settled,
    )(export)
    section.command(
        f"{group} import",
        "stores:import_entries",
        call(f"import /mnt/shared/{example}*"),
        call(f"import {noun}.tar"),
        settled=settled,
    )(import_)

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab checkpoint prune` and `s80lab captures prune`: nothing is removed without consent."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path

import typer

from s80lab.base.errors import UserError
from s80lab.base.store import M, Store
from s80lab.base.suggest import hint
from s80lab.base.terminal import counted, disk_size, plain, quoted


def prune_store(store: Store[M], noun: str, keep: Sequence[str] = (), yes: bool = False, dry_run: bool = False) -> None:
    """Print all entries of a store with their sizes, ask, and remove them, with the files of interrupted commands.

    UserError if a name in `keep` is unknown, or if stdin is not a terminal and `yes` is not set; then nothing is
    removed.

    noun: what the store holds, for messages.
    keep: names of entries that stay, or beginnings of their names.
    yes: remove without a question.
    dry_run: only print.
    """
    names = {manifest.name for manifest in store.all()}
    kept = {name for part in keep for name in _matching(part, names, f"--keep {part}: ", noun)}
    removed = names - kept
    if total := _confirmed(store, noun, removed, _without_manifest(store.root()), yes, dry_run):
        # An entry that appeared since the list was printed stays.
        store.prune({manifest.name for manifest in store.all()} - removed)
        print(f"{total} removed")


def remove_from_store(
    store: Store[M], noun: str, parts: Sequence[str], yes: bool = False, dry_run: bool = False
) -> None:
    """Print the named entries of a store with their sizes, ask, and remove them.

    UserError if a name is unknown or the beginning of several names, or if stdin is not a terminal and `yes` is not
    set; then nothing is removed.

    noun: what the store holds, for messages.
    parts: names of entries, or beginnings of their names.
    yes: remove without a question.
    dry_run: only print.
    """
    names = {manifest.name for manifest in store.all()}
    chosen: set[str] = set()
    for part in parts:
        found = _matching(part, names, "", noun)
        if len(found) > 1:
            raise UserError(f"several names begin with `{part}`: {', '.join(found)}; write more of the name")
        chosen.update(found)
    if total := _confirmed(store, noun, chosen, [], yes, dry_run):
        store.remove(sorted(chosen))
        print(f"{total} removed")


def _matching(part: str, names: Collection[str], where: str, noun: str) -> list[str]:
    """The entry with this name, else all whose names begin with `part`. UserError if there is none."""
    found = [part] if part in names else sorted(name for name in names if name.startswith(part))
    if not found or not part:
        known = hint(part, names) if names else f"there is no {noun}"
        raise UserError(f"nothing was removed: {where}no {noun} has the name {quoted(part)}: {known}")
    return found


def _confirmed(
    store: Store[M], noun: str, entries: Collection[str], strays: Sequence[str], yes: bool, dry_run: bool
) -> str:
    """Print what would be removed, and ask. Returns number and size of what is to be removed; empty for nothing.

    entries, strays: names of entries, and of folders without a manifest.
    """
    names = [*sorted(entries), *strays]
    if not names:
        print(f"there is no {noun} to remove")
        return ""
    sizes = [store.disk_bytes(name) for name in names]
    for name, size in zip(names, sizes, strict=True):
        manifest = store.known(name)
        origin = f"built in {manifest.wall_s:.0f} s" if manifest else "a folder without a manifest"
        print(f"{plain(name)}: {disk_size(size)}, {origin}")
    parts = [counted(len(entries), noun), *([counted(len(strays), "folder")] if strays else [])]
    total = f"{' and '.join(parts)}, {disk_size(sum(sizes))}"
    if dry_run:
        print(f"{total} would be removed; nothing was removed (dry run)")
        return ""
    return total if yes or confirm(f"Remove {total}?") else ""


def confirm(question: str) -> bool:
    """Ask a question on the terminal; return whether the answer is yes. Any other answer is reported.

    UserError if stdin is not a terminal.
    """
    if not sys.stdin.isatty():
        raise UserError("nothing was removed: stdin is not a terminal, so s80lab cannot ask; confirm with --yes")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    try:
        answer = sys.stdin.readline()
    except KeyboardInterrupt:
        print("\nnothing was removed", file=sys.stderr)
        raise typer.Exit(130) from None
    if answer.strip().lower() in ("y", "yes"):
        return True
    print(f"{'' if answer else chr(10)}nothing was removed", file=sys.stderr)
    return False


def _without_manifest(root: Path) -> list[str]:
    """Names of the folders in a store that have no manifest; a removal takes them, too."""
    folders = sorted(root.iterdir()) if root.is_dir() else []
    return [
        folder.name
        for folder in folders
        if folder.is_dir()
        and not folder.is_symlink()
        and not folder.name.startswith(".")
        and not (root / f"{folder.name}.json").is_file()
    ]

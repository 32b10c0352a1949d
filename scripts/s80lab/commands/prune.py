# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab checkpoint prune` and `s80lab captures prune`: nothing is removed without consent."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.store import M, Store
from s80lab.base.suggest import hint
from s80lab.base.terminal import plain


def prune_store(store: Store[M], noun: str, keep: Sequence[str] = (), yes: bool = False, dry_run: bool = False) -> None:
    """Print all entries of a store with their sizes, ask, and remove them, with the files of interrupted commands.

    UserError if a name in `keep` is unknown, or if the removal is not confirmed; then nothing is removed.

    noun: what the store holds, for messages.
    keep: names of entries that stay.
    yes: remove without a question.
    dry_run: only print.
    """
    names = {manifest.name for manifest in store.all()}
    for name in keep:
        if name not in names:
            known = hint(name, names) if names else f"there is no {noun}"
            raise UserError(f"--keep {name}: no {noun} has this name: {known}; nothing was removed")
    removed = sorted(names - set(keep))
    strays = _without_manifest(store.root())
    sizes = [store.disk_bytes(name) for name in (*removed, *strays)]
    for name, size in zip((*removed, *strays), sizes, strict=True):
        print(f"{plain(name)}: {size / 1e9:.1f} GB{', a folder without a manifest' if name in strays else ''}")
    counted = [_count(len(removed), noun), *([_count(len(strays), "folder")] if strays else [])]
    total = f"{' and '.join(counted)}, {sum(sizes) / 1e9:.1f} GB"
    if dry_run:
        print(f"{total} would be removed; nothing was removed (dry run)")
        return
    if sizes and not yes:
        confirm(f"Remove {total}?")
    # An entry that appeared since the list was printed stays.
    store.prune({manifest.name for manifest in store.all()} - set(removed))
    print(f"{total} removed")


def confirm(question: str) -> None:
    """Ask a question on the terminal. UserError if the answer is not yes, or if stdin is not a terminal."""
    if not sys.stdin.isatty():
        raise UserError("nothing was removed: stdin is not a terminal, so s80lab cannot ask; confirm with --yes")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UserError("nothing was removed: the answer was not yes")


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


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

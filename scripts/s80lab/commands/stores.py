# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab checkpoint` and `s80lab captures`: list, verify, remove and move the entries of a store of large files.
Nothing is removed without consent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import typer

from s80lab.base.errors import UserError
from s80lab.base.store import M, Store, StoredManifest
from s80lab.base.strict import short_path
from s80lab.base.suggest import hint
from s80lab.base.terminal import counted, disk_size, plain, quoted, say, short_time
from s80lab.base.transfer import export, take_in
from s80lab.capture.store import STORE as CAPTURES
from s80lab.capture.store import Manifest as CaptureManifest
from s80lab.commands.line.stores import ExportArguments, ImportArguments, ListArguments, PruneArguments, RemoveArguments
from s80lab.commands.output import print_json
from s80lab.experiment import checkpoint
from s80lab.experiment.host_inputs import Installation
from s80lab.guest.console import boot_stage

Noun = Literal["checkpoint", "capture"]
"""An entry of a store, as texts name it."""


def _describe_checkpoint(manifest: checkpoint.Manifest) -> str:
    engine = "gem5, " if manifest.engine == "gem5" else ""
    if manifest.stage == "boot" and manifest.boot:
        stage, _ = boot_stage(manifest.boot.printed)
        return f"{engine}{stage}, {manifest.boot.instructions / 1e6:.0f} M instructions, "
    steady = "steady state" if manifest.warmup and manifest.warmup.verdict == "steady" else "not in steady state"
    return engine + (f"{steady}, " if manifest.warmup else "")


def _describe_capture(manifest: CaptureManifest) -> str:
    forms = ", ".join(f"{form} {disk_size(totals.bytes)}" for form, totals in manifest.forms.items())
    return f"scale {manifest.scale}, {forms}, {(manifest.skip + manifest.measure) / 1e9:.1f} G instructions, "


STORES: Mapping[Noun, Store[Any]] = {"checkpoint": checkpoint.STORE, "capture": CAPTURES}
_DESCRIBE: Mapping[Noun, Callable[[Any], str]] = {"checkpoint": _describe_checkpoint, "capture": _describe_capture}
_EMPTY: Mapping[Noun, str] = {
    "checkpoint": "no checkpoints yet: `s80lab checkpoint build imapb` or `s80lab run imapb` makes the first",
    "capture": "no captures yet: `s80lab capture imapb` records the first",
}


def list_entries(args: ListArguments, noun: Noun) -> None:
    """List every entry with its size on disk and the time at which it was made."""
    store = STORES[noun]
    if args.as_json:
        print_json([_record(store, manifest) for manifest in store.all()])
        return
    manifests = store.all()
    if not manifests:
        say(_EMPTY[noun], sys.stdout)
    for manifest in manifests:
        there = disk_size(store.disk_bytes(manifest.name)) if store.present(manifest) else "files missing"
        text = f"{manifest.name}: {there}, {_DESCRIBE[noun](manifest)}{short_time(manifest.created)}"
        say(text, sys.stdout, indent=2)


def _record(store: Store[M], manifest: M) -> dict[str, Any]:
    return manifest.model_dump(mode="json") | {
        "disk_bytes": store.disk_bytes(manifest.name),
        "present": store.present(manifest),
    }


def verify_entries(args: ListArguments, noun: Noun) -> None:
    """Compare the files of every entry with their recorded hashes; exit code 1 if a file is damaged or missing."""
    store = STORES[noun]
    verdicts = [(manifest.name, store.verify(manifest)) for manifest in store.all()]
    if args.as_json:
        print_json([{"name": name, "verdict": verdict} for name, verdict in verdicts])
    if not verdicts and not args.as_json:
        say(_EMPTY[noun], sys.stdout)
    for name, verdict in () if args.as_json else verdicts:
        print(plain(f"{name}: {verdict}"))
    if any(verdict != "whole" for _, verdict in verdicts):
        raise typer.Exit(1)


def prune_entries(args: PruneArguments, noun: Noun) -> None:
    """Print all entries of a store with their sizes, ask, and remove them, with the files of interrupted commands.

    UserError if a name of --keep is unknown, or if stdin is not a terminal and --yes is not set; then nothing is
    removed.
    """
    store = STORES[noun]
    names = {manifest.name for manifest in store.all()}
    kept = {name for part in args.keep or [] for name in _matching(part, names, f"--keep {part}: ", noun)}
    removed = names - kept
    if total := _confirmed(noun, removed, _without_manifest(store.root()), args):
        # An entry that appeared since the list was printed stays.
        store.prune({manifest.name for manifest in store.all()} - removed)
        print(f"{total} removed")


def remove_entries(args: RemoveArguments, noun: Noun) -> None:
    """Print the named entries of a store with their sizes, ask, and remove them.

    UserError if a name is unknown or the beginning of several names, or if stdin is not a terminal and --yes is not
    set; then nothing is removed.
    """
    store = STORES[noun]
    names = {manifest.name for manifest in store.all()}
    chosen: set[str] = set()
    for part in args.names:
        found = _matching(part, names, "", noun)
        if len(found) > 1:
            raise UserError(f"several names begin with `{part}`: {', '.join(found)}; write more of the name")
        chosen.update(found)
    if total := _confirmed(noun, chosen, [], args):
        store.remove(sorted(chosen))
        print(f"{total} removed")


def export_entry(args: ExportArguments, noun: Noun) -> None:
    """Copy an entry and the hashes of its files to a folder or tar file."""
    print(plain(f"exported to {short_path(export(STORES[noun], args.name, args.target))}"))


def import_entries(args: ImportArguments, noun: Noun) -> None:
    """Import entries that were exported on another host."""
    for source in args.sources:
        manifest, new = take_in(
            STORES[noun],
            source,
            lambda: say(f"waiting for another process that builds this {noun}"),
        )
        print(plain(f"{manifest.name}: {'imported' if new else 'exists already'}{_cannot_use(manifest)}"))


def _cannot_use(manifest: StoredManifest) -> str:
    """`, but ...` if the entry is a checkpoint that no run of this installation can use, else an empty text."""
    if not isinstance(manifest, checkpoint.Manifest) or not (lacking := Installation().missing_inputs(manifest)):
        return ""
    return (
        f", but no run can use it here, because these inputs differ: {', '.join(lacking.values())}; install what made "
        "it (docs/guides/clusters.md), or let `s80lab run` build another one"
    )


def _matching(part: str, names: Collection[str], where: str, noun: str) -> list[str]:
    """The entry with this name, else all whose names begin with `part`. UserError if there is none."""
    found = [part] if part in names else sorted(name for name in names if name.startswith(part))
    if not found or not part:
        known = hint(part, names) if names else f"there is no {noun}"
        raise UserError(f"nothing was removed: {where}no {noun} has the name {quoted(part)}: {known}")
    return found


def _confirmed(
    noun: Noun, entries: Collection[str], strays: Sequence[str], args: PruneArguments | RemoveArguments
) -> str:
    """Print what would be removed, and ask. Returns number and size of what is to be removed; empty for nothing.

    entries, strays: names of entries, and of folders without a manifest.
    """
    names = [*sorted(entries), *strays]
    if not names:
        print(f"there is no {noun} to remove")
        return ""
    store = STORES[noun]
    sizes = [store.disk_bytes(name) for name in names]
    for name, size in zip(names, sizes, strict=True):
        manifest = store.known(name)
        origin = f"built in {manifest.wall_s:.0f} s" if manifest else "a folder without a manifest"
        print(f"{plain(name)}: {disk_size(size)}, {origin}")
    parts = [counted(len(entries), noun), *([counted(len(strays), "folder")] if strays else [])]
    total = f"{' and '.join(parts)}, {disk_size(sum(sizes))}"
    if args.dry_run:
        print(f"{total} would be removed; nothing was removed (dry run)")
        return ""
    return total if args.yes or confirm(f"Remove {total}?") else ""


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

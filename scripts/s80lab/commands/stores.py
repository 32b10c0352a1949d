# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab checkpoint` and `s80lab captures`: list, verify, remove and move the entries of a store of large files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal

import typer

from s80lab.base.store import M, Store, StoredManifest
from s80lab.base.strict import short_path
from s80lab.base.terminal import disk_size, plain, say, short_time
from s80lab.base.transfer import export, take_in
from s80lab.capture.store import STORE as CAPTURES
from s80lab.capture.store import Manifest as CaptureManifest
from s80lab.commands.line.stores import ExportArguments, ImportArguments, ListArguments, PruneArguments, RemoveArguments
from s80lab.commands.output import print_json
from s80lab.commands.prune import prune_store, remove_from_store
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
    """Remove all entries except those in `keep`."""
    prune_store(STORES[noun], noun, args.keep or [], args.yes, args.dry_run)


def remove_entries(args: RemoveArguments, noun: Noun) -> None:
    """Remove the named entries."""
    remove_from_store(STORES[noun], noun, args.names, args.yes, args.dry_run)


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

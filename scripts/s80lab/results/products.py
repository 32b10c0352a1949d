# SPDX-License-Identifier: GPL-2.0-or-later
"""The products of a run: the files of its folder that reports, the database and other hosts read.

The manifest lists size and SHA-256 of each product under the key `files`. Runs of versions of s80lab before this list
have no such key. Reports read these runs without a check; `collect` requires that all their files can be parsed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from s80lab.base.errors import UserError
from s80lab.base.records import FileRecord, is_unchanged, record_file
from s80lab.base.strict import read_toml, shown, validate
from s80lab.results.run_folder import (
    MACHINE,
    MANIFEST,
    PROTOCOL,
    SNAPSHOTS,
    STATS,
    TRANSACTIONS,
    WARM_SNAPSHOTS,
    RunFolder,
)

# Files that equal inputs must reproduce on every host. The manifest is not among them, because it holds host times.
PRODUCTS = (STATS, SNAPSHOTS, TRANSACTIONS, MACHINE, PROTOCOL)


def record_products(run: RunFolder) -> None:
    """Write size and hash of each product into manifest.json. No product may change after this call."""
    found = [run / name for name in (*PRODUCTS, WARM_SNAPSHOTS) if (run / name).is_file()]
    run.write_manifest(run.manifest | {"files": {file.name: record_file(file).model_dump() for file in found}})


def check_products(run: RunFolder) -> None:
    """UserError if a product is missing or differs from the manifest's record of it. A manifest without the list is not
    checked."""
    for name, record in _listed(run).items():
        if not is_unchanged(run / name, record):
            state = "differs from the file that s80lab wrote" if (run / name).is_file() else "is missing"
            raise UserError(
                f"{shown(run / name)}: the file {state} (manifest.json lists size and hash); copy the folder of "
                "the run again, or repeat the run"
            )


def has_products(run: RunFolder) -> bool:
    """Whether every product in the manifest's record exists in the recorded size. Unlike check_products, this function
    reads no product, so that lists of thousands of runs are fast. UserError if the manifest cannot be read."""
    listed = run.manifest.get("files")
    if not isinstance(listed, Mapping) or not listed:
        return (run / STATS).is_file()
    try:
        return all((run / str(name)).stat().st_size == record["bytes"] for name, record in listed.items())
    except (OSError, TypeError, LookupError):
        return False


def listed_run(folder: Path) -> Mapping[str, Any] | None:
    """The manifest of a run that is complete as far as names and sizes of its files show; else None. `is_whole` also
    compares the content of the files, before a run is used."""
    try:
        run = RunFolder(folder)
        return run.manifest if has_products(run) else None
    except UserError:
        return None


def parse_products(run: RunFolder) -> None:
    """UserError if a product of a run without a list of products is missing or cannot be parsed. stats.json and
    transactions.json are not read here."""
    try:
        run.snapshots.region()
    except (OSError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise UserError(
            f"{shown(run / SNAPSHOTS)}: cannot be read ({error!r}); copy the folder of the run again, or repeat the run"
        ) from None
    read_toml(run / MACHINE)
    if (run / PROTOCOL).exists():
        read_toml(run / PROTOCOL)


def _listed(run: RunFolder) -> dict[str, FileRecord]:
    """The manifest's records. UserError if they are malformed, or name a file outside of the folder."""
    where = f"{shown(run / MANIFEST)}: key `files`"
    listed = run.manifest.get("files", {})
    if not isinstance(listed, Mapping):
        raise UserError(f"{where}: is not a table of files; repeat the run")
    for name in listed:
        if name not in (*PRODUCTS, WARM_SNAPSHOTS):
            raise UserError(f"{where}: {name!r} is not a product of a run; repeat the run")
    return {name: validate(record, FileRecord, where) for name, record in listed.items()}


def is_whole(folder: Path, *files: str) -> bool:
    """Whether the folder holds a complete, readable and unchanged run. files: further files that must exist."""
    return not why_not_whole(folder) and all((folder / name).is_file() for name in files)


def why_not_whole(folder: Path) -> str:
    """Why the folder does not hold a complete, readable and unchanged run; empty if it does."""
    try:
        run = RunFolder(folder)
        check_products(run)
        _ = run.load, run.stats
    except UserError as error:
        return str(error)
    return ""

# SPDX-License-Identifier: GPL-2.0-or-later
"""The products of a run: the files of its folder that reports, the database and other hosts read.

The manifest lists size and SHA-256 of each product under the key `files`. Runs of versions of s80lab before this list
have no such key. Reports read these runs without a check; `collect` requires that all their files can be parsed.

The key `logs` lists size, SHA-256 and number of records of the files that `--misses` and `--profile` add. These files
can have gigabytes, so only the commands that read them check them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from s80lab.base.errors import UserError
from s80lab.base.records import FileRecord, is_unchanged, record_file
from s80lab.base.strict import read_toml, short_path, validate
from s80lab.results.run_folder import (
    MACHINE,
    MANIFEST,
    MEMORY_MAP,
    MISS_LOG,
    PROFILE,
    PROTOCOL,
    SNAPSHOTS,
    STATS,
    TRANSACTIONS,
    WARM_SNAPSHOTS,
    RunFolder,
)

# Files that equal inputs must reproduce on every host. The manifest is not among them, because it holds host times.
PRODUCTS = (STATS, SNAPSHOTS, TRANSACTIONS, MACHINE, PROTOCOL)


LOGS = (MISS_LOG, MEMORY_MAP, PROFILE)


class LogRecord(FileRecord):
    """A file that `--misses` or `--profile` adds. records: its number of records; None if it has none."""

    records: int | None = None


def record_products(run: RunFolder, records: Mapping[str, int] | None = None) -> None:
    """Write size and hash of each product into manifest.json. No product may change after this call. records: number of
    records of each log."""
    found = [run / name for name in (*PRODUCTS, WARM_SNAPSHOTS) if (run / name).is_file()]
    logs = {
        name: LogRecord(**record_file(run / name).model_dump(), records=(records or {}).get(name)).model_dump()
        for name in LOGS
        if (run / name).is_file()
    }
    files = {file.name: record_file(file).model_dump() for file in found}
    run.write_manifest(run.manifest | {"files": files, "logs": logs})


def check_products(run: RunFolder) -> None:
    """UserError if a product is missing or differs from the manifest's record of it. A manifest without the list is not
    checked."""
    for name, record in _listed(run).items():
        _require_unchanged(run / name, record)


def check_logs(run: RunFolder, *names: str) -> bool:
    """Whether the manifest lists these files of `--misses` and `--profile`. A manifest of a version before the list
    does not; then the caller says that nothing guards them.

    UserError if a file is missing, differs from the manifest's record of it, or is not in a manifest that has the list.
    """
    if "logs" not in run.manifest:
        return False
    where = f"{short_path(run / MANIFEST)}: key `logs`"
    listed = run.manifest["logs"]
    if not isinstance(listed, Mapping) or not listed.keys() <= set(LOGS):
        raise UserError(f"{where}: is not a table of {', '.join(LOGS)}; repeat the run")
    records = {name: validate(record, LogRecord, where) for name, record in listed.items()}
    for name in names:
        if name not in records:
            raise UserError(
                f"{short_path(run / name)}: is not a file of this run (manifest.json does not list it); remove it"
            )
        _require_unchanged(run / name, records[name])
    return True


def _require_unchanged(path: Path, record: FileRecord) -> None:
    """UserError if the file is missing or differs from the manifest's record of it."""
    if not is_unchanged(path, record):
        state = "differs from the file that s80lab wrote" if path.is_file() else "is missing"
        raise UserError(
            f"{short_path(path)}: the file {state} (manifest.json lists size and hash); copy the folder of the run "
            "again, or repeat the run"
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
            f"{short_path(run / SNAPSHOTS)}: cannot be read ({error!r}); copy the folder of the run again, or repeat "
            "the run"
        ) from None
    read_toml(run / MACHINE)
    if (run / PROTOCOL).exists():
        read_toml(run / PROTOCOL)


def _listed(run: RunFolder) -> dict[str, FileRecord]:
    """The manifest's records. UserError if they are malformed, or name a file outside of the folder."""
    where = f"{short_path(run / MANIFEST)}: key `files`"
    listed = run.manifest.get("files", {})
    if not isinstance(listed, Mapping):
        raise UserError(f"{where}: is not a table of files; repeat the run")
    for name in listed:
        if name not in (*PRODUCTS, WARM_SNAPSHOTS):
            raise UserError(f"{where}: {name!r} is not a product of a run; repeat the run")
    return {name: validate(record, FileRecord, where) for name, record in listed.items()}


def is_whole(folder: Path, *files: str) -> bool:
    """Whether the folder holds a complete, readable and unchanged run. files: those of LOGS that the run must have."""
    if why_not_whole(folder) or not all((folder / name).is_file() for name in files):
        return False
    try:
        check_logs(RunFolder(folder), *files)
    except UserError:
        return False
    return True


def why_not_whole(folder: Path) -> str:
    """Why the folder does not hold a complete, readable and unchanged run; empty if it does."""
    try:
        run = RunFolder(folder)
        check_products(run)
        _ = run.load, run.stats
    except UserError as error:
        return str(error)
    return ""

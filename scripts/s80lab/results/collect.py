# SPDX-License-Identifier: GPL-2.0-or-later
"""Collects complete run folders from many hosts into one folder of runs and one database.

All input is read and compared before anything is written, so a refused input changes neither runs nor database. First
the folders are copied to a temporary folder. Then all rows are written in one transaction, and the copies are renamed
before the transaction ends. If a step fails, neither folders nor rows remain. After an interruption, a second call does
the remaining work and keeps everything that exists.

The folders of other hosts come from other people. Only regular files and folders are copied: a folder with a link, a
pipe or a device is refused.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.staging import PARTIAL, full_disk, sweep, working
from s80lab.base.strict import short_path
from s80lab.results.database import insert_runs, require_schema
from s80lab.results.metrics.derive import REGISTRY
from s80lab.results.products import LOGS, PRODUCTS, check_logs, check_products, parse_products
from s80lab.results.rows import RunRecord, check_rows
from s80lab.results.run_folder import MANIFEST, SNAPSHOTS, RunFolder

LONGEST_NAME = 200
"""Bytes of the name of a run. The names of temporary folders are longer; file systems allow 255 bytes."""


@dataclass(frozen=True)
class Collected:
    """What `collect` did. runs: distinct runs found. copied: folders that did not exist before. entered: runs whose
    rows were missing or different. unfinished: partial folders, of a job that still runs or was abandoned."""

    runs: int
    copied: int
    entered: int
    unfinished: int


def collect(sources: Sequence[Path], runs: Path, database: Path) -> Collected:
    """Copies the run folders in `sources` (run folders, or folders of run folders) to `runs` and enters them in the
    database. UserError names the first folder that is incomplete, damaged, contains links, or has another version's
    schema, or two folders of one run with different bytes."""
    found: dict[str, Path] = {}
    for folder in (folder for source in sources for folder in _run_folders(source)):
        foreign = folder.parent.resolve() != runs.resolve()
        if foreign:
            _require_plain(folder)
        name = _checked(folder)
        if foreign:  # logs may have gigabytes; those of this lab are checked where they are read
            check_logs(RunFolder(folder), *(log for log in LOGS if (folder / log).exists()))
        places = [place for place in (found.get(name), runs / name) if place is not None and place.is_dir()]
        for other in places:
            _require_same(folder, other)
        found.setdefault(name, folder)
    require_schema(database)
    missing = {name: folder for name, folder in sorted(found.items()) if not (runs / name).is_dir()}
    entered = _enter([runs / name for name in sorted(found)], missing, runs, database)
    unfinished = sum(len(list(source.rglob(f"{PARTIAL}*"))) for source in sources)
    return Collected(len(found), len(missing), entered, unfinished)


def _enter(folders: Sequence[Path], missing: Mapping[str, Path], runs: Path, database: Path) -> int:
    """Copy the missing runs and enter all folders in the database; return the number of changed runs. If a step fails,
    no copy and no row remains."""
    if not missing:
        sweep(runs)  # a call that was killed after its last run has left its temporary folder
        return insert_runs(database, folders)
    placed: list[Path] = []
    runs.mkdir(parents=True, exist_ok=True)
    with full_disk(runs), working(runs) as place:
        for name, folder in missing.items():
            _copy(folder, place / name)

        def rename() -> None:
            for name in missing:
                (place / name).rename(runs / name)
                placed.append(runs / name)

        try:
            return insert_runs(database, folders, {runs / name: place / name for name in missing}, rename)
        except BaseException:
            for folder in placed:
                shutil.rmtree(folder, ignore_errors=True)
            raise


def _copy(source: Path, target: Path) -> None:
    """Copy a folder without following links. The permissions obey the umask."""
    target.mkdir()
    for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
        if entry.is_dir(follow_symlinks=False):
            _copy(Path(entry.path), target / entry.name)
        elif entry.is_file(follow_symlinks=False):
            shutil.copyfile(entry.path, target / entry.name, follow_symlinks=False)


def _require_plain(folder: Path) -> None:
    """UserError if the folder is, or contains, anything but regular files and folders."""
    if folder.is_symlink():
        raise UserError(f"{short_path(folder)}: is a link; name the folder itself, then collect again")
    for path, folders, files in os.walk(folder):
        for name in (*folders, *files):
            inside = Path(path) / name
            if inside.is_symlink() or not (inside.is_file() or inside.is_dir()):
                kind = "a link" if inside.is_symlink() else "not a regular file"
                raise UserError(
                    f"{short_path(inside)}: is {kind}, and collect copies only regular files and folders; remove it "
                    "from the folder of the run, then collect again"
                )


def _run_folders(source: Path) -> Iterator[Path]:
    """The run folders that an argument names: a run folder, a folder of run folders, or a results folder."""
    if not source.is_dir():
        why = "is a file, not a folder" if source.exists() else "this folder does not exist"
        raise UserError(f"{short_path(source)}: {why}; name a folder with runs")
    if (source / MANIFEST).exists() or source.name.startswith(PARTIAL):
        yield source
        return
    inside = source / "runs" if (source / "runs").is_dir() else source
    folders = [folder for folder in sorted(inside.iterdir()) if folder.is_dir() and not folder.name.startswith(".")]
    # A results folder may have no run yet: its host has no part of the list, or was cut off in its first.
    if not folders and inside == source:
        raise UserError(
            f"{short_path(source)}: contains no run; name a run folder, a folder of run folders, or a results folder"
        )
    yield from folders


def _checked(folder: Path) -> str:
    """The run's id. UserError unless the folder holds a complete run of this version."""
    if folder.name.startswith(PARTIAL):
        raise UserError(
            f"{short_path(folder)}: the run is incomplete; let the run finish, or remove the folder, then collect again"
        )
    run = RunFolder(folder)
    manifest = run.manifest
    name = _run_name(folder, manifest["run"])
    check_products(run)
    if "files" not in manifest:
        parse_products(run)
    stats, load = run.stats, run.load
    try:
        unknown = [name for name in stats["metrics"] if name.split(".", 1)[0] not in REGISTRY]
        check_rows(RunRecord(manifest, {**stats, "metrics": {}}, load, ""))
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"{short_path(folder)}: the files of this run do not have the format of this version of s80lab "
            f"({error!r}); run the experiment again"
        ) from None
    if unknown:
        raise UserError(
            f"{short_path(folder / 'stats.json')}: contains the unknown metric {unknown[0]}; collect this run with "
            f"the version of s80lab that made it ({manifest['versions'].get('s80lab', 'unknown')})"
        )
    return name


def _run_name(folder: Path, name: str) -> str:
    """The name. UserError unless it can name a folder in the folder of runs."""
    if Path(name).name != name or name.startswith(".") or len(name.encode()) > LONGEST_NAME:
        raise UserError(
            f"{short_path(folder / 'manifest.json')}: key `run`: `{name[:LONGEST_NAME]}` is not a valid name of a run; "
            "run the experiment again"
        )
    return name


def _product(path: Path) -> bytes | None:
    """The file's content, None if it is absent. Snapshots are cut at the end of the measured region: how much longer a
    live guest runs depends on the host."""
    if not path.is_file():
        return None
    content = path.read_bytes()
    end = re.search(rb'^\{"mark": ?"measure_end".*\n', content, re.MULTILINE) if path.name == SNAPSHOTS else None
    return content[: end.end()] if end else content


def _require_same(one: Path, other: Path) -> None:
    """UserError if two folders of one run have different bytes."""
    for name in PRODUCTS if one.resolve() != other.resolve() else ():
        pair = one / name, other / name
        if _product(pair[0]) != _product(pair[1]):
            raise UserError(
                f"{short_path(one)} and {short_path(other)} are one run (equal inputs), but their files {name} differ. "
                "Compare the versions in both files manifest.json, and remove the wrong folder"
            )

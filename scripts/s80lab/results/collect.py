# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole run folders of many hosts into one folder of runs and one database.

Everything is read and compared before anything is written: what is refused leaves runs and database as they were. The
folders come first, each whole or absent, then all rows in one transaction; interrupted and called again, the rest is
done, and what is there already stays as it is.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.folder import read_load, read_manifest, read_stats
from s80lab.base.staging import PARTIAL, staging
from s80lab.base.strict import shown
from s80lab.results.database import insert_runs, require_schema
from s80lab.results.metrics.derive import REGISTRY
from s80lab.results.rows import RunRecord, check_rows

# What the same inputs must give on every host. The manifest is not among them: it has the host's time.
SNAPSHOTS = "snapshots.jsonl"
PRODUCTS = ("stats.json", SNAPSHOTS, "transactions.json", "machine.toml", "protocol.toml")


@dataclass(frozen=True)
class Collected:
    """runs: found, each counted once; copied: folders that were not there; entered: runs whose rows were not there (or
    others); unfinished: partial folders that somebody is at work on, or has left."""

    runs: int
    copied: int
    entered: int
    unfinished: int


def collect(sources: Sequence[Path], runs: Path, database: Path) -> Collected:
    """Copies the run folders in `sources` (each a run's, or one that holds them) to `runs` and enters them. UserError
    names the first that is not whole or not of this version's schema, or two folders of one run with unlike bytes."""
    found: dict[str, Path] = {}
    for folder in (folder for source in sources for folder in _run_folders(source)):
        name = _checked(folder)
        places = [place for place in (found.get(name), runs / name) if place is not None and place.is_dir()]
        for other in places:
            _require_same(folder, other)
        found.setdefault(name, folder)
    require_schema(database)
    missing = {name: folder for name, folder in sorted(found.items()) if not (runs / name).is_dir()}
    for name, folder in missing.items():
        with staging(runs / name) as partial:
            shutil.copytree(folder, partial, dirs_exist_ok=True)
    entered = insert_runs(database, [runs / name for name in sorted(found)])
    unfinished = sum(len(list(source.rglob(f"{PARTIAL}*"))) for source in sources)
    return Collected(len(found), len(missing), entered, unfinished)


def _run_folders(source: Path) -> Iterator[Path]:
    """The run folders that a word of the user's names: one itself, a folder of them, or a results folder."""
    if not source.is_dir():
        raise UserError(f"{shown(source)}: there is no such folder")
    if (source / "manifest.json").exists() or source.name.startswith(PARTIAL):
        yield source
        return
    inside = source / "runs" if (source / "runs").is_dir() else source
    folders = [folder for folder in sorted(inside.iterdir()) if folder.is_dir() and not folder.name.startswith(".")]
    # A results folder may have no run yet: its host has no part of the list, or was cut off in its first.
    if not folders and inside == source:
        raise UserError(f"{shown(source)}: holds no run; name a run's folder, a folder of them or a results folder")
    yield from folders


def _checked(folder: Path) -> str:
    """The run's id; UserError where the folder holds no whole run of this version."""
    if folder.name.startswith(PARTIAL):
        raise UserError(f"{shown(folder)}: the run is not whole; let it end, or remove the folder, and collect again")
    manifest = read_manifest(folder)
    stats, load = read_stats(folder), read_load(folder, manifest)
    try:
        unknown = [name for name in stats["metrics"] if name.split(".", 1)[0] not in REGISTRY]
        check_rows(RunRecord(manifest, {**stats, "metrics": {}}, load, ""))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"{shown(folder)}: its files are not what this version writes ({error!r}); run it again"
        ) from None
    if unknown:
        raise UserError(
            f"{shown(folder / 'stats.json')}: has the metric {unknown[0]}, which this version does not know; collect "
            f"with the version that made it ({manifest['versions'].get('s80lab', 'unknown')})"
        )
    name = str(manifest["run"])
    if Path(name).name != name or name.startswith("."):
        raise UserError(f"{shown(folder / 'manifest.json')}: `{name}` is no name of a run; run it again")
    return name


def _product(path: Path) -> bytes | None:
    """The file's content, None where it is absent. Of a run's snapshots to the end of the region: how long a live guest
    goes on behind it, for windows even, is the host's."""
    if not path.is_file():
        return None
    content = path.read_bytes()
    end = re.search(rb'^\{"mark": ?"measure_end".*\n', content, re.MULTILINE) if path.name == SNAPSHOTS else None
    return content[: end.end()] if end else content


def _require_same(one: Path, other: Path) -> None:
    """UserError where two folders of one run have unlike bytes."""
    for name in PRODUCTS if one.resolve() != other.resolve() else ():
        pair = one / name, other / name
        if _product(pair[0]) != _product(pair[1]):
            raise UserError(
                f"{shown(one)} and {shown(other)} are one run with unlike {name}, which the same inputs never give: "
                "see the versions in their manifest.json, and remove the one that is wrong"
            )

# SPDX-License-Identifier: GPL-2.0-or-later
"""The state of a lab: a digest of each complete thing that its own commands list, and the comparison of two states."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.lab import Lab

from s80lab.base.hashing import sparse_hash
from s80lab.results.products import PRODUCTS, is_whole
from s80lab.results.run_folder import SNAPSHOTS

State = dict[str, str]
"""The digest of each complete thing, by its label, for example `run imapb-tiny-s1-04e25420: stats.json`."""

HOST_TIMES = ("created", "mips", "wall_s", "replay_mips", "live_mips")
"""Columns and keys that tell when or how fast the host worked. They are not compared."""
STRAYS = (".partial-*", "*.partial", "*-journal")
"""Names of the files and folders of unfinished work."""
SPEED = re.compile(rb"[0-9.,]+(?: |%20)MIPS")  # in a table, and in the link that saves the table as CSV
HASH = re.compile(r"-[0-9a-f]{8}(?![0-9a-f])")


class Listing(Exception):
    """A command that lists things fails, or lists a thing that is not complete."""


class Reader:
    """Reads states. A file is hashed again only if its inode, size or time of modification is new."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, int], str] = {}

    def state(self, lab: Lab, exports: Path) -> State:
        """The state of the lab and of the folder of exports. Raises Listing."""
        return {
            **dict(self._runs(lab)),
            **dict(self._store(lab, "checkpoint", lab.checkpoints)),
            **dict(self._store(lab, "captures", lab.captures)),
            **dict(self._reports(lab)),
            **dict(self._exports(exports)),
        }

    def digest(self, path: Path) -> str:
        status = path.stat()
        key = status.st_ino, status.st_size, status.st_mtime_ns
        if key not in self._known:
            self._known[key] = sparse_hash(path)
        return self._known[key]

    def _runs(self, lab: Lab) -> Iterator[tuple[str, str]]:
        listed = _answer(lab, "list", "--json")["runs"]
        rows = database_rows(lab.results / "s80lab.sqlite")
        if {run["id"] for run in listed} != set(rows):
            raise Listing(f"`list` names {len(listed)} runs, but the database has {len(rows)}")
        for run in listed:
            if not is_whole(lab.results / run["folder"]):
                raise Listing(f"`list` names the run {run['id']}, whose folder is missing or incomplete")
            yield f"run {run['id']}: rows", rows[run["id"]]
        for folder in lab.runs():
            for name in PRODUCTS:
                if (folder / name).is_file():
                    yield f"run {folder.name}: {name}", _hash(_product(folder / name))
            yield f"run {folder.name}: manifest.json", _values(folder / "manifest.json")

    def _store(self, lab: Lab, noun: str, root: Path) -> Iterator[tuple[str, str]]:
        for entry in _answer(lab, noun, "list", "--json"):
            name = entry["name"]
            if not entry["present"]:
                raise Listing(f"`{noun} list` names {name}, whose files are missing or truncated")
            yield f"{noun} {name}: manifest", _values(root / f"{name}.json")
            for file in entry["files"]:
                yield f"{noun} {name}: {file}", self.digest(root / name / file)

    def _reports(self, lab: Lab) -> Iterator[tuple[str, str]]:
        root = lab.results / "reports"
        for path in _finished(root):
            page = path.suffix == ".html"  # a page names the host's speed
            yield (
                f"report {path.relative_to(root)}",
                _hash(SPEED.sub(b"", path.read_bytes())) if page else self.digest(path),
            )

    def _exports(self, exports: Path) -> Iterator[tuple[str, str]]:
        for path in _finished(exports):
            label = f"export {path.relative_to(exports)}"
            if path.suffix != ".tar":
                yield label, self.digest(path)
                continue
            with tarfile.open(path) as tar:
                for member in tar:
                    content = tar.extractfile(member)
                    if content is not None:  # the header has the time at which the tar file was written
                        yield f"{label}: {member.name}", _hash(content.read())


def database_rows(database: Path) -> dict[str, str]:
    """A digest of all rows of each run, without the host's times. Raises Listing if the database is damaged."""
    if not database.is_file():
        return {}
    with closing(sqlite3.connect(database)) as connection:
        connection.row_factory = sqlite3.Row
        if [tuple(row) for row in connection.execute("PRAGMA integrity_check")] != [("ok",)]:
            raise Listing(f"{database}: PRAGMA integrity_check does not say ok")
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found: dict[str, list[str]] = {row["id"]: [] for row in connection.execute("SELECT id FROM run")}
        for table in sorted(tables):
            if table == "statistic":  # the names of the statistics that the runs have counted
                continue
            for row in map(dict, connection.execute(f"SELECT * FROM {table}")):
                run = row["id" if table == "run" else "run"]
                values = {key: value for key, value in row.items() if key not in HOST_TIMES}
                if run not in found:
                    raise Listing(f"{database}: table {table} has rows of {run}, which is not a run")
                found[run].append(f"{table} {values}")
    return {run: _hash("\n".join(sorted(rows)).encode()) for run, rows in found.items()}


def violations(
    initial: State, reference: State, before: State, after: State, *, ended: bool, exact: bool = True
) -> list[str]:
    """What a command has lost, changed, or left incomplete; one sentence each.

    initial: the state before the first kill. reference: the state after the undisturbed command. before, after: the
    states around the last command. ended: this command was not killed, so `after` must be the reference. exact: False
    if an undisturbed command gives other bytes each time; then only labels are compared with the reference.
    """

    def name(label: str) -> str:
        return label if exact else HASH.sub("-*", label)

    known = {name(label): digest for label, digest in reference.items()}
    found = []
    for label, digest in before.items():
        if name(label) in known and label not in after:
            found.append(f"{label}: was complete before, and is lost")
        elif label in after and after[label] != digest and not (exact and after[label] == known.get(label)):
            found.append(f"{label}: was complete before, and has changed")
    for label, digest in after.items():
        if label not in initial and name(label) not in known:
            found.append(f"{label}: an undisturbed command does not make it")
        elif label not in before and exact and digest != known.get(label):
            found.append(f"{label}: differs from what an undisturbed command makes")
        elif ended and name(label) not in known:
            found.append(f"{label}: an undisturbed command removes it")
    if ended:
        found += [f"{label}: is missing" for label in known if label not in set(map(name, after))]
    return found


def strays(*folders: Path) -> list[Path]:
    """Files and folders of unfinished work below these folders."""
    found = [path for folder in folders for pattern in STRAYS for path in folder.rglob(pattern)]
    return sorted(path for path in found if not any(parent in found for parent in path.parents))


def _answer(lab: Lab, *arguments: str) -> Any:
    try:
        return json.loads(lab.answer(*arguments))
    except (AssertionError, ValueError) as error:
        raise Listing(f"`{' '.join(arguments)}` fails: {error}") from None


def _finished(folder: Path) -> list[Path]:
    """All files below a folder, without unfinished work and locks."""
    paths = sorted(folder.rglob("*"))
    return [
        path
        for path in paths
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def _product(path: Path) -> bytes:
    """The content of a run's file. Snapshots are cut at the end of the measured region: how much longer a live guest
    runs depends on the host."""
    content = path.read_bytes()
    end = re.search(rb'^\{"mark": ?"measure_end".*\n', content, re.MULTILINE) if path.name == SNAPSHOTS else None
    return content[: end.end()] if end else content


def _values(path: Path) -> str:
    """A digest of a manifest's values, without the host's times and without the list of files: their content is
    compared."""
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return "unreadable"
    manifest.pop("files", None)
    return _hash(json.dumps(_without_times(manifest), sort_keys=True).encode())


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(part) for key, part in value.items() if key not in HOST_TIMES}
    return [_without_times(part) for part in value] if isinstance(value, list) else value


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Stores of large files: manifests `<name>.json` next to folders `<name>/` with the files.

A name contains the first digits of the hash of all inputs, so an entry with outdated inputs is never used. The manifest
is written last: a folder without a manifest is not an entry.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, Literal, TypeVar

from pydantic import ValidationError

from s80lab.base.errors import UserError
from s80lab.base.files import read_regular
from s80lab.base.hashing import file_hash, value_hash
from s80lab.base.records import FileRecord, Hash, is_unchanged, record_file
from s80lab.base.staging import sweep
from s80lab.base.strict import Strict, short_path

__all__ = ["FileRecord", "Hash", "M", "Store", "StoredManifest", "Verdict", "check_files", "now"]

# outdated: an older version of s80lab wrote the manifest, which lacks a file that commands read.
Verdict = Literal["whole", "missing", "damaged", "outdated"]


class StoredManifest(Strict):
    """The common part of all manifests in stores.

    key: hash of the inputs.
    files: every file that commands read.
    created: time in UTC.
    wall_s: seconds that it took to make the files.
    """

    name: str
    key: str
    inputs: dict[str, str]
    files: dict[str, FileRecord]
    wall_s: float
    created: str

    @property
    def content(self) -> str:
        """Hash of all files together."""
        return value_hash({name: record.sha256 for name, record in self.files.items()})

    @property
    def required(self) -> tuple[str, ...]:
        """Names that `files` must contain. A manifest of an older version of s80lab may lack some."""
        return ()

    @property
    def unlisted(self) -> tuple[str, ...]:
        """Names of required files that the manifest does not list."""
        return tuple(name for name in self.required if name not in self.files)


M = TypeVar("M", bound=StoredManifest)
LARGEST = 16 << 20
"""Largest size of a manifest in bytes."""


@dataclass(frozen=True)
class Store(Generic[M]):
    """A store of large files.

    root: function that returns the folder of manifests and files; called at each use.
    manifest: the class of the manifests.
    hash: hash function for one file.
    """

    root: Callable[[], Path]
    manifest: type[M]
    hash: Hash = file_hash

    def folder(self, name: str) -> Path:
        return self.root() / name

    def find(self, name: str, key: str | None = None) -> M | None:
        """The manifest, if the entry is usable: its key is `key` (None: any key), the manifest lists all required
        files, and all files exist. The files are compared with their recorded hashes (base/records.py).

        UserError if the content of a file has changed.
        """
        manifest = self.listed(name, key)
        if manifest is not None:
            check_files(self.folder(name), manifest, self.hash)
        return manifest

    def listed(self, name: str, key: str | None = None) -> M | None:
        """Like `find`, but without a look at the content of the files."""
        manifest = self._read(self._file(name))
        if manifest is None or key not in (None, manifest.key) or manifest.unlisted or self._missing(manifest):
            return None
        return manifest

    def why_built_again(self, name: str) -> str:
        """Why the existing files of an entry cannot be used, if `listed` does not return the entry. Empty if the folder
        or the manifest does not exist."""
        manifest = self._read(self._file(name))
        if manifest is None or not self.folder(name).is_dir():
            return ""
        if manifest.unlisted:
            return f"an older version of s80lab wrote it, without a hash of {', '.join(manifest.unlisted)}"
        return "a file is missing or has another length" if self._missing(manifest) else ""

    def known(self, name: str) -> M | None:
        """The manifest, if it is readable; its files may be missing."""
        return self._read(self._file(name))

    def record(self, manifest: M) -> None:
        """Write the manifest of a complete folder. The manifest makes the entry visible."""
        partial = self._file(manifest.name).with_suffix(".json.partial")
        partial.write_text(manifest.model_dump_json(indent=2) + "\n")
        partial.replace(self._file(manifest.name))

    def all(self) -> list[M]:
        """All readable manifests, by name; their files may be missing."""
        found = (self._read(path) for path in sorted(self.root().glob("*.json")))
        return [manifest for manifest in found if manifest is not None]

    def hash_files(self, folder: Path, names: tuple[str, ...]) -> dict[str, FileRecord]:
        """Sizes and hashes of the named files that exist in the folder."""
        return {name: record_file(folder / name, self.hash) for name in names if (folder / name).is_file()}

    def verify(self, manifest: M) -> Verdict:
        """Hash all files again and compare with the recorded hashes."""
        if self._missing(manifest):
            return "missing"
        if manifest.unlisted:
            return "outdated"
        key_holds = value_hash(manifest.inputs) == manifest.key
        folder = self.folder(manifest.name)
        same = all(self.hash(folder / name) == file.sha256 for name, file in manifest.files.items())
        return "whole" if key_holds and same else "damaged"

    def disk_bytes(self, name: str) -> int:
        """Disk space in use, in bytes (files may be sparse)."""
        return sum(path.stat().st_blocks * 512 for path in self.folder(name).rglob("*") if path.is_file())

    def present(self, manifest: M) -> bool:
        """Whether the manifest lists files, and every file exists in its recorded length."""
        return not self._missing(manifest)

    def remove(self, names: Iterable[str]) -> None:
        """Remove the entries with these names. The manifest goes first: a folder without a manifest is not an entry."""
        for name in names:
            self._file(name).unlink(missing_ok=True)
            _remove_folder(self.folder(name))

    def prune(self, keep: set[str]) -> list[tuple[str, int]]:
        """Remove all entries not named in `keep`, and folders without a manifest.

        Returns name and freed bytes of each removed entry.
        """
        root = self.root()
        sweep(root)
        names = [manifest.name for manifest in self.all() if manifest.name not in keep]
        removed = [(name, self.disk_bytes(name)) for name in names]
        self.remove(names)
        folders = sorted(root.iterdir()) if root.is_dir() else []
        for folder in folders:
            if folder.is_dir() and not folder.name.startswith(".") and not self._file(folder.name).is_file():
                _remove_folder(folder)
        return removed

    def _file(self, name: str) -> Path:
        return self.root() / f"{name}.json"

    def _read(self, path: Path) -> M | None:
        """The manifest in a file; None if it is unreadable or has another name: names decide what is removed."""
        try:
            manifest = self.manifest.model_validate_json(read_regular(path, LARGEST))
        except (UserError, ValidationError):
            return None
        return manifest if manifest.name == path.stem else None

    def _missing(self, manifest: M) -> bool:
        folder = self.folder(manifest.name)
        pairs = [(folder / name, file.bytes) for name, file in manifest.files.items()]
        # An entry without files is not usable: s80lab records no such entry.
        return not pairs or any(not path.is_file() or path.stat().st_size != size for path, size in pairs)


def _remove_folder(folder: Path) -> None:
    """Remove a folder if it exists; of a link only the link itself, whose target is not part of the store."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder)


def check_files(folder: Path, manifest: StoredManifest, hash: Hash) -> None:
    """UserError if a file of the manifest in this folder differs from its recorded size or hash."""
    for name, record in manifest.files.items():
        if not is_unchanged(folder / name, record, hash):
            raise UserError(
                f"{short_path(folder / name)}: the file has changed since s80lab wrote it; remove the folder "
                f"{short_path(folder)}, and s80lab will build it again"
            )


def now() -> str:
    """The current time in UTC, for manifests."""
    return datetime.now(UTC).isoformat(timespec="seconds")

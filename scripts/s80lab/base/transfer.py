# SPDX-License-Identifier: GPL-2.0-or-later
"""Export and import of store entries, as a folder NAME or a tar file with that folder.

The folder contains every file of the entry, and the file export.json: the manifest, and size and hash of every file. An
import checks all hashes before the entry becomes visible. Holes of sparse files are kept.
"""

from __future__ import annotations

import asyncio
import stat
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import ValidationError

from s80lab.base.errors import UserError
from s80lab.base.files import check_name, is_name
from s80lab.base.hashing import value_hash
from s80lab.base.stage import copy_files, sparse_copy, write_sparse
from s80lab.base.staging import full_disk, held, scratch, staging, sweep, working
from s80lab.base.store import FileRecord, M, Store
from s80lab.base.strict import Strict, short_path
from s80lab.base.suggest import hint

EXPORT, TAR = "export.json", ".tar"
LARGEST_HEAD = 16 << 20
"""Most bytes of export.json; those of s80lab have some KiB."""
LARGEST_FILE = 256 << 30
"""Most bytes of one file; a file consisting of a hole takes no space, but time to read."""
Unpack = Callable[[str, int, Path], bool]
"""Writes a file of the recorded length to a path. False, before anything is read, if the file has another length."""


class Export(Strict):
    """The content of export.json.

    manifest: the manifest in the store.
    files: all files of the folder, by relative path.
    """

    schema_version: Literal[1] = 1
    manifest: dict[str, Any]
    files: dict[str, FileRecord]


def export(store: Store[M], name: str, target: Path) -> Path:
    """Export an entry; return the folder or tar file that was written.

    UserError if the entry is damaged or the destination exists already.

    name: the entry's name, or the beginning of it.
    target: the folder that receives the entry's folder, or a file name that ends in .tar.
    """
    manifest = _named(store, name)
    final = target if target.suffix == TAR else target / manifest.name
    if final.exists():
        raise UserError(f"{short_path(final)}: the target exists already; remove it, or name another target")
    folder = store.folder(manifest.name)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    records = {
        path.relative_to(folder).as_posix(): FileRecord(bytes=path.stat().st_size, sha256=store.hash(path))
        for path in files
    }
    if {**records, **manifest.files} != records:
        raise UserError(
            f"{short_path(folder)}: files have changed since s80lab wrote them; remove the folder, let s80lab build "
            "it again, and repeat the export"
        )
    head = Export(manifest=manifest.model_dump(mode="json"), files=records).model_dump_json(indent=1) + "\n"
    if target.suffix == TAR:
        _pack(folder, head, final)
        return final
    with staging(final) as partial:
        (partial / EXPORT).write_text(head)
        asyncio.run(copy_files(folder, partial))
    return final


def take_in(store: Store[M], source: Path, waiting: Callable[[], None] = lambda: None) -> tuple[M, bool]:
    """Import an exported entry; return its manifest and whether it is new in the store.

    UserError if a file differs from what was exported, or if the store has another entry of that name.

    source: an exported folder or .tar file.
    waiting: called if another process builds or imports the entry now.
    """
    with _opened(source) as (head, unpack):
        try:
            content = Export.model_validate_json(head)
            manifest = store.manifest.model_validate(content.manifest)
        except ValidationError:
            raise UserError(
                f"{short_path(source)}: {EXPORT} does not describe an entry of {short_path(store.root())}, or another "
                "version of s80lab wrote it; import checkpoints with `checkpoint import` and captures with "
                "`captures import`, and use equal versions on both hosts"
            ) from None
        name = manifest.name
        check_name(name, f"{short_path(source)}: name of the entry in {EXPORT}", "do not import this export")
        if name.endswith(".json") or not all(map(_is_plain, (*content.files, *manifest.files))):
            raise UserError(
                f"{short_path(source)}: {EXPORT} names files outside the folder, or names that s80lab does not give; "
                "do not import this export"
            )
        if any(not 0 <= record.bytes <= LARGEST_FILE for record in content.files.values()):
            raise UserError(
                f"{short_path(source)}: {EXPORT} lists a file of more than {LARGEST_FILE >> 30} GiB, which no guest "
                "of s80lab has; do not import this export"
            )
        if not manifest.files:
            raise UserError(
                f"{short_path(source)}: the manifest in {EXPORT} lists no file; export again on the other host"
            )
        with held(store.root() / f".{name}.lock", waiting):
            sweep(store.root())
            return manifest, _put(store, source, content, manifest, unpack)


def _put(store: Store[M], source: Path, content: Export, manifest: M, unpack: Unpack) -> bool:
    """Write the files and the manifest to the store; return whether the entry is new."""
    name = manifest.name
    known = store.known(name)
    if known is not None and store.present(known):
        if (known.key, known.content) != (manifest.key, manifest.content):
            raise UserError(
                f"{short_path(store.folder(name))}: exists already with other content than {short_path(source)}, "
                "because two hosts built it independently; runs from the two copies would differ: remove this folder "
                "and import again, or keep it and do not import"
            )
        return False
    with staging(store.folder(name)) as partial:
        for file, record in content.files.items():
            (partial / file).parent.mkdir(parents=True, exist_ok=True)
            if (
                not unpack(file, record.bytes, partial / file)
                or (partial / file).stat().st_size != record.bytes
                or store.hash(partial / file) != record.sha256
            ):
                raise UserError(
                    f"{short_path(source)}: {file} differs from the file that was exported; copy the export again"
                )
        if {**content.files, **manifest.files} != content.files or value_hash(manifest.inputs) != manifest.key:
            raise UserError(
                f"{short_path(source)}: the manifest in {EXPORT} does not match the files; export again on the other "
                "host"
            )
    store.record(manifest)
    return True


@contextmanager
def _opened(source: Path) -> Iterator[tuple[bytes, Unpack]]:
    """The text of export.json, and a function that writes one of the exported files to a path."""
    try:
        if source.suffix != TAR:
            if not source.is_dir():
                why = "is neither a folder nor a .tar file" if source.exists() else "there is no such folder"
                raise UserError(f"{short_path(source)}: {why}; name an export")
            yield _read_folder(source)
            return
        if not source.is_file():
            raise UserError(f"{short_path(source)}: there is no such file; name an export")
        with tarfile.open(source, "r:") as tar:
            yield _read_tar(tar, source)
    except tarfile.TarError as error:
        raise UserError(
            f"{short_path(source)}: is not a tar file or is truncated ({error}); copy the file again"
        ) from None
    except FileNotFoundError as absent:
        raise UserError(
            f"{short_path(Path(str(absent.filename)))}: is missing, so the export is incomplete; copy the export again"
        ) from None


def _read_folder(source: Path) -> tuple[bytes, Unpack]:
    real = source.resolve()

    def unpack(file: str, length: int, target: Path) -> bool:
        path = source / file
        _require_file(path, path.lstat().st_mode)
        if path.resolve() != real / file:
            raise UserError(f"{short_path(path)}: is behind a link; copy the export again, without links")
        if path.stat().st_size != length:
            return False
        asyncio.run(sparse_copy(path, target))
        return True

    head = source / EXPORT
    _require_file(head, head.lstat().st_mode)
    _require_short(head, head.stat().st_size)
    return head.read_bytes(), unpack


def _read_tar(tar: tarfile.TarFile, source: Path) -> tuple[bytes, Unpack]:
    members = {PurePosixPath(*PurePosixPath(one.name).parts[1:]).as_posix(): one for one in tar if one.isreg()}

    def unpack(file: str, length: int, target: Path) -> bool:
        if file not in members or (content := tar.extractfile(members[file])) is None:
            raise UserError(f"{short_path(source)}: {file} is missing in the tar file; copy the tar file again")
        if members[file].size != length:
            return False
        write_sparse(content, target)
        return True

    if EXPORT not in members or (head := tar.extractfile(members[EXPORT])) is None:
        raise UserError(
            f"{short_path(source)}: contains no file {EXPORT}, so `s80lab ... export` did not write it; name an export"
        )
    _require_short(source / EXPORT, members[EXPORT].size)
    return head.read(), unpack


def _require_file(path: Path, mode: int) -> None:
    """UserError for a link, a pipe, a device or a folder. mode: of the path itself."""
    if not stat.S_ISREG(mode):
        raise UserError(
            f"{short_path(path)}: is not a regular file, so `s80lab ... export` did not write it; name an export"
        )


def _require_short(head: Path, length: int) -> None:
    if length > LARGEST_HEAD:
        raise UserError(
            f"{short_path(head)}: has {length} bytes, but the limit is {LARGEST_HEAD >> 20} MiB; do not import this "
            "export"
        )


def _pack(folder: Path, head: str, final: Path) -> None:
    """Write the tar file, complete or not at all. export.json comes first in it. What killed exports left beside it is
    removed."""
    final.parent.mkdir(parents=True, exist_ok=True)
    with full_disk(final.parent), working(final.parent) as place, scratch() as beside:
        packed = place / final.name
        (beside / folder.name).mkdir()
        (beside / folder.name / EXPORT).write_text(head)
        first = ("--directory", str(beside), f"{folder.name}/{EXPORT}")
        command = ["tar", "--create", "--sparse", "--file", str(packed), *first, "--directory", str(folder.parent)]
        done = subprocess.run([*command, folder.name], capture_output=True, text=True)
        if done.returncode:
            raise UserError(f"{short_path(final)}: cannot be written: {done.stderr.strip()}")
        packed.replace(final)


def _named(store: Store[M], name: str) -> M:
    manifests = {one.name: one for one in store.all() if store.present(one)}
    fitting = [one for one in manifests if one == name] or [one for one in manifests if one.startswith(name)]
    if not fitting:
        known = f": {hint(name, manifests)}" if manifests else ", which is empty"
        raise UserError(f"there is no `{name}` in {short_path(store.root())}{known}")
    if len(fitting) > 1:
        raise UserError(f"several names begin with `{name}`: {', '.join(fitting)}; write more of the name")
    return manifests[fitting[0]]


def _is_plain(file: str) -> bool:
    """Whether the path is relative, stays inside its folder, and consists of names that s80lab gives."""
    path = PurePosixPath(file)
    return bool(path.parts) and all(map(is_name, path.parts)) and path.as_posix() == file

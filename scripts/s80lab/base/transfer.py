# SPDX-License-Identifier: GPL-2.0-or-later
"""Export and import of store entries, as a folder NAME or a tar file with that folder.

The folder contains every file of the entry, and the file export.json: the manifest, and size and hash of every file. An
import checks all hashes before the entry becomes visible. Holes of sparse files are kept.
"""

from __future__ import annotations

import asyncio
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import ValidationError

from s80lab.base.copying import copy_files, sparse_copy, write_sparse
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.staging import held, scratch, staging, sweep
from s80lab.base.store import FileRecord, M, Store
from s80lab.base.strict import Strict, hint, shown

EXPORT, TAR = "export.json", ".tar"
Unpack = Callable[[str, Path], None]


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
        raise UserError(f"{shown(final)}: the target exists already; remove it, or name another target")
    folder = store.folder(manifest.name)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    records = {
        path.relative_to(folder).as_posix(): FileRecord(bytes=path.stat().st_size, sha256=store.hash(path))
        for path in files
    }
    if {**records, **manifest.files} != records:
        raise UserError(
            f"{shown(folder)}: files have changed since s80lab wrote them; remove the folder, let s80lab build "
            "it again, and repeat the export"
        )
    said = Export(manifest=manifest.model_dump(mode="json"), files=records).model_dump_json(indent=1) + "\n"
    if target.suffix == TAR:
        _pack(folder, said, final)
        return final
    with staging(final) as partial:
        (partial / EXPORT).write_text(said)
        asyncio.run(copy_files(folder, partial))
    return final


def take_in(store: Store[M], source: Path, waiting: Callable[[], None] = lambda: None) -> tuple[str, bool]:
    """Import an exported entry; return its name and whether it is new in the store.

    UserError if a file differs from what was exported, or if the store has another entry of that name.

    source: an exported folder or .tar file.
    waiting: called if another process builds or imports the entry now.
    """
    with _opened(source) as (said, unpack):
        try:
            content = Export.model_validate_json(said)
            manifest = store.manifest.model_validate(content.manifest)
        except ValidationError:
            raise UserError(
                f"{shown(source)}: {EXPORT} does not describe an entry of {shown(store.root())}, or another "
                "version of s80lab wrote it; import checkpoints with `checkpoint import` and captures with "
                "`captures import`, and use equal versions on both hosts"
            ) from None
        name = manifest.name
        if not all(map(_is_plain, (*content.files, name))) or "/" in name or name.startswith("."):
            raise UserError(
                f"{shown(source)}: the file list in {EXPORT} names files outside the folder; do not import this export"
            )
        with held(store.root() / f".{name}.lock", waiting):
            sweep(store.root())
            return name, _put(store, source, content, manifest, unpack)


def _put(store: Store[M], source: Path, content: Export, manifest: M, unpack: Unpack) -> bool:
    """Write the files and the manifest to the store; return whether the entry is new."""
    name = manifest.name
    known = store.known(name)
    if known is not None and store.present(known):
        if (known.key, known.content) != (manifest.key, manifest.content):
            raise UserError(
                f"{shown(store.folder(name))}: exists already with other content than {shown(source)}, because "
                "two hosts built it independently; runs from the two copies would differ: remove this folder "
                "and import again, or keep it and do not import"
            )
        return False
    with staging(store.folder(name)) as partial:
        for file, record in content.files.items():
            (partial / file).parent.mkdir(parents=True, exist_ok=True)
            unpack(file, partial / file)
            if (partial / file).stat().st_size != record.bytes or store.hash(partial / file) != record.sha256:
                raise UserError(
                    f"{shown(source)}: {file} differs from the file that was exported; copy the export again"
                )
        if {**content.files, **manifest.files} != content.files or value_hash(manifest.inputs) != manifest.key:
            raise UserError(
                f"{shown(source)}: the manifest in {EXPORT} does not match the files; export again on the other host"
            )
    store.record(manifest)
    return True


@contextmanager
def _opened(source: Path) -> Iterator[tuple[bytes, Unpack]]:
    """The text of export.json, and a function that writes one of the exported files to a path."""
    try:
        if source.suffix != TAR:
            yield (source / EXPORT).read_bytes(), lambda file, target: asyncio.run(sparse_copy(source / file, target))
            return
        with tarfile.open(source, "r:") as tar:
            members = {PurePosixPath(*PurePosixPath(one.name).parts[1:]).as_posix(): one for one in tar if one.isreg()}

            def unpack(file: str, target: Path) -> None:
                if file not in members or (content := tar.extractfile(members[file])) is None:
                    raise UserError(f"{shown(source)}: {file} is missing in the tar file; copy the tar file again")
                write_sparse(content, target)

            if EXPORT not in members or (head := tar.extractfile(members[EXPORT])) is None:
                raise UserError(
                    f"{shown(source)}: contains no file {EXPORT}, so `s80lab ... export` did not write it; "
                    "name an export"
                )
            yield head.read(), unpack
    except tarfile.TarError as error:
        raise UserError(f"{shown(source)}: is not a tar file or is truncated ({error}); copy the file again") from None
    except FileNotFoundError as absent:
        raise UserError(
            f"{shown(Path(str(absent.filename)))}: is missing, so the export is incomplete; copy the export again"
        ) from None


def _pack(folder: Path, said: str, final: Path) -> None:
    """Write the tar file, complete or not at all. export.json comes first in it."""
    final.parent.mkdir(parents=True, exist_ok=True)
    packed = final.with_name(f"{final.name}.partial")
    with scratch() as beside:
        (beside / folder.name).mkdir()
        (beside / folder.name / EXPORT).write_text(said)
        first = ("--directory", str(beside), f"{folder.name}/{EXPORT}")
        command = ["tar", "--create", "--sparse", "--file", str(packed), *first, "--directory", str(folder.parent)]
        done = subprocess.run([*command, folder.name], capture_output=True, text=True)
    if done.returncode:
        packed.unlink(missing_ok=True)
        raise UserError(f"{shown(final)}: cannot be written: {done.stderr.strip()}")
    packed.replace(final)


def _named(store: Store[M], name: str) -> M:
    manifests = {one.name: one for one in store.all() if store.present(one)}
    fitting = [one for one in manifests if one == name] or [one for one in manifests if one.startswith(name)]
    if not fitting:
        known = f": {hint(name, manifests)}" if manifests else ", which is empty"
        raise UserError(f"there is no `{name}` in {shown(store.root())}{known}")
    if len(fitting) > 1:
        raise UserError(f"several names begin with `{name}`: {', '.join(fitting)}; write more of the name")
    return manifests[fitting[0]]


def _is_plain(file: str) -> bool:
    """Whether the path is relative and stays inside its folder."""
    path = PurePosixPath(file)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and path.as_posix() == file

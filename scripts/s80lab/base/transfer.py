# SPDX-License-Identifier: GPL-2.0-or-later
"""What a store holds, carried to another host: a folder NAME, or a tar file with that folder in it.

The folder has every file of the store and EXPORT, which holds the manifest, and size and hash of every file (the
store has those of the blobs alone). Taken in, all are hashed again before the store has any. Holes stay holes.
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
    """manifest: the store's. files: all of the folder, by relative path."""

    schema_version: Literal[1] = 1
    manifest: dict[str, Any]
    files: dict[str, FileRecord]


def export(store: Store[M], name: str, target: Path) -> Path:
    """Puts one (its name, or the beginning of it) into the folder `target`, or into the file where it ends in .tar;
    where it lies then. UserError where the store's is not whole or the place is taken."""
    manifest = _named(store, name)
    final = target if target.suffix == TAR else target / manifest.name
    if final.exists():
        raise UserError(f"{shown(final)}: is there already; remove it, or name another place")
    folder = store.folder(manifest.name)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    records = {
        path.relative_to(folder).as_posix(): FileRecord(bytes=path.stat().st_size, sha256=store.hash(path))
        for path in files
    }
    if {**records, **manifest.files} != records:
        raise UserError(f"{shown(folder)}: is not what was recorded; remove it to have it made anew, and export that")
    said = Export(manifest=manifest.model_dump(mode="json"), files=records).model_dump_json(indent=1) + "\n"
    if target.suffix == TAR:
        _pack(folder, said, final)
        return final
    with staging(final) as partial:
        (partial / EXPORT).write_text(said)
        asyncio.run(copy_files(folder, partial))
    return final


def take_in(store: Store[M], source: Path, waiting: Callable[[], None] = lambda: None) -> tuple[str, bool]:
    """Puts what was exported into the store: its name, and whether it was not there. waiting: called where another
    process makes it, or takes it in, just now. UserError where a file is not what was exported, or the store has
    another one of that name."""
    with _opened(source) as (said, unpack):
        try:
            content = Export.model_validate_json(said)
            manifest = store.manifest.model_validate(content.manifest)
        except ValidationError:
            raise UserError(f"{shown(source)}: its {EXPORT} is not of this store or this version") from None
        name = manifest.name
        if not all(map(_is_plain, (*content.files, name))) or "/" in name or name.startswith("."):
            raise UserError(f"{shown(source)}: its {EXPORT} names files outside of the folder")
        with held(store.root() / f".{name}.lock", waiting):
            sweep(store.root())
            return name, _put(store, source, content, manifest, unpack)


def _put(store: Store[M], source: Path, content: Export, manifest: M, unpack: Unpack) -> bool:
    """Whether it was not there."""
    name = manifest.name
    known = store.known(name)
    if known is not None and store.present(known):
        if (known.key, known.content) != (manifest.key, manifest.content):
            raise UserError(
                f"{shown(store.folder(name))}: is there, and another one: two hosts have made it; runs from one "
                "never equal those from the other, so remove one of them"
            )
        return False
    with staging(store.folder(name)) as partial:
        for file, record in content.files.items():
            (partial / file).parent.mkdir(parents=True, exist_ok=True)
            unpack(file, partial / file)
            if (partial / file).stat().st_size != record.bytes or store.hash(partial / file) != record.sha256:
                raise UserError(f"{shown(source)}: {file} is not what was exported; copy it again")
        if {**content.files, **manifest.files} != content.files or value_hash(manifest.inputs) != manifest.key:
            raise UserError(f"{shown(source)}: its manifest is not that of its files; export it again")
    store.record(manifest)
    return True


@contextmanager
def _opened(source: Path) -> Iterator[tuple[bytes, Unpack]]:
    """The text of EXPORT, and what puts one of the files at a place."""
    try:
        if source.suffix != TAR:
            yield (source / EXPORT).read_bytes(), lambda file, target: asyncio.run(sparse_copy(source / file, target))
            return
        with tarfile.open(source, "r:") as tar:
            members = {PurePosixPath(*PurePosixPath(one.name).parts[1:]).as_posix(): one for one in tar if one.isreg()}

            def unpack(file: str, target: Path) -> None:
                if file not in members or (content := tar.extractfile(members[file])) is None:
                    raise UserError(f"{shown(source)}: {file} is not in it; copy it again")
                write_sparse(content, target)

            if EXPORT not in members or (head := tar.extractfile(members[EXPORT])) is None:
                raise UserError(f"{shown(source)}: has no {EXPORT}: it is not what `export` has made")
            yield head.read(), unpack
    except tarfile.TarError as error:
        raise UserError(f"{shown(source)}: is no tar file or is cut short ({error}); copy it again") from None
    except FileNotFoundError as absent:
        raise UserError(f"{shown(Path(str(absent.filename)))}: is missing: not all that `export` has made") from None


def _pack(folder: Path, said: str, final: Path) -> None:
    """The tar file, whole or absent; EXPORT lies at its beginning."""
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
        raise UserError(f"{shown(final)}: could not be written: {done.stderr.strip()}")
    packed.replace(final)


def _named(store: Store[M], name: str) -> M:
    manifests = {one.name: one for one in store.all() if store.present(one)}
    fitting = [one for one in manifests if one == name] or [one for one in manifests if one.startswith(name)]
    if not fitting:
        known = f": {hint(name, manifests)}" if manifests else ", which is empty"
        raise UserError(f"there is no `{name}` in {shown(store.root())}{known}")
    if len(fitting) > 1:
        raise UserError(f"`{name}` begins several names: {', '.join(fitting)}; write more of it")
    return manifests[fitting[0]]


def _is_plain(file: str) -> bool:
    """Of a relative path: it stays where it is put."""
    path = PurePosixPath(file)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and path.as_posix() == file

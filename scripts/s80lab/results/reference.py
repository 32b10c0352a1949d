# SPDX-License-Identifier: GPL-2.0-or-later
"""Reference results: the runs, and pages over runs, that are shipped with s80lab.

Each result is one file, results/reference/NAME.tar.xz, its *pack*. `unpacked` copies the files of a pack to the folder
build/reference/NAME of the lab when they are first needed, and again after the pack has changed. Equal files give equal
packs on every machine: a pack has no dates and no owners, its files are sorted, and the parameters of the compression
are fixed.
"""

from __future__ import annotations

import atexit
import io
import lzma
import os
import stat
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import read_regular, write_file
from s80lab.base.staging import file_locks, held, staging
from s80lab.base.strict import short_path
from s80lab.base.suggest import hint
from s80lab.results.run_folder import MANIFEST

SUFFIX = ".tar.xz"
LARGEST = 64 << 20
"""Largest size of a pack, and of its files together, in bytes."""
REMEDY = "restore the file from the repository, or install s80lab again"
_KEY = ".pack"
"""Name of the file with the hash of the pack from which a folder was unpacked."""
_FILTERS = [
    {
        "id": lzma.FILTER_LZMA2,
        "dict_size": 16 << 20,
        "lc": 4,
        "lp": 0,
        "pb": 0,
        "mode": lzma.MODE_NORMAL,
        "nice_len": 273,
        "mf": lzma.MF_BT4,
        "depth": 512,
    }
]


def result_names() -> list[str]:
    """The names of all results that have a pack, those of the lab and those that are shipped."""
    return sorted({path.name.removesuffix(SUFFIX) for folder in _folders() for path in folder.glob(f"*{SUFFIX}")})


def result_runs(name: str) -> list[Path]:
    """The folders of a result's runs, sorted by name. UserError if the result does not exist or has no runs."""
    found = run_folders(name) if name in result_names() else []
    if not found:
        there = [other for other in result_names() if run_folders(other)]
        raise UserError(f"results/reference has no result `{name}` with runs: {hint(name, there)}")
    return found


def run_folders(name: str) -> list[Path]:
    """The folders of a result's runs, sorted by name; empty if the result has no runs."""
    return sorted(path.parent for path in unpacked(name).glob(f"runs/*/{MANIFEST}"))


def unpacked(name: str) -> Path:
    """The folder with the files of a result. Its files are unpacked first if that has not been done.

    The folder is in the lab. If the lab cannot be written, the folder is a temporary one, which is removed when the
    process ends. UserError if no pack has this name, or if the pack is damaged.
    """
    return unpacked_pack(find_pack(name), pages_folder(name))


def unpacked_pack(pack: Path, folder: Path) -> Path:
    """The folder, or a temporary one if it cannot be written, with the files of the pack; see `unpacked`."""
    key = sha256(_read(pack)).hexdigest()
    if _is_unpacked(folder, key):
        return folder
    if not _can_write(folder.parent):
        folder = _temporary() / folder.name
        if not _is_unpacked(folder, key):
            unpack(pack, folder)
        return folder
    with held(folder.parent / f".{folder.name}.lock", lambda: None):
        if not _is_unpacked(folder, key):
            with staging(folder) as partial:
                unpack(pack, partial)
    return folder


def unpack(pack: Path, folder: Path) -> None:
    """Write the files of a pack into the folder; last, the mark that the folder is complete. UserError if the pack is
    damaged."""
    content = _read(pack)
    for entry, data in _entries(pack, content):
        target = folder / entry
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _KEY).write_text(sha256(content).hexdigest(), encoding="ascii")


def pages_folder(name: str) -> Path:
    """The lab's folder for the files of a result, and for the pages that `s80lab reference show` writes."""
    return paths.BUILD / "reference" / name


def find_pack(name: str) -> Path:
    """The pack of a result. A pack in the lab comes before the shipped one of the same name.

    UserError if there is none.
    """
    for folder in _folders() if name == Path(name).name else []:
        if (pack := folder / f"{name}{SUFFIX}").is_file():
            return pack
    raise UserError(f"results/reference has no result `{name}`: {hint(name, result_names())}")


def write_pack(folder: Path, target: Path) -> None:
    """Write all regular files of the folder as a pack, except the mark of an unpacked folder."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()):
            if name != _KEY:
                data = (folder / name).read_bytes()
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    write_file(target, lzma.compress(content.getvalue(), check=lzma.CHECK_CRC64, filters=_FILTERS))


def _folders() -> list[Path]:
    """The folders of packs: the lab's, then the shipped one. In a checkout, both are the same."""
    return list(dict.fromkeys((paths.own(paths.REFERENCE), paths.REFERENCE)))


def _is_unpacked(folder: Path, key: str) -> bool:
    mark = folder / _KEY
    return mark.is_file() and mark.read_text(encoding="ascii") == key


def _read(pack: Path) -> bytes:
    return read_regular(pack, LARGEST, REMEDY)


def _entries(pack: Path, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file of a pack. UserError if the pack is damaged."""
    try:
        decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        data = decoder.decompress(content, LARGEST)
        if not decoder.eof or decoder.unused_data:
            raise EOFError("it has another length than the file that s80lab wrote")
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for entry in archive:
                path = PurePosixPath(entry.name)
                if not entry.isreg() or path.is_absolute() or ".." in path.parts:
                    raise UserError(
                        f"{short_path(pack)}: contains {entry.name!r}, which is not a file of a result; {REMEDY}"
                    )
                file = archive.extractfile(entry)
                assert file is not None
                yield entry.name, file.read()
    except (lzma.LZMAError, EOFError, tarfile.TarError) as error:
        raise UserError(f"{short_path(pack)}: is damaged ({error}); {REMEDY}") from None


def _can_write(folder: Path) -> bool:
    """Whether files can be made in the folder, or the folder itself, and whether the system has file locks."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        file_locks()
    except UserError:
        return False
    return os.access(there, os.W_OK | os.X_OK) and stat.S_ISDIR(there.stat().st_mode)


@cache
def _temporary() -> Path:
    """A folder that is removed when the process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    return Path(stack.enter_context(TemporaryDirectory(prefix="s80lab-reference-")))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Where functions of the program lie in the guest's memory, before the program runs.

The guest maps files directly from the image in its memory (DAX). So the physical address of an instruction follows
from its place in the file and the file's place in the image. It is the same for position-independent programs, for
libraries, and for all processes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from s80lab.analysis.misses.debug_files import DebugFiles
from s80lab.base.errors import UserError
from s80lab.base.programs import system_environment
from s80lab.exec.libraries import is_elf
from s80lab.exec.shape import RANGE_AT
from s80lab.exec.tree import Tree, real_path
from s80lab.guest.kernel.elf import Elf, Symbol

DUMP = "dump.erofs"
LIMIT_S = 60
_FIRST, _SECOND, _PRODUCT = "first", "second", "product"
ALLOCATORS = {
    **dict.fromkeys(("malloc", "valloc", "pvalloc"), _FIRST),
    **dict.fromkeys(("realloc", "aligned_alloc", "memalign"), _SECOND),
    "calloc": _PRODUCT,
    # operator new and new[] of C++, with alignment, and without exceptions.
    **{f"_Zn{kind}m{rest}": _FIRST for kind in "wa" for rest in ("", "RKSt9nothrow_t", "St11align_val_t")},
}
"""Functions that give memory, and the argument that has the number of bytes. posix_memalign stores its result elsewhere
and is left out."""
_EXTENT = re.compile(r"^\s*\d+:\s+(\d+)\.\.\s*(\d+)\s*\|\s*\d+\s*:\s*(\d+)\.\.", re.MULTILINE)


def entry(option: str, name: str, tree: Tree, image: Path) -> int:
    """The physical address of the first instruction of a function.

    option: the option that names the function, for messages. name: `function`, or `file:function` for a function of a
    library. UserError: no file has the function, or several have.
    """
    file, _, function = name.rpartition(":")
    found = sorted(set(_places(file, function, tree)))
    if not found:
        where = (
            f"{file}: no file of the program's has this name, or the file" if file else "the program and its libraries"
        )
        raise UserError(
            f"{option} {name}: {where} have no function {function}: the compiler may have inlined it (gcc: "
            "__attribute__((noinline))), or the symbols were removed (strip)"
        )
    if len(found) > 1:
        places = ", ".join(f"{path} at {address:#x}" for path, _, address in found)
        raise UserError(f"{option} {name}: several functions have this name ({places}): name one as FILE:FUNCTION")
    path, offset, _ = found[0]
    return RANGE_AT + _position(image, path, offset)


def allocator(tree: Tree, image: Path) -> Iterator[str]:
    """The functions of the program's allocators, as the plugin reads them: their physical addresses, and where a call
    has the number of bytes (docs/reference/interfaces/plugin-arguments.md)."""
    for path, host in tree.files.items():
        if not is_elf(host):
            continue
        elf = Elf(host)
        found = {(one.address, one.size): ALLOCATORS[one.name] for one in _functions(elf) if one.name in ALLOCATORS}
        for (address, size), where in sorted(found.items()):
            offset = elf.offset(address)
            if offset is not None and size:
                begin = RANGE_AT + _position(image, path, offset)
                yield f"{begin:x} {begin + size:x} {where}"


def _places(file: str, function: str, tree: Tree) -> Iterator[tuple[str, int, int]]:
    """Path, place in the file, and linked address of each function of the name: of the program alone if it has it."""
    program = tree.links.get(tree.command[0], tree.command[0])
    names = [program, *(path for path in tree.files if path != program)]
    for path in names:
        host = tree.files.get(path)
        if host is None or (file and PurePosixPath(path).name != file) or not is_elf(host):
            continue
        elf = Elf(host)
        found = {one.address for one in _functions(elf) if one.name == function and one.address}
        places = [(path, offset, address) for address in found if (offset := elf.offset(address)) is not None]
        yield from places
        if places and path == program:
            return


def _functions(elf: Elf) -> list[Symbol]:
    debug = DebugFiles().find(elf.build_id)
    return [*elf.functions(), *(Elf(debug).functions() if debug is not None else ())]


def _position(image: Path, path: str, offset: int) -> int:
    """The place in the image of a byte of a file, by its extents."""
    command = [DUMP, "-e", f"--path={real_path(path)}", str(image)]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", env=system_environment(), timeout=LIMIT_S
    )
    for first, end, begin in (map(int, match.groups()) for match in _EXTENT.finditer(done.stdout)):
        if first <= offset < end:
            return begin + offset - first
    raise UserError(
        f"{DUMP} does not tell where {path} lies in the guest's image: {done.stderr.strip() or 'no extents'}"
    )

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
from s80lab.analysis.misses.variables import MANGLED, demangled
from s80lab.base.errors import UserError
from s80lab.base.programs import system_environment
from s80lab.exec.libraries import is_elf
from s80lab.exec.shape import RANGE_AT
from s80lab.exec.tree import Tree
from s80lab.guest.kernel.elf import Elf, Symbol

DUMP = "dump.erofs"
LIMIT_S = 60
_FIRST, _SECOND, _THIRD, _PRODUCT = "first", "second", "third", "product"
ALLOCATORS = {
    **dict.fromkeys(("malloc", "valloc", "pvalloc"), _FIRST),
    **dict.fromkeys(("realloc", "aligned_alloc", "memalign", "mmap", "mmap64"), _SECOND),
    "calloc": _PRODUCT,
    "posix_memalign": _THIRD,
    # operator new and new[] of C++, with alignment, and without exceptions.
    **{f"_Zn{kind}m{rest}": _FIRST for kind in "wa" for rest in ("", "RKSt9nothrow_t", "St11align_val_t")},
}
"""Functions that give memory, and the argument that has the number of bytes."""
# FILE:FUNCTION or FUNCTION; `ns::function` has no file.
_NAME = re.compile(r"(?:([^:]+):(?!:))?(.*)", re.DOTALL)
_WORD = re.compile(r"\w+")
_EXTENT = re.compile(r"^\s*\d+:\s+(\d+)\.\.\s*(\d+)\s*\|\s*\d+\s*:\s*(\d+)\.\.", re.MULTILINE)


def entry(option: str, name: str, tree: Tree, image: Path) -> int:
    """The physical address of the first instruction of a function. Arguments and errors: see `find_function`."""
    path, offset = find_function(option, name, tree)
    return RANGE_AT + _position(image, tree.real(path), offset)


def find_function(option: str, name: str, tree: Tree) -> tuple[str, int]:
    """The file that has a function, and the place in the file of its first instruction.

    option: the option that names the function, for messages. name: `FUNCTION` or `FILE:FUNCTION`. FUNCTION is a symbol,
    a name of C++ or Rust as the report prints it, or the linked address of a function, `+0x1139`. UserError: no file
    has the function, or several have.
    """
    file, function = _NAME.fullmatch(name).groups("")  # type: ignore[union-attr]
    found = sorted(set(_places(file, function, tree)))
    if len(found) == 1:
        path, offset, _ = found[0]
        return path, offset
    if found:
        places = ", ".join(f"{path} at {address:#x}" for path, _, address in found)
        raise UserError(
            f"{option} {name}: several functions have this name ({places}): name one with its file and address, "
            f"{PurePosixPath(found[0][0]).name}:+{found[0][2]:#x}"
        )
    if file and not any(PurePosixPath(path).name == file for path in tree.readable):
        raise UserError(f"{option} {name}: no file of the program has the name {file}: name one of its files")
    where = f"{file} has" if file else "the program and its libraries have"
    functions = (one.name for _, elf in _elves_by_path(file, tree) for one in _functions(elf))
    clones = sorted({one for one in functions if one.startswith(f"{function}.") and not one.endswith(".cold")})
    if clones:
        raise UserError(f"{option} {name}: {where} only forms of it that the compiler made: name {' or '.join(clones)}")
    if tree.root is not None and tree.root.is_file():
        raise UserError(
            f"{option} {name}: the guest unpacks the archive {tree.root.name}, so the place of a function in its "
            "memory is not known before: unpack the archive (tar -xf) and give its folder to --rootfs, or use --markers"
        )
    raise UserError(
        f"{option} {name}: {where} no function {function}: the compiler may have inlined it (gcc: "
        "__attribute__((noinline))), or the symbols were removed (strip)"
    )


def allocator(tree: Tree, image: Path) -> Iterator[str]:
    """The functions of the program's allocators, as the plugin reads them: their physical addresses, and where a call
    has the number of bytes (docs/reference/interfaces/plugin-arguments.md)."""
    for path, host in tree.readable.items():
        if not is_elf(host):
            continue
        elf = Elf(host)
        found = {one.address: ALLOCATORS[one.name] for one in _functions(elf) if one.name in ALLOCATORS}
        for address, where in sorted(found.items()):
            offset = elf.offset(address)
            if offset is not None:
                yield f"{RANGE_AT + _position(image, tree.real(path), offset):x} {where}"


def _places(file: str, function: str, tree: Tree) -> Iterator[tuple[str, int, int]]:
    """Path, place in the file, and linked address of each function of the name: of the program alone if it has it."""
    program = tree.links.get(tree.command[0], tree.command[0])
    for path, elf in _elves_by_path(file, tree, program):
        places = [(path, offset, at) for at in _addresses(elf, function) if (offset := elf.offset(at)) is not None]
        yield from places
        if places and path == program:
            return


def _elves_by_path(file: str, tree: Tree, first: str = "") -> Iterator[tuple[str, Elf]]:
    """The ELF files with a name, or all of them."""
    for path in sorted(tree.readable, key=lambda path: path != first):
        if (not file or PurePosixPath(path).name == file) and is_elf(tree.readable[path]):
            yield path, Elf(tree.readable[path])


def _addresses(elf: Elf, function: str) -> set[int]:
    """The linked addresses of the functions with this name, or at this address."""
    functions = [one for one in _functions(elf) if one.address]
    if function.startswith("+0x"):
        address = int(function, 16)
        return {address} & ({one.address for one in functions} | {begin for begin, _ in elf.unwound()})
    if found := {one.address for one in functions if one.name == function}:
        return found
    words = _WORD.findall(function.partition("(")[0].partition("<")[0])
    near = [one for one in functions if words and one.name.startswith(MANGLED) and words[-1] in one.name]
    plain = demangled([one.name for one in near])
    return {one.address for one in near if function in _forms(plain.get(one.name, ""))}


def _forms(name: str) -> tuple[str, str]:
    """A name of C++ with and without its parameters."""
    return name, name.partition("(")[0]


def _functions(elf: Elf) -> list[Symbol]:
    debug = DebugFiles().find(elf.build_id)
    return [*elf.functions(), *(Elf(debug).functions() if debug is not None else ())]


def _position(image: Path, path: str, offset: int) -> int:
    """The place in the image of a byte of a file, by its extents. path: without links."""
    command = [DUMP, "-e", f"--path={path}", str(image)]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", env=system_environment(), timeout=LIMIT_S
    )
    for first, end, begin in (map(int, match.groups()) for match in _EXTENT.finditer(done.stdout)):
        if first <= offset < end:
            return begin + offset - first
    raise UserError(
        f"{DUMP} does not tell where {path} lies in the guest's image: {done.stderr.strip() or 'no extents'}"
    )

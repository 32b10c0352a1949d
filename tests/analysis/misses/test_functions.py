# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of functions: from ELF symbols; without a symbol, the file and the function's first address."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.analysis.misses.debug_files import DebugFiles
from s80lab.analysis.misses.functions import UNNAMED, Functions, file_of, program
from s80lab.analysis.misses.memory import FileMapping
from s80lab.base import paths
from s80lab.guest.kernel.elf import Elf
from s80lab.guest.kernel.facts import load_kernel
from s80lab.guest.kernel.symbols import Symbols
from s80lab.image.cpio import Entry, read_archive, write_archive

IMAGE = paths.BUILD / "image" / "debian"
SOURCE = """
static __attribute__((noinline, noclone)) int hidden(int x) { return x * 3 + 1; }
__attribute__((visibility("default"), noinline)) int shown(int x) { return hidden(x) + hidden(x + 1); }
"""


@pytest.fixture
def library(tmp_path: Path) -> Elf:
    """A shared library with an exported function and a static one, with its symbols."""
    (tmp_path / "library.c").write_text(SOURCE)
    command = [
        "gcc",
        "-g",
        "-O1",
        "-Wl,--build-id",
        "-fPIC",
        "-shared",
        "-fvisibility=hidden",
        "-o",
        "library.so",
        "library.c",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    return Elf(tmp_path / "library.so")


def stripped(library: Elf) -> Elf:
    subprocess.run(["strip", library.path.name], cwd=library.path.parent, check=True)
    return Elf(library.path)


def functions_of(path: Path, debug: Path) -> Functions:
    """Of a guest whose process 1 has mapped the library `/lib/library.so` at address 0."""
    archive = path.with_name("image.cpio")
    write_archive([Entry("lib/library.so", 0o100755, path.read_bytes())], archive)
    files = {1: [FileMapping(0, 1 << 20, 0, "/lib/library.so")]}
    return Functions(Symbols([]), files, archive, path.parent / "none", DebugFiles([debug]))


def test_function_without_a_symbol_has_no_invented_name(library: Elf) -> None:
    addresses = {function.name: function.address for function in library.functions()}
    hidden, shown = addresses["hidden"], addresses["shown"]
    whole = program(library, library)
    assert whole.function(hidden + 1) == (hidden, "hidden") and whole.function(shown + 1) == (shown, "shown")
    short = stripped(library)
    assert short.stripped() and not library.stripped()
    functions = program(short, short)
    assert functions.function(shown) == functions.function(shown + 2) == (shown, "shown")
    assert functions.function(hidden) == functions.function(hidden + 2) == (hidden, "")


def test_address_outside_all_functions_has_no_name(library: Elf) -> None:
    functions = program(library, library)
    assert functions.function(library.sections[".text"].address + (1 << 20)) == (
        library.sections[".text"].address + (1 << 20),
        "",
    )
    assert functions.function(1) == (1, "")


def test_names_come_from_the_debug_file_with_the_build_id(library: Elf, tmp_path: Path) -> None:
    hidden = next(function.address for function in library.functions() if function.name == "hidden")
    debug = tmp_path / "debug"
    place = debug / ".build-id" / library.build_id[:2] / f"{library.build_id[2:]}.debug"
    place.parent.mkdir(parents=True)
    subprocess.run(["objcopy", "--only-keep-debug", library.path, place], check=True)
    short = stripped(library)
    assert functions_of(short.path, debug).name(1, hidden + 2) == "library.so: hidden"
    place.rename(place.with_name("0.debug"))  # of another build
    assert functions_of(short.path, debug).name(1, hidden + 2) == f"library.so+{hidden:#x}"


def test_file_of_a_name() -> None:
    assert file_of("libc.so.6: malloc") == file_of("libc.so.6+0x9ae40") == file_of("libc.so.6") == "libc.so.6"
    assert file_of("libstdc++.so.6: std::terminate()") == "libstdc++.so.6"


def test_stripped_project_programs_have_function_names(lab: Lab) -> None:
    """They are stripped in the image; what was built has the names."""
    del lab
    binary = Elf(paths.BUILD / "bin" / "s80-loadgen")
    main = next(function for function in binary.functions() if function.name == "main")
    files = {1: [FileMapping(0x40_0000, 0x90_0000, 0, "/usr/bin/s80-loadgen")]}
    functions = Functions(load_kernel(IMAGE).symbols, files, IMAGE / "initramfs.cpio", paths.BUILD / "bin")
    assert functions.name(1, main.address + 4) == "s80-loadgen: main"


def test_threads_see_their_own_mappings(lab: Lab) -> None:
    """The same function at two addresses; a kernel address is the same for all."""
    del lab
    content = next(e.data for e in read_archive(IMAGE / "initramfs.cpio") if e.path == "usr/lib/dovecot/imap")
    elf = Elf(Path("imap"), content)
    function = next(f for f in elf.functions() if f.name == "cmd_select")
    text = elf.sections[".text"]
    offset = function.address - text.address + text.offset
    page, inside = offset & ~4095, offset & 4095
    files = {
        7: [FileMapping(0x5000_0000, 0x5000_1000, page, "/usr/lib/dovecot/imap")],
        8: [FileMapping(0x6000_0000, 0x6000_1000, page, "/usr/lib/dovecot/imap")],
    }
    kernel = load_kernel(IMAGE)
    functions = Functions(kernel.symbols, files, IMAGE / "initramfs.cpio", paths.BUILD / "bin")
    assert functions.name(7, 0x5000_0000 + inside) == "imap: cmd_select"
    assert functions.name(8, 0x6000_0000 + inside + 1) == "imap: cmd_select"
    assert functions.name(8, 0x5000_0000 + inside) == "imap: cmd_select"  # process 7 had it translated
    assert functions.name(9, 0x7000_0000) == UNNAMED
    assert functions.name(9, kernel.symbols.address("do_idle") + 3) == "do_idle"
    assert functions.name(9, 0xFFFF_FFFF_C000_1000) == UNNAMED  # a module

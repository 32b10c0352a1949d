# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of functions: by ELF symbols, and by the unwinder's table where there are none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.analysis.misses.functions import UNNAMED, Functions, program
from s80lab.analysis.misses.memory import FileMapping
from s80lab.base import paths
from s80lab.guest.kernel.elf import Elf
from s80lab.guest.kernel.facts import load_kernel
from s80lab.image.cpio import read_archive

IMAGE = paths.BUILD / "image" / "debian"
SOURCE = """
static __attribute__((noinline, noclone)) int hidden(int x) { return x * 3 + 1; }
__attribute__((visibility("default"), noinline)) int shown(int x) { return hidden(x) + hidden(x + 1); }
"""


@pytest.fixture
def library(tmp_path: Path) -> Elf:
    """A shared library with an exported function and a static one, with its symbols."""
    (tmp_path / "library.c").write_text(SOURCE)
    command = ["gcc", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-o", "library.so", "library.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    return Elf(tmp_path / "library.so")


def stripped(library: Elf) -> Elf:
    subprocess.run(["strip", library.path.name], cwd=library.path.parent, check=True)
    return Elf(library.path)


def test_a_static_function_is_named_after_the_exported_one_before_it(library: Elf) -> None:
    addresses = {function.name: function.address for function in library.functions()}
    hidden, shown = addresses["hidden"], addresses["shown"]
    whole = program(library)
    assert whole.at(hidden + 1) == "hidden" and whole.at(shown + 1) == "shown"
    short = stripped(library)
    assert short.stripped() and not library.stripped()
    functions = program(short)
    assert functions.at(shown) == functions.at(shown + 2) == "shown"
    assert functions.at(hidden) == functions.at(hidden + 2)
    before = f"shown~{hidden - shown:x}" if hidden > shown else functions.at(hidden)
    assert functions.at(hidden) == before != "shown"


def test_our_own_programs_have_all_their_names(lab: Lab) -> None:
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Variables and thread-local data in ELF files. Paths to the members at an offset of a type. The RAM of a guest in
QEMU's process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.btf import compiled_types

from s80lab.base.errors import UserError
from s80lab.guest.kernel.elf import Elf
from s80lab.guest.kernel.memory import ProcessRam
from s80lab.guest.kernel.types import Types

SOURCE = """
long counters[4];
__thread int depth = 3;
__thread char buffer[4096] __attribute__((aligned(128)));
int main(void) { return buffer[depth] + (int)counters[1]; }
"""


def compiled(folder: Path) -> Elf:
    (folder / "program.c").write_text(SOURCE)
    subprocess.run(["gcc", "-o", "program", "program.c"], cwd=folder, check=True)
    return Elf(folder / "program")


def test_objects_are_apart_from_thread_local_variables(tmp_path: Path) -> None:
    elf = compiled(tmp_path)
    assert [symbol.size for symbol in elf.objects() if symbol.name == "counters"] == [32]
    assert [(s.name, s.address, s.size) for s in elf.thread_locals()] == [("depth", 0, 4), ("buffer", 128, 4096)]


def test_thread_local_segment_has_size_and_alignment(tmp_path: Path) -> None:
    segment = compiled(tmp_path).thread_local_segment
    assert segment is not None and (segment.size, segment.alignment) == (128 + 4096, 128)
    subprocess.run(["gcc", "-shared", "-o", "none.so", "-x", "c", "/dev/null"], cwd=tmp_path, check=True)
    assert Elf(tmp_path / "none.so").thread_local_segment is None


def test_section_at_an_address_is_not_thread_local(tmp_path: Path) -> None:
    """.tbss takes no addresses: the sections behind it have the addresses that it states."""
    elf = compiled(tmp_path)
    thread_local = elf.sections[".tbss"]
    behind = [s for s in elf.sections.values() if not s.thread_local and 0 <= s.address - thread_local.address < 4096]
    assert behind and all(elf.section_at(section.address) == section.name for section in behind)


TYPES = """
union lock { int whole; short half; };
struct part { long count; union lock lock; char name[8]; };
union many { int a, b, c, d; };
struct outer {
    int flags;
    struct part parts[3];
    unsigned low : 4, high : 4;
    union { long wide; struct { int left; int right; }; };
    union many many;
    union { int e, f, g, h; int only[2]; };
};
struct outer variable;
"""


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> Types:
    return compiled_types(TYPES, tmp_path_factory.mktemp("types"))


@pytest.mark.parametrize(
    ("offset", "path"),
    [
        (0, "flags"),
        (3, "flags"),
        (4, ""),  # padding
        (8, "parts[0].count"),
        (32 + 7, "parts[1].count"),
        (16, "parts[0].lock.{whole|half}"),
        (18, "parts[0].lock.whole"),
        (20, "parts[0].name"),
        (27, "parts[0].name"),
        (28, "parts[0]"),  # padding of the element
        (80, "{low|high}"),
        (88, "{wide|left}"),
        (92, "{wide|right}"),
        (96, "many"),  # four members share the byte
        (100, ""),  # five members of a nameless part
        (104, "only[1]"),
        (108, ""),
        (4096, ""),
    ],
)
def test_path_at_an_offset(types: Types, offset: int, path: str) -> None:
    assert types.path_in("outer", offset) == path


def test_path_in_a_variable(types: Types) -> None:
    assert types.path_in_variable("variable", 32) == "parts[1].count"
    assert types.path_in_variable("no_such", 32) == ""
    assert types.has("outer") and not types.has("no_such")


# Maps the file privately, writes a word at 0x1000, says so, and waits for its input to end.
CHILD = """
import mmap, sys
with open(sys.argv[1], "r+b") as file:
    memory = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE)
memory[0x1000:0x1004] = b"new!"
print("written", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("folder", ["lab", "link"])
def test_process_ram_shows_writes_to_a_private_mapping(tmp_path: Path, folder: str) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "lab")
    file = tmp_path / folder / "ram.img"
    file.write_bytes(b"old." * 0x1000)
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        assert child.stdout.readline() == b"written\n"
        ram = ProcessRam(child.pid, file, low_ram=0x2000)
        assert ram.read(0x1000, 8) == b"new!old."
        assert ram.read(0xFFC, 4) == b"old."
        assert ram.read(0x2000, 4) == b""  # the hole
        assert ram.read((1 << 32) + 0x10, 4) == b"old."  # the file from 0x2000 on
        assert ram.read((1 << 32) + 0x2000, 4) == b""  # behind its end
        ram.close()
        child.stdin.close()
    assert file.read_bytes()[0x1000:0x1004] == b"old."


def test_process_ram_of_unknown_process_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read from the process of QEMU"):
        ProcessRam(1 << 30, tmp_path / "ram.img", 0)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Variables and thread-local data in ELF files."""

from __future__ import annotations

import subprocess
from pathlib import Path

from s80lab.guest.kernel.elf import Elf

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

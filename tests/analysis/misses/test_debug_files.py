# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug files, found by build ID, and their lines of the source."""

from __future__ import annotations

import subprocess
from pathlib import Path

from s80lab.analysis.misses.debug_files import ADDR2LINE, DebugFiles, own_lines, source_lines, state_now
from s80lab.guest.kernel.elf import Elf

SOURCE = """int first(int x) {
    return x * 3;
}
"""


def compiled(folder: Path) -> Elf:
    (folder / "src" / "code").mkdir(parents=True)
    (folder / "src" / "code" / "program.c").write_text(SOURCE)
    command = ["gcc", "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id", "src/code/program.c", "-o", "program.so"]
    subprocess.run(command, cwd=folder, check=True)
    return Elf(folder / "program.so")


def test_source_line_of_an_address(tmp_path: Path) -> None:
    elf = compiled(tmp_path)
    first = next(function.address for function in elf.functions() if function.name == "first")
    found = source_lines(elf.path, [first, 1])
    assert found[first] in ("src/code/program.c:1", "src/code/program.c:2")
    assert list(found) == [first]


def test_source_lines_of_a_stripped_file_are_unknown(tmp_path: Path) -> None:
    elf = compiled(tmp_path)
    first = next(function.address for function in elf.functions() if function.name == "first")
    subprocess.run(["strip", elf.path], check=True)
    assert source_lines(elf.path, [first]) == {}


def test_first_folder_with_the_build_id_wins(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for root, size in ((two, 3), (one, 2)):
        (root / ".build-id" / "ab").mkdir(parents=True)
        (root / ".build-id" / "ab" / "cdef.debug").write_bytes(bytes(size))
    files = DebugFiles([one, two])
    assert files.find("abcdef") == one / ".build-id" / "ab" / "cdef.debug"
    assert files.find("abcdee") is None and files.find("") is None
    assert {**files.state(), ADDR2LINE: ""} == {"abcdee": "", "abcdef": "2", ADDR2LINE: ""}


def test_kernel_is_found_by_version_and_build_id(tmp_path: Path) -> None:
    elf = compiled(tmp_path)
    (tmp_path / "boot").mkdir()
    kernel = tmp_path / "boot" / "vmlinux-6.1.0"
    elf.path.rename(kernel)
    files = DebugFiles([tmp_path])
    assert files.find_kernel("6.1.0", elf.build_id) == kernel
    assert files.find_kernel("6.1.0", "00ff") is None  # another build of this version
    assert files.find_kernel("6.1.1", elf.build_id) is None
    assert files.state()[f"{elf.build_id} 6.1.0"] == str(kernel.stat().st_size)
    assert state_now(files.state()).keys() == files.state().keys()


def test_own_lines_of_inlined_library_code_are_those_of_its_user(tmp_path: Path) -> None:
    source, program = tmp_path / "used.cpp", tmp_path / "used"
    source.write_text("#include <vector>\nint main(int n, char**) {\n    return std::vector<int>(n).size();\n}\n")
    subprocess.run(["g++", "-g", "-O2", "-fno-exceptions", "-o", program, source], check=True)
    (main,) = (one for one in Elf(program).functions() if one.name == "main")
    lines = set(own_lines(program, range(main.address, main.address + main.size)).values())
    assert {line.rpartition("/")[2].partition(":")[0] for line in lines} == {"used.cpp"}

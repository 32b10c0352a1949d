# SPDX-License-Identifier: GPL-2.0-or-later
"""The libraries that a program needs are those that the dynamic linker would load."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.exec.libraries import Libraries, Placed, read_program
from s80lab.exec.tree import Wanted, collect

MAIN = "int one(void); int main(void) { return one(); }"
ONE = "int two(void); int one(void) { return two(); }"
TWO = "int two(void) { return 2; }"


def _loaded(program: Path) -> set[str]:
    """The libraries that the dynamic linker itself names."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return {Path(path).name for path in re.findall(r"(/\S+) \(0x", listed)}


@pytest.mark.parametrize("program", ["/bin/ls", "/usr/bin/openssl", "/usr/bin/cmake", "/usr/bin/git"])
def test_closure_of_system_program_is_what_the_linker_loads(program: str) -> None:
    if not Path(program).is_file():
        pytest.skip(f"{program} is not installed")
    found = {Path(file.guest).name for file in Libraries().closure([Placed(Path(program), program)])}
    assert found - {"libgcc_s.so.1"} == _loaded(Path(program)) - {"libgcc_s.so.1"}


@pytest.mark.parametrize("tag", ["--enable-new-dtags", "--disable-new-dtags"])
def test_libraries_beside_the_program_are_placed_relative_to_it(
    tag: str, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    (tmp_path / "lib").mkdir()
    rpath = f"-Wl,-rpath,$ORIGIN,{tag}"
    compiled(TWO, "-shared", "-fPIC", name="lib/libtwo.so")
    compiled(ONE, "-shared", "-fPIC", f"-L{tmp_path}/lib", "-ltwo", rpath, name="lib/libone.so")
    main = compiled(MAIN, f"-L{tmp_path}/lib", "-lone", f"-Wl,-rpath-link,{tmp_path}/lib", "-Wl,-rpath,$ORIGIN/lib")
    tree = collect(Wanted([str(main)]))
    assert tree.command == ["/work/program"]
    assert tree.files["/work/lib/libone.so"] == tmp_path / "lib/libone.so"
    assert tree.files["/work/lib/libtwo.so"] == tmp_path / "lib/libtwo.so"


def test_missing_library_is_named_with_the_file_that_needs_it(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    compiled(TWO, "-shared", "-fPIC", name="libtwo.so")
    compiled(ONE, "-shared", "-fPIC", f"-L{tmp_path}", "-ltwo", name="libone.so")
    main = compiled(MAIN, f"-L{tmp_path}", "-lone", f"-Wl,-rpath-link,{tmp_path}", "-Wl,-rpath,$ORIGIN")
    with pytest.raises(UserError, match=r"libone\.so: the library libtwo\.so, which it needs, was not found"):
        collect(Wanted([str(main)]))


def test_static_program_needs_nothing(compiled: Callable[..., Path]) -> None:
    main = compiled("int main(void) { return 0; }", "-static")
    assert list(collect(Wanted([str(main)])).files) == ["/work/program"]


def test_program_for_another_processor_is_refused(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    content = bytearray(compiled("int main(void) { return 0; }").read_bytes())
    content[18:20] = (183).to_bytes(2, "little")  # e_machine: EM_AARCH64
    (tmp_path / "program").write_bytes(content)
    with pytest.raises(UserError, match=r"program: the program is for AARCH64 \(64 bits\), but the guest is x86-64"):
        collect(Wanted([str(tmp_path / "program")]))


def test_cut_off_program_is_refused_with_a_sentence(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    whole = compiled("int main(void) { return 0; }").read_bytes()
    for size in (*range(4, 200, 7), *range(200, len(whole), 997)):
        (tmp_path / "cut").write_bytes(whole[:size])
        try:
            read_program(tmp_path / "cut")
        except UserError as error:
            assert "cut" in str(error)


def test_script_brings_its_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh -e\nexit 0\n")
    script.chmod(0o755)
    files = collect(Wanted([str(script)])).files
    assert {"/work/script", "/bin/sh"} <= files.keys()
    assert any(path.endswith("libc.so.6") for path in files)


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        ("#!/no/such/interpreter", "its interpreter /no/such/interpreter does not exist"),
        ("#!", "names no interpreter"),
        ("#!/usr/bin/env no-such-program", "its interpreter no-such-program is not installed"),
        ("echo hello", "neither an ELF program nor a script"),
    ],
)
def test_script_without_interpreter_is_refused(first: str, problem: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"{first}\n")
    script.chmod(0o755)
    with pytest.raises(UserError, match=problem):
        collect(Wanted([str(script)]))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Code that a program compiles while it runs has the names that the program writes for perf."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from tests.exec.conftest import Exec

from s80lab.exec.compiled import keep_compiled, read_compiled

# Two threads execute `lock incq (%rdi); dec %rsi; jnz; ret`, each in a copy of its own.
PROGRAM = """
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static const unsigned char code[] = {0xf0, 0x48, 0xff, 0x07, 0x48, 0xff, 0xce, 0x75, 0xf7, 0xc3};
static long counters[2] __attribute__((aligned(64)));
static char* memory;
static void* run(void* p) {
    ((void (*)(long*, long))(memory + 256 * (long)p))(&counters[(long)p], 100000);
    return p;
}
int main(void) {
    memory = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 2; ++i) memcpy(memory + 256 * i, code, sizeof code);
    char name[64];
    snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
    FILE* map = fopen(name, "w");
    fprintf(map, "%lx %zx Lfirst;::count\\n%lx %zx second\\nno line\\n", (long)memory, sizeof code, (long)memory + 256,
            sizeof code);
    fclose(map);
    pthread_t t[2];
    for (long i = 0; i < 2; ++i) pthread_create(&t[i], 0, run, (void*)i);
    for (int i = 0; i < 2; ++i) pthread_join(t[i], 0);
    return 0;
}
"""


@pytest.mark.guest
def test_compiled_code_is_named(execute: Exec, compiled: Callable[..., Path], tmp_path: Path) -> None:
    compiled(PROGRAM, "-g", "-O2")
    ran = execute("--json", "report.json", "--", "./program")
    assert ran.code == 0, ran.stderr
    line = json.loads((tmp_path / "report.json").read_text())["contention"]["lines"][0]
    rows = {(one["data"], one["code"]) for one in line["accesses"] if one["loads"] + one["upgrades"] > 1000}
    assert rows == {("counters[0]", "compiled: Lfirst;::count"), ("counters[1]", "compiled: second")}


def test_map_of_another_form_is_left_out(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "files.tar", "w") as tar:
        for name, text in {
            "tmp/perf-12.map": b"10 8 one\n0x0000000000000020 0x0000000000000008 two words\n\xff\xff\n20 4 again\n",
            "tmp/perf-x.map": b"10 8 one\n",
            "elsewhere/perf-3.map": b"10 8 one\n",
            "../perf-4.map": b"10 8 one\n",
        }.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, BytesIO(text))
    (tmp_path / "run").mkdir()
    keep_compiled(tmp_path / "files.tar", tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["perf-12.map"]
    code = read_compiled(tmp_path / "run")[12]
    assert [code.name(at) for at in (0xF, 0x10, 0x17, 0x18, 0x20, 0x24)] == ["", "one", "one", "", "again", ""]


def test_missing_archive_has_no_compiled_code(tmp_path: Path) -> None:
    (tmp_path / "files.tar").write_bytes(b"")
    keep_compiled(tmp_path / "files.tar", tmp_path)
    assert read_compiled(tmp_path) == {}

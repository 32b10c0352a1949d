# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of data in the guest: fields, objects of the heap, thread-local data, in C and C++, programs and libraries."""

from __future__ import annotations

import json
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.exec.conftest import Exec

pytestmark = pytest.mark.guest

HEAP = """
#include <pthread.h>
#include <stdlib.h>
struct pair { long first, second; };
static void* add(void* p) {
    for (int i = 0; i < 100000; ++i) __atomic_fetch_add((long*)p, 1, __ATOMIC_RELAXED);
    return p;
}
static struct pair* make(void) {
    return calloc(1, sizeof(struct pair)); // here
}
int main(void) {
    pthread_t t[2];
    struct pair* pair = make();
    pthread_create(&t[0], 0, add, &pair->first);
    pthread_create(&t[1], 0, add, &pair->second);
    for (int i = 0; i < 2; ++i) pthread_join(t[i], 0);
    return 0;
}
"""
VECTOR = """
#include <atomic>
#include <thread>
#include <vector>
int main() {
    std::vector<std::atomic<long>> counters(2); // here
    std::thread other([&] { for (int n = 0; n < 100000; ++n) counters[0]++; });
    for (int n = 0; n < 100000; ++n) counters[1]++;
    other.join();
}
"""
# Allocators that return by a jump to another function, or by their first argument.
KINDS = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
enum { kinds = 6, bytes = 4096 };
static long* made[kinds];
static void* add(void* p) {
    for (int i = 0; i < 40000; ++i)
        for (int n = 0; n < kinds; ++n) __atomic_fetch_add(made[n] + (long)p, 1, __ATOMIC_RELAXED);
    return p;
}
int main(void) {
    pthread_t t[2];
    made[0] = aligned_alloc(64, bytes); // here
    if (posix_memalign((void**)&made[1], 64, bytes) != 0) return 1; // here
    made[2] = realloc(malloc(8), bytes); // here
    made[3] = realloc(getpid() == 0 ? made : NULL, bytes); // here
    made[4] = calloc(2, bytes); // here
    made[5] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // here
    for (long n = 0; n < 2; ++n) pthread_create(&t[n], 0, add, (void*)n);
    for (int n = 0; n < 2; ++n) pthread_join(t[n], 0);
    return 0;
}
"""
# Each thread reads what the other one writes: thread-local data of the program and of a library.
LOCALS = """
#include <pthread.h>
void* library_totals(void);
static _Thread_local struct { char name[24]; long hits; } own;
static long* volatile shared[2][2];
static void* add(void* p) {
    const long me = (long)p;
    shared[me][0] = &own.hits;
    shared[me][1] = (long*)library_totals() + 1;
    while (!shared[1 - me][0] || !shared[1 - me][1]) continue;
    for (int i = 0; i < 20000; ++i)
        for (int n = 0; n < 2; ++n) __atomic_fetch_add(shared[i & 1][n], 1, __ATOMIC_RELAXED);
    return p;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, add, (void*)1);
    add(0);
    pthread_join(other, 0);
    return 0;
}
"""
LOCAL_LIBRARY = """
static _Thread_local int first;
_Thread_local struct { _Alignas(64) long calls; long errors; } totals;
void* library_totals(void) { ++first; return &totals; }
"""
# Both threads use the first one's thread-local data of a library that dlopen loads: glibc's loader allocates them.
LOADED_LOCAL = """
_Thread_local struct { long hits, misses; } counters[64];
long* hits(void) { return &counters[3].hits; }
"""
LOADER = """
#include <dlfcn.h>
#include <pthread.h>
static long* shared;
static void* add(void* p) {
    for (int i = 0; i < 20000; ++i) __atomic_fetch_add(shared, 1, __ATOMIC_RELAXED);
    return p;
}
int main(void) {
    void* library = dlopen("./libloaded.so", RTLD_NOW);
    if (!library) return 1;
    shared = ((long* (*)(void))dlsym(library, "hits"))();
    pthread_t other;
    pthread_create(&other, 0, add, 0);
    add(0);
    pthread_join(other, 0);
    return 0;
}
"""
LIBRARY = """
#include <pthread.h>
struct { long calls; long errors; } shared_totals;
static void* add(void* p) {
    for (int i = 0; i < 100000; ++i) __atomic_fetch_add((long*)p, 1, __ATOMIC_RELAXED);
    return p;
}
void count(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, add, &shared_totals.calls);
    pthread_create(&t[1], 0, add, &shared_totals.errors);
    for (int i = 0; i < 2; ++i) pthread_join(t[i], 0);
}
"""
CALLER = "void count(void); int main(void) { count(); return 0; }"


def _top(ran: Exec, folder: Path) -> dict[str, Any]:
    """The line that moved most."""
    found: dict[str, Any] = json.loads((folder / "report.json").read_text())
    line: dict[str, Any] = found["contention"]["lines"][0]
    return line


def _line_of(source: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if "// here" in line)


def _data(line: dict[str, Any]) -> set[str]:
    return {access["data"] for access in line["accesses"] if access["loads"] + access["upgrades"] > 1000}


@pytest.mark.parametrize(("language", "source"), [("c", HEAP), ("c++", VECTOR)])
def test_heap_object_is_named_by_its_allocation_line(language: str, source: str, execute: Exec, tmp_path: Path) -> None:
    file = tmp_path / ("made.c" if language == "c" else "made.cpp")
    file.write_text(source)
    compiler = "gcc" if language == "c" else "g++"
    subprocess.run([compiler, "-g", "-O2", "-pthread", "-o", tmp_path / "made", file], check=True)
    assert execute("--json", "report.json", "./made").code == 0
    line = _top(execute, tmp_path)
    place = f"{file.name}:{_line_of(source)}"
    assert line["kind"] == "false sharing"
    assert {name.rpartition("/")[2] for name in _data(line)} == {place, f"{place}+0x8"}
    assert execute("--no-heap", "--json", "report.json", "./made").code == 0
    assert _data(_top(execute, tmp_path)) == {"[heap] of made"}


def test_object_of_any_allocation_function_is_named_by_its_line(execute: Exec, tmp_path: Path) -> None:
    (tmp_path / "kinds.c").write_text(KINDS)
    subprocess.run(["gcc", "-g", "-O1", "-pthread", "-o", tmp_path / "kinds", tmp_path / "kinds.c"], check=True)
    assert execute("--json", "report.json", "./kinds").code == 0
    lines = json.loads((tmp_path / "report.json").read_text())["contention"]["lines"]
    named = {access["declared"].rpartition("/")[2] for line in lines[:6] for access in line["accesses"]}
    marked = [number for number, line in enumerate(KINDS.splitlines(), 1) if "// here" in line]
    assert {f"kinds.c:{number}" for number in marked} <= named


def test_fields_of_a_shared_library_are_named(execute: Exec, compiled: Callable[..., Path], tmp_path: Path) -> None:
    compiled(LIBRARY, "-g", "-O2", "-shared", "-fPIC", name="libcount.so")
    compiled(CALLER, f"-L{tmp_path}", "-lcount", f"-Wl,-rpath,{tmp_path}", name="caller")
    assert execute("--json", "report.json", "./caller").code == 0
    line = _top(execute, tmp_path)
    assert _data(line) == {"shared_totals.calls", "shared_totals.errors"}
    assert {access["code"] for access in line["accesses"] if access["loads"] > 1000} == {"libcount.so: add"}


def test_thread_local_fields_are_named(execute: Exec, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """Of the main thread and of another one, in the program and in a library."""
    compiled(LOCAL_LIBRARY, "-g", "-O2", "-shared", "-fPIC", name="liblocal.so")
    compiled(LOCALS, "-g", "-O2", f"-L{tmp_path}", "-llocal", f"-Wl,-rpath,{tmp_path}", name="locals")
    assert execute("--json", "report.json", "./locals").code == 0
    lines = json.loads((tmp_path / "report.json").read_text())["contention"]["lines"]
    named = [_data(line) for line in lines if _data(line)]
    assert set().union(*named) == {"own.hits (thread-local)", "totals.errors (thread-local)"}
    assert len(named) >= 2


def test_thread_local_fields_of_a_loaded_library_are_named(
    execute: Exec, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    compiled(LOADED_LOCAL, "-g", "-O2", "-shared", "-fPIC", name="libloaded.so")
    compiled(LOADER, "-g", "-O2", name="loader")
    assert execute("--json", "report.json", "--add", "libloaded.so", "./loader").code == 0
    assert _data(_top(execute, tmp_path)) == {"counters[3].hits (thread-local)"}


def test_program_of_an_archive_has_names(execute: Exec, tmp_path: Path) -> None:
    """The last member with a name counts; a hard link has the content of its target."""
    source = LIBRARY + CALLER
    for name, text in (("old", "int main(void) { return 1; }"), ("total", source)):
        command = ["gcc", "-g", "-O1", "-static", "-pthread", "-x", "c", "-", "-o", str(tmp_path / name)]
        subprocess.run(command, input=text, text=True, check=True)
    with tarfile.open(tmp_path / "root.tar", "w") as tar:
        tar.add(tmp_path / "old", "bin/total")
        tar.add(tmp_path / "total", "./bin/first")
        for name, target in (("bin/total", "./bin/first"), ("etc/lost", "no/such")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.LNKTYPE if name == "bin/total" else tarfile.SYMTYPE, target
            tar.addfile(link)
        tar.add(tmp_path / "old", "../../bin/up")
    ran = execute("--rootfs", "root.tar", "--json", "report.json", "--", "/bin/total")
    assert ran.code == 0, ran.stderr
    line = _top(execute, tmp_path)
    assert _data(line) == {"shared_totals.calls", "shared_totals.errors"}
    assert {access["code"].partition(": ")[2] for access in line["accesses"] if access["loads"] > 1000} == {"add"}
    assert not (execute.result() / "boot-1-seed-1" / "programs").exists()


def test_program_of_a_root_folder_has_names(execute: Exec, tmp_path: Path) -> None:
    """Its functions, fields and boundaries are found in the folder, also if the guest searches the program."""
    program = tmp_path / "root" / "bin" / "total"
    program.parent.mkdir(parents=True)
    source = LIBRARY + CALLER
    subprocess.run(
        ["gcc", "-g", "-O1", "-static", "-pthread", "-x", "c", "-", "-o", program], input=source, text=True, check=True
    )
    ran = execute("--rootfs", "root", "--from", "count", "--json", "report.json", "--", "total")
    assert ran.code == 0, ran.stderr
    line = _top(execute, tmp_path)
    assert _data(line) == {"shared_totals.calls", "shared_totals.errors"}
    assert {access["code"] for access in line["accesses"] if access["loads"] > 1000} == {"total: add"}

# SPDX-License-Identifier: GPL-2.0-or-later
"""A region between the entries of two functions is the region between markers at the same places."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.exec.conftest import Exec

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.exec.functions import find_function
from s80lab.exec.tree import Wanted, collect

# The first instruction of each function is a marker.
POINTS = """
#include "s80lab.h"
#define POINT(name, marker) __attribute__((naked, noinline)) LOCAL void name(void) { marker(); __asm__("ret"); }
POINT(work_begins, S80LAB_BEGIN)
POINT(work_ends, S80LAB_END)
void call_begin(void) { work_begins(); }
void call_end(void) { work_ends(); }
"""
MAIN = """
#include <pthread.h>
void call_begin(void);
void call_end(void);
static long counter;
static void* add(void* p) {
    for (int i = 0; i < 3000; ++i) __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
    return p;
}
int main(void) {
    for (int n = 0; n < 3; ++n) {
        pthread_t t[2];
        call_begin();
        for (int i = 0; i < 2; ++i) pthread_create(&t[i], 0, add, 0);
        for (int i = 0; i < 2; ++i) pthread_join(t[i], 0);
        call_end();
    }
    return 0;
}
"""
# A compiler may put an instruction for indirect branches in front of the marker.
PLAIN = ("-O2", "-fcf-protection=none", f"-I{paths.ROOT / 'workloads/exec'}")
REGIONS = 3


@pytest.mark.guest
@pytest.mark.parametrize(
    ("kind", "linkage"), [("static", ""), ("position-independent", "static"), ("library", ""), ("library", "static")]
)
def test_region_of_functions_has_the_counts_of_markers(
    kind: str, linkage: str, execute: Exec, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    source = POINTS.replace("LOCAL", linkage)
    file = ""
    if kind == "library":
        compiled(source, *PLAIN, "-shared", "-fPIC", name="libpoints.so")
        compiled(MAIN, "-O2", f"-L{tmp_path}", "-lpoints", "-Wl,-rpath,$ORIGIN", name="program")
        file = "libpoints.so:"
    else:
        (tmp_path / "points.c").write_text(source)
        options = ("-static",) if kind == "static" else ("-fPIE", "-pie")
        compiled(MAIN, *PLAIN, *options, str(tmp_path / "points.c"), name="program")
    marked = _snapshots(execute, "--markers")
    assert marked == _snapshots(execute, "--from", f"{file}work_begins", "--to", f"{file}work_ends")
    assert marked.count(b'"measure_begin"') == REGIONS


@pytest.mark.guest
def test_markers_count_in_the_measured_run_and_with_the_option_alone(
    execute: Exec, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "points.c").write_text(POINTS.replace("LOCAL", "static"))
    compiled(MAIN, *PLAIN, str(tmp_path / "points.c"), name="program")
    assert _snapshots(execute).count(b'"measure_begin"') == 1
    assert _snapshots(execute, "--markers", "--warmup", "1").count(b'"measure_begin"') == REGIONS


def _snapshots(execute: Exec, *options: str) -> bytes:
    ran = execute("--no-misses", *options, "--", "./program")
    assert ran.code == 0, ran.stderr
    return (execute.result() / "boot-1-seed-1" / "snapshots.jsonl").read_bytes()


TWICE = '__attribute__((noinline)) int twice(int x) { __asm__(""); return x; } int NAME(int x) { return twice(x); }'
CALLER = """
__attribute__((always_inline)) static inline int inlined(int x) { return x + 1; }
__attribute__((noinline)) static int changed(int x) { __asm__ volatile("" : "+r"(x)); return x; }
int one(int), two(int);
int main(int c, char** v) { (void)v; return one(c) + two(c) + inlined(c) + changed(7); }
"""


@pytest.fixture
def caller(compiled: Callable[..., Path], tmp_path: Path) -> Path:
    """A program with two libraries that have a function of the same name."""
    for name in ("one", "two"):
        compiled(TWICE.replace("NAME", name), "-O2", "-shared", "-fPIC", name=f"lib{name}.so")
    return compiled(CALLER, "-O2", f"-L{tmp_path}", "-lone", "-ltwo", "-Wl,-rpath,$ORIGIN")


def test_function_of_two_libraries_is_refused_and_found_with_its_file(caller: Path) -> None:
    tree = collect(Wanted([str(caller)]))
    with pytest.raises(UserError, match=r"^--from twice: several functions have this name \(.*libone.so at 0x.*libtwo"):
        find_function("--from", "twice", tree)
    (one, place), (two, _) = (find_function("--from", f"lib{name}.so:twice", tree) for name in ("one", "two"))
    assert (one, two) == ("/work/libone.so", "/work/libtwo.so")
    assert find_function("--per", f"libone.so:+{place:#x}", tree) == (one, place)  # both begin at 0 of the file


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("inlined", "the program and its libraries have no function inlined: the compiler may have inlined it"),
        ("libone.so:inlined", "libone.so has no function inlined: the compiler may have inlined it"),
        ("libnone.so:twice", "no file of the program has the name libnone.so"),
        ("changed", "the program and its libraries have only forms of it that the compiler made: name changed"),
        ("program:+0x1", "program has no function +0x1"),
    ],
)
def test_absent_function_is_refused(name: str, sentence: str, caller: Path) -> None:
    with pytest.raises(UserError) as caught:
        find_function("--to", name, collect(Wanted([str(caller)])))
    assert str(caught.value).startswith(f"--to {name}: {sentence}")


CPP = """
namespace ns {
struct queue { void push(int); template <class T> T pop(T); };
[[gnu::noinline]] void queue::push(int) { asm(""); }
template <class T> [[gnu::noinline]] T queue::pop(T x) { asm(""); return x; }
}
int main() { ns::queue q; q.push(1); return q.pop(0) + int(q.pop(0L)); }
"""


def test_function_of_cpp_is_found_by_its_name_in_the_source(tmp_path: Path) -> None:
    subprocess.run(["g++", "-O1", "-x", "c++", "-", "-o", tmp_path / "program"], input=CPP, text=True, check=True)
    tree = collect(Wanted([str(tmp_path / "program")]))
    push = find_function("--per", "_ZN2ns5queue4pushEi", tree)
    assert find_function("--per", "ns::queue::push", tree) == push
    assert find_function("--per", "program:ns::queue::push(int)", tree) == push
    both = "int ns::queue::pop<int>(int)", "long ns::queue::pop<long>(long)"
    assert len({find_function("--per", name, tree) for name in both}) == 2

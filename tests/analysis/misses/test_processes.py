# SPDX-License-Identifier: GPL-2.0-or-later
"""Mappings of processes by time, from lines written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from s80lab.analysis.misses.processes import AnonymousMapping, FileMapping, Processes, read_processes
from s80lab.base.errors import UserError


def line(ns: int, event: str, tgid: int = 7, pid: int | None = None, comm: str = "prog", **values: object) -> str:
    return json.dumps({"ns": ns, "event": event, "tgid": tgid, "pid": pid or tgid, "comm": comm, **values})


def file(ns: int, begin: int, end: int, path: str = "/bin/prog", offset: int = 0, **values: object) -> str:
    area = {"begin": begin, "end": end, "offset": offset, "flags": "r-xp", "path": path, "inode": 3}
    return line(ns, "mmap", **{**area, **values})  # type: ignore[arg-type]


def memory(ns: int, begin: int, end: int, name: str = "[anon]", **values: object) -> str:
    area = {"begin": begin, "end": end, "offset": 0, "flags": "rw-p", "name": name}
    return line(ns, "mmap", **{**area, **values})  # type: ignore[arg-type]


def fork(ns: int, tgid: int, parent: int = 7, pid: int | None = None, thread: bool = False, stack: int = 0) -> str:
    return line(ns, "fork", tgid, pid, parent=parent, thread=thread, stack=stack)


def read(folder: Path, *lines: str) -> Processes:
    path = folder / "mappings.jsonl"
    path.write_text("".join(f"{each}\n" for each in lines))
    return read_processes(path)


def name(processes: Processes, address: int, ns: int, tgid: int = 7) -> str:
    match processes.mapping(tgid, address, ns):
        case FileMapping() as found:
            return f"{found.path}+{found.offset_of(address):#x}"
        case AnonymousMapping() as found:
            return found.name
    return ""


def test_later_mapping_replaces_what_it_overlaps(tmp_path: Path) -> None:
    found = read(tmp_path, file(10, 0x1000, 0x5000), file(20, 0x2000, 0x3000, "/lib/a.so", 0x8000))
    assert name(found, 0x2800, 9) == ""
    assert name(found, 0x2800, 10) == "/bin/prog+0x1800"
    assert name(found, 0x2800, 20) == "/lib/a.so+0x8800"
    assert [name(found, at, 99) for at in (0xFFF, 0x1000, 0x1FFF, 0x3000, 0x5000)] == [
        *("", "/bin/prog+0x0", "/bin/prog+0xfff", "/bin/prog+0x2000", ""),
    ]


def test_fork_copies_the_mappings_and_exec_removes_them(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        file(10, 0x1000, 0x2000),
        fork(20, 8),
        memory(30, 0x1000, 0x2000),
        memory(30, 0x8000, 0x9000, tgid=8),
        line(40, "exec", 8),
        line(40, "comm", 8, comm="other"),
        file(50, 0x4000, 0x5000, "/bin/other", tgid=8),
        line(60, "exit", 8, status=256),
    )
    assert name(found, 0x1000, 35) == "[anon]"
    assert name(found, 0x1000, 35, 8) == "/bin/prog+0x0"
    assert [name(found, 0x1000, ns, 8) for ns in (39, 40, 99)] == ["/bin/prog+0x0", "", ""]
    assert [name(found, 0x8000, ns, 8) for ns in (39, 40)] == ["[anon]", ""]
    assert name(found, 0x4000, 50, 8) == "/bin/other+0x0"
    (child,) = found.by_tgid[8]
    assert (child.parent, child.began, child.ended, child.status) == (7, 20, 60, 256)
    assert child.names == [(20, "prog"), (40, "other")] and child.name == "other"


def test_number_given_again_is_another_process(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        fork(10, 8),
        file(20, 0x1000, 0x2000, tgid=8),
        line(30, "exit", 8, status=0),
        fork(40, 8, parent=9),
        memory(50, 0x1000, 0x2000, "[heap]", tgid=8),
    )
    assert [name(found, 0x1000, ns, 8) for ns in (25, 35, 45, 55)] == ["/bin/prog+0x0", "/bin/prog+0x0", "", "[heap]"]


def test_thread_stack_has_the_thread_as_name(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        memory(10, 0x4000, 0x8000),
        memory(10, 0x7F0000, 0x800000, "[stack]"),
        fork(20, 7, pid=9, thread=True, stack=0x7F80),
        fork(25, 7, pid=11, thread=True, stack=0x7F8000),
        memory(30, 0x4000, 0xA000),
        line(40, "exit", 7, pid=9, status=0),
        fork(50, 7, pid=12, thread=True, stack=0x7F80),
    )
    assert [name(found, 0x5000, ns) for ns in (10, 20, 30, 50)] == ["[anon]", "[stack:9]", "[stack:9]", "[stack:12]"]
    assert name(found, 0x9000, 30) == "[anon]", "the kernel joined new memory to the stack"
    assert name(found, 0x7F8000, 99) == "[stack]"
    assert found.by_tgid[7][0].ended is None


def test_time_never_runs_backwards_within_a_process(tmp_path: Path) -> None:
    found = read(tmp_path, file(20, 0x1000, 0x2000), memory(15, 0x1000, 0x2000))
    assert [name(found, 0x1000, ns) for ns in (19, 20)] == ["", "[anon]"]


def test_code_may_have_the_address_of_another_process(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        file(10, 0x1000, 0x2000, "/lib/a.so"),
        memory(10, 0x8000, 0x9000),
        fork(20, 8),
        line(30, "exec", 8),
        file(40, 0x5000, 0x6000, "/lib/a.so", tgid=8),
        line(50, "exec", 7),
    )
    code = [found.code(8, pc, 60) for pc in (0x5000, 0x1000, 0x8000)]
    assert [each and each.begin for each in code] == [0x5000, 0x1000, None]


def test_unknown_process_has_no_mappings(tmp_path: Path) -> None:
    assert read(tmp_path).mapping(7, 0x1000, 5) is None


def test_bytes_of_names_are_utf_8(tmp_path: Path) -> None:
    found = read(tmp_path, file(1, 0x1000, 0x2000, "/bin/\u00c3\u00a4"))
    assert name(found, 0x1000, 1) == "/bin/\u00e4+0x0"


@pytest.mark.parametrize(
    "damaged",
    [
        "{",
        line(1, "unmap"),
        line(-1, "exec"),
        file(1, 0x2000, 0x1000),
        memory(1, 0x1000, 0x2000, path="/bin/prog"),
        memory(1, 0x1000, 0x2000, flags="rwx"),
        line(1, "exit"),
        file(1, 0x1000, 0x2000, "\u20ac"),
    ],
)
def test_damaged_line_is_refused(tmp_path: Path, damaged: str) -> None:
    with pytest.raises(UserError, match=r"mappings.jsonl: line 2 cannot be read \(.+\); execute the program again"):
        read(tmp_path, file(1, 0x1000, 0x2000), damaged)


def made(ns: int, begin: int, size: int, caller: int, tgid: int = 7) -> str:
    return json.dumps({"ns": ns, "event": "object", "tgid": tgid, "begin": begin, "size": size, "caller": caller})


def test_latest_object_at_an_address_counts(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        memory(1, 0x1000, 0x9000, "[heap]"),
        *(made(10, 0x1000, 0x1000, 1), made(20, 0x1800, 0x20, 2), made(20, 0x1800, 0x20, 3), made(30, 0x1000, 0x10, 4)),
        fork(40, 8),
        *(made(50, 0x1000, 0x10, 5, tgid=8), line(60, "exec", 7)),
    )

    def caller(address: int, ns: int, tgid: int = 7) -> int | None:
        process = found.process(tgid, ns)
        at = process.allocated(address, ns) if process else None
        return at.caller if at else None

    parent = [caller(address, ns) for address, ns in ((0x1FFF, 45), (0x2000, 45), (0x1800, 45), (0x1800, 19))]
    assert parent == [None, None, None, None]  # exec has removed them, earlier times included
    child = [caller(at, 55, 8) for at in (0x1FFF, 0x2000, 0x1810, 0x1820, 0x100F, 0x1010)]
    assert child == [1, None, 3, 1, 5, 1]
    assert caller(0x1000, 45, 8) == 4


def test_object_of_an_unknown_process_is_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, made(10, 0x1000, 16, 1, tgid=99)).process(99, 20) is None

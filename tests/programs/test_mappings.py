# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes and mappings of a guest, and sums of a region without an end (workloads/programs/processes.c)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.lab import Lab
from tests.programs.program import PROGRAMS, execute

from s80lab.analysis.misses.processes import AnonymousMapping, FileMapping, Processes, read_processes
from s80lab.analysis.misses.sums import Sums, read_sums
from s80lab.base.errors import UserError
from s80lab.config.experiment import DEFAULT_SERVER
from s80lab.guest.kernel.elf import Elf
from s80lab.guest.kernel.facts import load_kernel
from s80lab.image.build import image_folder
from s80lab.results.snapshots import Snapshots

pytestmark = pytest.mark.guest
LIBRARIES = (Path("/lib/x86_64-linux-gnu/libc.so.6"), Path("/lib64/ld-linux-x86-64.so.2"))
LAST = 10**18


@dataclass(frozen=True)
class Ran:
    """What the program printed (address and pid by name), and what the plugin wrote."""

    folder: Path
    printed: dict[str, tuple[int, int]]
    processes: Processes
    sums: Sums

    def name(self, what: str, ns: int = LAST) -> str:
        address, pid = self.printed[what]
        found = self.processes.mapping(pid, address, ns)
        assert isinstance(found, AnonymousMapping)
        return found.name

    def file(self, what: str) -> FileMapping:
        address, pid = self.printed[what]
        found = self.processes.mapping(pid, address, LAST)
        assert isinstance(found, FileMapping) and found.begin <= address < found.end
        return found


def kernel_file() -> Path:
    return load_kernel(image_folder("debian", DEFAULT_SERVER)).plugin_file


@pytest.fixture(scope="module")
def ran(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("mappings")
    plugin = {"sums": folder / "sums.bin", "mappings": folder / "mappings.jsonl", "kernel": kernel_file()}
    events = execute(folder, ["processes"], ["/processes\n"], plugin=plugin, libraries=LIBRARIES)
    printed = {event["of"]: (event["at"], event["pid"]) for event in events if event["event"] == "address"}
    return Ran(folder, printed, read_processes(folder / "mappings.jsonl"), read_sums(folder / "sums.bin"))


def test_memory_without_a_file_is_named(ran: Ran) -> None:
    assert {what: ran.name(what) for what in ("heap", "stack", "moved")} == {
        "heap": "[heap]",
        "stack": "[stack]",
        "moved": "[anon]",
    }
    process = ran.processes.by_tgid[ran.printed["main"][1]][0]
    stack = ran.name("thread")
    tid = int(stack.removeprefix("[stack:").removesuffix("]"))
    assert tid > process.tgid
    assert tid in {who.pid for who in ran.sums.whos if who.tgid == process.tgid}


def test_files_have_paths_and_offsets(ran: Ran) -> None:
    program, library = ran.file("main"), ran.file("library")
    assert (program.path, program.flags) == ("/processes", "r-xp")
    assert library.path == str(LIBRARIES[0])
    text = Elf(PROGRAMS / "processes").sections[".text"]
    assert text.offset <= program.offset_of(ran.printed["main"][0]) < text.offset + text.size


def test_child_has_the_parents_memory_until_exec(ran: Ran) -> None:
    (address, pid), (_, parent) = ran.printed["child"], ran.printed["main"]
    (child,) = ran.processes.by_tgid[pid]
    assert (child.parent, child.status) == (parent, 7 << 8)
    executed = next(ns for ns, _ in child.names[1:])
    assert ran.name("inherited", executed - 10**5) == "[anon]"
    assert ran.name("child", executed - 10**5) == "[anon]"
    assert child.mapping(address, LAST) is None
    assert ran.processes.mapping(parent, address, LAST) != ran.processes.mapping(pid, address, executed - 10**5)


def test_missed_addresses_of_the_program_are_mapped(ran: Ran) -> None:
    records, labels = ran.sums.records, ran.sums.labels
    user = records["context"] % len(labels["entry"]) == labels["entry"].index("user")
    data = np.isin(records["kind"], [labels["kind"].index(kind) for kind in ("load", "store")])
    known = [
        ran.processes.mapping(int(tgid), int(row["address"]), int(row["first_ns"])) is not None
        for tgid, row in zip(ran.sums.tgid[user & data], records[user & data], strict=True)
    ]
    code = [
        ran.processes.code(int(tgid), int(row["pc"]), int(row["first_ns"])) is not None
        for tgid, row in zip(ran.sums.tgid[user], records[user], strict=True)
    ]
    assert len(known) > 100 and all(known)
    assert len(code) > 100 and all(code)


def test_region_without_an_end_ends_with_qemu(ran: Ran) -> None:
    assert (ran.sums.complete, ran.sums.regions) == (False, 1)
    snapshots = Snapshots.read(ran.folder / "snapshots.jsonl")
    begin, end = (next(line for line in snapshots.lines if line.mark == mark) for mark in ("measure_begin", "exit"))
    region = snapshots.delta(begin, end)
    assert ran.sums.total == region.total("l2_misses") + region.total("upgrades") > 0
    assert not (ran.folder / "sums.bin.partial").exists()


def test_kernel_without_a_function_is_refused(lab: Lab, tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.txt"
    lines = kernel_file().read_text().splitlines(keepends=True)
    kernel.write_text("".join(line for line in lines if "perf_event_mmap" not in line))
    with pytest.raises(
        UserError, match=r"the kernel has no symbol perf_event_mmap, which the plugin argument mappings"
    ):
        execute(tmp_path, [], [], plugin={"mappings": tmp_path / "mappings.jsonl", "kernel": kernel})
    assert not (tmp_path / "mappings.jsonl").exists()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Symbols and layouts of the image's own kernel, against what its ELF file says elsewhere. The kernel's ELF file, out
of Debian's vmlinuz."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.guest.kernel.elf import Elf
from s80lab.guest.kernel.facts import Kernel, load_kernel
from s80lab.guest.kernel.symbols import from_text, read_symbols
from s80lab.image.bzimage import unpack_kernel

IMAGE = paths.BUILD / "image" / "debian"


@pytest.fixture(scope="module")
def kernel(lab: Lab) -> Kernel:
    del lab  # it has built the image
    return load_kernel(IMAGE)


@pytest.fixture(scope="module")
def elf(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Elf:
    del lab
    target = tmp_path_factory.mktemp("kernel") / "vmlinux"
    unpack_kernel(IMAGE / "vmlinuz", target)
    return Elf(target)


def test_kernel_symbols_agree_with_the_exported_symbols(kernel: Kernel, elf: Elf) -> None:
    """__ksymtab has, apart from kallsyms, (value, name, name space) of each exported symbol, relative to itself."""
    names, exported = elf.sections["__ksymtab_strings"], 0
    strings = elf.section("__ksymtab_strings")
    for section in ("__ksymtab", "__ksymtab_gpl"):
        begin = elf.sections[section].address
        for i, (value, name, _) in enumerate(struct.iter_unpack("<iii", elf.section(section))):
            here = begin + 12 * i
            at = here + 4 + name - names.address
            text = strings[at : strings.index(b"\0", at)].decode()
            address = here + value
            # Per-CPU symbols are exported by their offset, in 32 bits.
            assert kernel.symbols.address(text) & 0xFFFF_FFFF == address & 0xFFFF_FFFF, text
            exported += 1
    assert exported > 5000


def test_entry_points_hold_the_instructions_that_they_must(kernel: Kernel, elf: Elf) -> None:
    text = elf.sections[".text"]
    entry = kernel.symbols.address("entry_SYSCALL_64") - text.address
    assert b"\x0f\x01\xf8" in elf.section(".text")[entry : entry + 8]  # swapgs
    # __switch_to stores the per-CPU current_task: mov %reg, %gs:offset.
    switch = kernel.symbols.address("__switch_to") - text.address
    store = struct.pack("<I", kernel.symbols.address("current_task"))
    assert store in elf.section(".text")[switch : switch + 0x400]


def test_layouts_are_those_of_the_kernels_own_first_task(kernel: Kernel, elf: Elf) -> None:
    """init_task lies in .data, and its fields have values that everybody knows."""
    types, data = kernel.types, elf.sections[".data"]
    begin = kernel.symbols.address("init_task") - data.address
    task = elf.section(".data")[begin : begin + types.size("task_struct")]
    comm = types.field("task_struct.comm")
    assert comm.size == comm.count == 16
    assert task[comm.offset : comm.offset + 16].rstrip(b"\0") == b"swapper"
    assert struct.unpack_from("<I", task, types.offset("task_struct.flags"))[0] & 0x0020_0000  # PF_KTHREAD
    (stack,) = struct.unpack_from("<Q", task, types.offset("task_struct.stack"))
    assert stack == kernel.symbols.address("init_stack")
    assert types.target(types.field("task_struct.mm")) == "mm_struct"


def test_types_tell_arrays_nameless_parts_and_enumerators(kernel: Kernel) -> None:
    types = kernel.types
    events = types.field("vm_event_state.event")
    assert events.count == types.enumerators("vm_event_item")["NR_VM_EVENT_ITEMS"] and events.stride == 8
    assert types.size("page") == 64
    assert "mapping" in types.members("page")  # in a union without a name
    assert types.variable("runqueues.nr_switches") == types.field("rq.nr_switches")
    assert types.enumeration_with("TIMER_SOFTIRQ")["TIMER_SOFTIRQ"] == 1
    for wrong in ("task_struct.no_such", "no_such.comm"):
        with pytest.raises(UserError, match="no_such"):
            types.field(wrong)


def test_build_id_is_found_behind_other_notes(kernel: Kernel, elf: Elf) -> None:
    assert elf.section(".notes")[12:16] == b"Xen\0"
    assert kernel.build_id == elf.build_id and len(bytes.fromhex(kernel.build_id)) == 20


def test_address_is_named_by_the_symbol_before_it(kernel: Kernel) -> None:
    symbols = kernel.symbols
    assert (found := symbols.find(symbols.address("do_idle") + 5)) is not None
    assert (found[0].name, found[1]) == ("do_idle", 5)
    assert (found := symbols.per_cpu_at(symbols.address("irq_stat") + 8)) is not None
    assert (found[0].name, found[1]) == ("irq_stat", 8)
    assert symbols.find(0) is None
    again = from_text(symbols.text().splitlines())
    assert again.all == symbols.all


def test_plugin_file_has_one_value_per_line(kernel: Kernel) -> None:
    lines = [line.split(" ") for line in kernel.plugin_file.read_text().splitlines()]
    assert all(len(line) == 2 for line in lines)
    values = dict(lines)
    assert len(values) == len(lines)
    assert values["kernel_version"] == kernel.version
    assert int(values["per_cpu.current_task"], 16) == kernel.symbols.address("current_task")
    assert int(values["task_struct.comm"]) == kernel.types.offset("task_struct.comm")
    for name in (
        "entry_SYSCALL_64",
        "asm_exc_page_fault",
        "asm_sysvec_apic_timer_interrupt",
        "__do_softirq",
        "do_idle",
    ):
        assert int(values[f"symbol.{name}"], 16) == kernel.symbols.address(name)
    begin, end = (int(values[f"memcpy.{side}"], 16) for side in ("begin", "end"))
    assert begin == kernel.symbols.address("memcpy") < end < begin + 4096
    assert (last := kernel.symbols.find(end - 1)) is not None and "memcpy" in last[0].name


def test_system_calls_have_the_numbers_of_the_hosts_headers(kernel: Kernel) -> None:
    """x86-64's numbers are an ABI."""
    for number, name in ((0, "read"), (1, "write"), (8, "lseek"), (44, "sendto"), (232, "epoll_wait"), (257, "openat")):
        assert kernel.system_calls[number] == name
    assert len(kernel.system_calls) > 330


def test_kernel_without_symbol_table_is_refused(elf: Elf) -> None:
    """The base of the offsets, which stands before the names, is where the search begins."""
    text = struct.pack("<Q", 0xFFFF_FFFF_8100_0000)
    other = Elf(Path("other"), elf.content[:].replace(text, bytes(8)))
    with pytest.raises(UserError, match=r"other: the kernel contains no symbol table \(kallsyms\)"):
        read_symbols(other)


def test_file_that_is_not_elf_is_refused() -> None:
    with pytest.raises(UserError, match="is not a 64-bit little-endian ELF file"):
        Elf(Path("other"), b"#!/bin/sh\n")
    with pytest.raises(UserError, match="truncated"):
        Elf(Path("other"), b"\x7fELF\x02\x01".ljust(64, b"\xff"))


def test_debians_kernel_unpacks_to_elf(lab: Lab, tmp_path: Path) -> None:
    del lab  # it has built the image
    target = tmp_path / "vmlinux"
    unpack_kernel(paths.BUILD / "image" / "debian" / "vmlinuz", target)
    elf = target.read_bytes()
    assert elf[:4] == b"\x7fELF" and struct.unpack_from("<H", elf, 18) == (62,)  # x86-64
    # Where Linux is linked to lie in physical memory (CONFIG_PHYSICAL_START): gem5 loads it there.
    entry, headers = struct.unpack_from("<QQ", elf, 24)
    assert entry == 0x100_0000 and struct.unpack_from("<I", elf, headers) == (1,)


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (lambda image: b"\0" * 2048, "is not an x86 kernel"),
        (lambda image: image[:0x300], "is not packed with LZ4"),
        (lambda image: image[: len(image) // 2], "is damaged|is not an ELF file"),
    ],
)
def test_file_that_is_not_a_kernel_image_is_refused(lab: Lab, tmp_path: Path, change: object, refusal: str) -> None:
    del lab
    assert callable(change)
    other = tmp_path / "other"
    other.write_bytes(change((paths.BUILD / "image" / "debian" / "vmlinuz").read_bytes()))
    with pytest.raises(UserError, match=refusal):
        unpack_kernel(other, tmp_path / "vmlinux")
    assert not (tmp_path / "vmlinux").exists()

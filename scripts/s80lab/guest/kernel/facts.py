# SPDX-License-Identifier: GPL-2.0-or-later
"""Symbols (kallsyms) and structure layouts (BTF) of the guest's kernel, and the file of those that the plugin reads
(docs/reference/interfaces/guest-kernel.md).

Both are read from the image's kernel, so they always match the guest. They are read once for each kernel and stored
next to the image, in a folder named after the kernel's hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.staging import staging
from s80lab.guest.kernel.elf import Elf
from s80lab.guest.kernel.symbols import Symbols, from_text, read_symbols, system_calls
from s80lab.guest.kernel.types import Types
from s80lab.image.build import load_image
from s80lab.image.bzimage import unpack_kernel

FIELDS = ("comm", "pid", "tgid", "flags", "mm", "stack")
# For the mappings of processes; a kernel that lacks one can be used without them.
MAPPINGS = (
    *("task_struct.exit_code", "task_struct.thread.sp", "task_struct.thread.fsbase", "fork_frame.regs", "pt_regs.sp"),
    *(f"vm_area_struct.vm_{name}" for name in ("start", "end", "mm", "flags", "pgoff", "file", "ops", "private_data")),
    *("mm_struct.start_stack", "mm_struct.start_brk", "mm_struct.brk", "vm_special_mapping.name"),
    *("file.f_path", "file.f_inode", "inode.i_ino", "path.mnt", "path.dentry"),
    *("dentry.d_parent", "dentry.d_name", "qstr.name"),
    *("mount.mnt", "mount.mnt_parent", "mount.mnt_mountpoint", "vfsmount.mnt_root"),
)
PER_CPU = ("current_task", "cpu_number", "this_cpu_off")
# Entries of the kernel and where they return, task switches, soft interrupts, idling; and where the per-CPU areas are.
PLUGIN_SYMBOLS = re.compile(
    r"entry_SYSCALL_64.*|entry_SYSRETQ_.*|entry_INT80.*|entry_SYSENTER.*|asm_exc_\w+|asm_sysvec_\w+|asm_common_interrupt"
    r"|asm_spurious_interrupt|asm_load_gs_index|irq_entries_start|spurious_entries_start|common_interrupt_return"
    r"|error_entry|error_return|paranoid_entry|paranoid_exit|swapgs_restore_regs_and_return_to_usermode"
    r"|restore_regs_and_return_to_kernel|native_iret|native_irq_return_iret|(sysvec|exc)_\w+|common_interrupt"
    r"|__switch_to|__switch_to_asm|finish_task_switch.*|schedule_tail|ret_from_fork|ret_from_fork_asm|do_syscall_64"
    r"|irq_enter_rcu|irq_exit_rcu|__irq_exit_rcu|__do_softirq|handle_softirqs|do_softirq|do_softirq\.part\.0|run_ksoftirqd"
    r"|__local_bh_enable_ip|__softirqentry_text_(start|end)|__(irq)?entry_text_(start|end)|asm_call_on_stack|call_on_stack"
    r"|do_idle|cpu_startup_entry|default_idle|default_idle_call|arch_cpu_idle|cpu_idle_poll.*|cpuidle_enter|cpuidle_enter_state"
    r"|__per_cpu_offset|__per_cpu_(start|end|load)|init_task|init_top_pgt|_text|_etext|_stext|_end|begin_new_exec|__set_task_comm"
    r"|perf_event_(mmap|fork|exec|comm|exit_task)|copy_vma|special_mapping_vmops"
)
# A processor without `rep movs` of bytes takes another form of it, which lies no further away than this.
NEAR = 4096
COPIES = re.compile(r"(__)?memcpy(_erms|_orig)?")


def kernel_text(version: str, symbols: Symbols, types: Types) -> str:
    """The content of the file."""
    return "".join(f"{line}\n" for line in _lines(version, symbols, types))


def _lines(version: str, symbols: Symbols, types: Types) -> Iterator[str]:
    yield f"kernel_version {version}"
    for name in PER_CPU:
        yield f"per_cpu.{name} {symbols.address(name):#x}"
    yield f"per_cpu.end {symbols.per_cpu_end:#x}"
    for name in FIELDS:
        yield f"task_struct.{name} {types.offset(f'task_struct.{name}')}"
    for path in MAPPINGS:
        with suppress(UserError):
            yield f"{path} {types.offset(path)}"
    begin = symbols.address("memcpy")
    last = max(s.address for s in symbols.placed if COPIES.fullmatch(s.name) and begin <= s.address < begin + NEAR)
    yield f"memcpy.begin {begin:#x}"
    yield f"memcpy.end {min(s.address for s in symbols.placed if s.address > last):#x}"
    yield from sorted({f"symbol.{s.name} {s.address:#x}" for s in symbols.placed if PLUGIN_SYMBOLS.fullmatch(s.name)})


SYMBOLS, TYPES, CALLS, PLUGIN_FILE = "symbols.txt", "types.btf", "calls.txt", "kernel.txt"
BUILD_ID = "build-id.txt"
# Raise when what is kept of a kernel changes.
FORMAT = 7


@dataclass(frozen=True)
class Kernel:
    """The kernel of one image. folder: the folder with the extracted files."""

    version: str
    folder: Path

    @property
    def plugin_file(self) -> Path:
        """The file about the kernel that the plugin reads (docs/reference/interfaces/guest-kernel.md)."""
        return self.folder / PLUGIN_FILE

    @cached_property
    def symbols(self) -> Symbols:
        with (self.folder / SYMBOLS).open() as lines:
            return from_text(lines)

    @cached_property
    def types(self) -> Types:
        return Types((self.folder / TYPES).read_bytes())

    @cached_property
    def build_id(self) -> str:
        """The build ID of the kernel; empty if the kernel has none."""
        return (self.folder / BUILD_ID).read_text().strip()

    @cached_property
    def system_calls(self) -> list[str]:
        """Names of the system calls by number."""
        return (self.folder / CALLS).read_text().splitlines()


def load_kernel(image: Path) -> Kernel:
    """The kernel of a built image. UserError: the kernel cannot be read."""
    manifest = load_image(image)
    folder = image.parent / f"kernel-{FORMAT}-{manifest.vmlinuz_sha256[:16]}"
    if not folder.is_dir():
        with staging(folder) as partial:
            _read(image / "vmlinuz", manifest.kernel_version, partial)
    return Kernel(manifest.kernel_version, folder)


def _read(vmlinuz: Path, version: str, folder: Path) -> None:
    unpacked = folder / "vmlinux"
    unpack_kernel(vmlinuz, unpacked)
    elf = Elf(unpacked)
    unpacked.unlink()  # 50 MB, and nothing else of it is needed
    symbols = read_symbols(elf)
    btf = elf.section(".BTF")
    (folder / SYMBOLS).write_text(symbols.text())
    (folder / TYPES).write_bytes(btf)
    (folder / BUILD_ID).write_text(f"{elf.build_id}\n")
    (folder / CALLS).write_text("".join(f"{name}\n" for name in system_calls(elf, symbols)))
    (folder / PLUGIN_FILE).write_text(kernel_text(version, symbols, Types(btf)))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Symbols (kallsyms) and structure layouts (BTF) of the guest's kernel.

Both are read from the image's kernel, so they always match the guest. They are read once for each kernel and stored
next to the image, in a folder named after the kernel's hash.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from s80lab.base.staging import staging
from s80lab.guest.kernel.elf import Elf
from s80lab.guest.kernel.plugin_file import kernel_text
from s80lab.guest.kernel.symbols import Symbols, from_text, read_symbols, system_calls
from s80lab.guest.kernel.types import Types
from s80lab.guest.kernel.unpack import unpack_kernel
from s80lab.image.build import load_image

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
        """The file about the kernel that the plugin reads (docs/reference/interfaces/kernel-layout.md)."""
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the setup header of an x86 kernel file, a bzImage (Linux, Documentation/arch/x86/boot.rst). Each function
takes the file's content. `release` and `payload` require content for which `is_bzimage` holds.

The payload is an ELF file, which gem5 boots and from which the kernel's symbols are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import lz4.block  # type: ignore[import-untyped]

from s80lab.base.errors import UserError

_SETUP_SECTORS, _BEGIN, _MAGIC, _VERSION, _PAYLOAD_OFFSET, _PAYLOAD_LENGTH = 0x1F1, 0x200, 0x202, 0x20E, 0x248, 0x24C
_SECTOR = 512


def is_bzimage(content: bytes) -> bool:
    return len(content) >= _PAYLOAD_LENGTH + 4 and content[_MAGIC : _MAGIC + 4] == b"HdrS"


def release(content: bytes) -> str:
    """The text that `uname -r` prints under this kernel."""
    begin = _BEGIN + int.from_bytes(content[_VERSION : _VERSION + 2], "little")
    return content[begin : content.index(b"\0", begin)].decode("ascii", "replace").split()[0]


def payload(content: bytes) -> bytes:
    """The packed kernel."""
    begin = (content[_SETUP_SECTORS] + 1) * _SECTOR + _u32(content, _PAYLOAD_OFFSET)
    return content[begin : begin + _u32(content, _PAYLOAD_LENGTH)]


def _u32(content: bytes, at: int) -> int:
    return int.from_bytes(content[at : at + 4], "little")


# LZ4's legacy frame: this word, then blocks that unpack to 8 MiB at most, each behind its packed size.
_LZ4_LEGACY = 0x184C2102
_BLOCK = 8 << 20
_ELF = b"\x7fELF"


def unpack_kernel(vmlinuz: Path, target: Path) -> None:
    """Write the ELF file. UserError: the vmlinuz is not packed with LZ4, which Debian uses."""
    image = vmlinuz.read_bytes()
    if not is_bzimage(image):
        raise UserError(f"{vmlinuz}: is not an x86 kernel (bzImage)")
    packed = payload(image)
    if len(packed) < 8 or _u32(packed, 0) != _LZ4_LEGACY:
        raise UserError(
            f"{vmlinuz}: the kernel in this file is not packed with LZ4, as Debian's kernels are, so s80lab "
            "cannot unpack it; use a kernel that is packed with LZ4"
        )
    try:
        elf = b"".join(_blocks(packed))
    except lz4.block.LZ4BlockError as error:
        raise UserError(
            f"{vmlinuz}: the packed kernel in this file is damaged ({error}); build the image again"
        ) from None
    if not elf.startswith(_ELF):
        raise UserError(f"{vmlinuz}: the unpacked kernel is not an ELF file")
    partial = target.with_name(target.name + ".partial")
    partial.write_bytes(elf)
    partial.rename(target)


def _blocks(packed: bytes) -> Iterator[bytes]:
    # The last word of the payload is the size of the whole, unpacked.
    at, end = 4, len(packed) - 4
    while at < end:
        size = _u32(packed, at)
        yield lz4.block.decompress(packed[at + 4 : at + 4 + size], uncompressed_size=_BLOCK)
        at += 4 + size

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the setup header of an x86 kernel file, a bzImage (Linux, Documentation/arch/x86/boot.rst). Each function
takes the file's content. `release` and `payload` require content for which `is_bzimage` holds."""

from __future__ import annotations

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

# SPDX-License-Identifier: GPL-2.0-or-later
"""The ELF file of the kernel, out of Debian's vmlinuz."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.image.bzimage import unpack_kernel


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
def test_another_file_is_refused(lab: Lab, tmp_path: Path, change: object, refusal: str) -> None:
    del lab
    assert callable(change)
    other = tmp_path / "other"
    other.write_bytes(change((paths.BUILD / "image" / "debian" / "vmlinuz").read_bytes()))
    with pytest.raises(UserError, match=refusal):
        unpack_kernel(other, tmp_path / "vmlinux")
    assert not (tmp_path / "vmlinux").exists()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel of an image of Buildroot's programs: Debian's, so that two guests differ in their programs alone, or the
one that Buildroot has compiled where its options ask for it (configs/kernel.fragment)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.strict import shown
from s80lab.image.buildroot.tree import TREE
from s80lab.image.contents import SUITE, kernel
from s80lab.image.files import read_lines
from s80lab.image.packages import unpack

OPTION = "BR2_LINUX_KERNEL=y"
FRAGMENT = TREE / "configs" / "kernel.fragment"
# Linux, Documentation/x86/boot.rst: the header's magic, and where the release's text is, from 0x200 on.
_MAGIC, _VERSION, _BEGIN = 0x202, 0x20E, 0x200


@dataclass(frozen=True)
class GuestKernel:
    """image: a bzImage named `vmlinuz-RELEASE`; modules: the root that its modules lie under; versions: those of
    Debian's packages that it came in."""

    image: Path
    modules: Path
    versions: dict[str, str]


def guest_kernel(out: Path, work: Path, progress: Callable[[str], None]) -> GuestKernel:
    """Of the image that Buildroot's output folder `out` is to become. UserError where it is to have a kernel of its own
    and has none."""
    if OPTION in (out / ".config").read_text().splitlines():
        built = out / "images" / "bzImage"
        named = work / f"vmlinuz-{release(built)}"
        shutil.copyfile(built, named)
        return GuestKernel(named, out / "target", {})
    progress(f"image: unpacking the kernel of Debian {SUITE}")
    debian = unpack(read_lines(TREE / "packages.txt"), SUITE, work / "root")
    versions = {name: version for name, version in debian.versions.items() if name.startswith("linux-image-")}
    return GuestKernel(kernel(debian.root), debian.root, versions)


def release(image: Path) -> str:
    """What `uname -r` says under this kernel. UserError where the file is none for x86."""
    content = image.read_bytes() if image.is_file() else b""
    if content[_MAGIC : _MAGIC + 4] != b"HdrS":
        raise UserError(f"{image} is no kernel for x86: with {OPTION} take the options of {shown(FRAGMENT)}")
    begin = _BEGIN + int.from_bytes(content[_VERSION : _VERSION + 2], "little")
    return content[begin : content.index(b"\0", begin)].decode("ascii", "replace").split()[0]

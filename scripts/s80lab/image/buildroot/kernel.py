# SPDX-License-Identifier: GPL-2.0-or-later
"""Selects the kernel of an image made with Buildroot. It is Debian's kernel, so that two guests differ in their
programs only, or a kernel compiled by Buildroot if Buildroot's options ask for one (configs/kernel.fragment)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.strict import shown
from s80lab.image.buildroot.tree import TREE
from s80lab.image.bzimage import is_bzimage, release
from s80lab.image.contents import SUITE, kernel
from s80lab.image.files import read_lines
from s80lab.image.packages import unpack

OPTION = "BR2_LINUX_KERNEL=y"
FRAGMENT = TREE / "configs" / "kernel.fragment"


@dataclass(frozen=True)
class GuestKernel:
    """image: a bzImage named `vmlinuz-RELEASE`. modules: the root that contains its modules. versions: versions of the
    Debian packages that contained the kernel."""

    image: Path
    modules: Path
    versions: dict[str, str]


def guest_kernel(out: Path, work: Path, progress: Callable[[str], None]) -> GuestKernel:
    """The kernel for the image that Buildroot's output folder `out` becomes. UserError: the configuration asks for a
    kernel of its own, and Buildroot has built none."""
    if OPTION in (out / ".config").read_text().splitlines():
        built = out / "images" / "bzImage"
        content = built.read_bytes() if built.is_file() else b""
        if not is_bzimage(content):
            raise UserError(
                f"{built} is missing or not an x86 kernel: if your options contain {OPTION}, also use those of "
                f"{shown(FRAGMENT)}"
            )
        named = work / f"vmlinuz-{release(content)}"
        named.write_bytes(content)
        return GuestKernel(named, out / "target", {})
    progress(f"image: unpacking the kernel of Debian {SUITE}")
    debian = unpack(read_lines(TREE / "packages.txt"), SUITE, work / "root")
    versions = {name: version for name, version in debian.versions.items() if name.startswith("linux-image-")}
    return GuestKernel(kernel(debian.root), debian.root, versions)

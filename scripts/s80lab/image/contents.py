# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes into the initramfs, and from which inputs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash, text_hash
from s80lab.base.paths import ROOT
from s80lab.image.accounts import accounts_database
from s80lab.image.cpio import Entry, character_device, directory, regular, symlink
from s80lab.image.files import kept_files
from s80lab.image.root import matches, resolve

RECIPE = ROOT / "disk-images" / "debian"
COMMON = ROOT / "disk-images" / "common" / "rootfs"
PROGRAMS = ("s80-loadgen", "s80-mailstore")
SUITE = "bookworm"
FORMAT = 2  # raise when the builder's code changes what it puts into the image
SECRET = ("etc/dovecot/key.pem",)
EMPTY_FOLDERS = ("dev", "proc", "sys", "run", "tmp", "var/lib", "var/run", "var/mail-store", "root")


def entries(root: Path, work: Path, binaries: Path) -> Iterator[Entry]:
    """Everything in the initramfs: from the packages unpacked in `root`, the common files and our `binaries`.

    `work` is a folder for what is made on the way.
    """
    yield from (directory(path) for path in EMPTY_FOLDERS)
    yield character_device("dev/console", 5, 1)  # the kernel opens it for init before anything is mounted
    yield from kept_files(root, RECIPE / "keep.txt")
    yield symlink("bin/sh", "busybox")
    for path in common_files():
        name = str(path.relative_to(COMMON))
        permissions = 0o600 if name in SECRET else 0o755 if os.access(path, os.X_OK) else 0o644
        yield regular(name, path.read_bytes(), permissions)
    for name in PROGRAMS:
        stripped = work / name
        subprocess.run(["strip", "-o", str(stripped), str(binaries / name)], check=True)
        yield regular(f"usr/bin/{name}", stripped.read_bytes(), 0o755)
    yield regular("etc/dovecot/users.sqlite", accounts_database(work))


def kernel(root: Path) -> Path:
    """The one kernel of the unpacked packages."""
    kernels = matches(root, "boot/vmlinuz-*")
    if len(kernels) != 1:
        raise UserError(f"the packages hold {len(kernels)} kernels instead of one: mend {RECIPE / 'packages.txt'}")
    return resolve(root, kernels[0])


def common_files() -> list[Path]:
    """Files that every image has, whatever the distribution."""
    return sorted(path for path in COMMON.rglob("*") if path.is_file())


def inputs_digest(binaries: Path) -> str:
    """One digest over everything that decides the image's contents, the package versions aside."""
    lines = [f"{FORMAT} {SUITE}"]
    programs = [binaries / name for name in PROGRAMS]
    for path in [RECIPE / "packages.txt", RECIPE / "keep.txt", *common_files(), *programs]:
        if not path.is_file():
            raise UserError(f"{path} is missing: build the programs first (make)")
        lines.append(f"{path.name} {file_hash(path)} {os.access(path, os.X_OK)}")
    return text_hash("\n".join(lines))

# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest image: Debian's kernel and one initramfs with the servers, the mail store builder and the load generator.

    build_image(Path("build/image/debian"), progress=print)

writes `vmlinuz`, `initramfs.cpio` (newc, uncompressed: unpacking is a plain copy, and gem5 takes nothing else) and
`manifest.json`. The folder appears by one rename, whole or not at all, and is rebuilt only when an input changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import BaseModel

from s80lab.errors import UserError
from s80lab.hashing import file_hash, text_hash
from s80lab.image_accounts import accounts_database, certificate
from s80lab.image_cpio import Entry, character_device, directory, regular, symlink, write_archive
from s80lab.image_files import kept_files, read_lines
from s80lab.image_packages import Packages, unpack
from s80lab.paths import BUILD, ROOT

RECIPE = ROOT / "disk-images" / "debian"
COMMON = ROOT / "disk-images" / "common" / "rootfs"
BINARIES = BUILD / "bin"
PROGRAMS = ("s80-loadgen", "s80-mailstore")
SUITE = "bookworm"
FORMAT = 1  # raise when the builder's code changes what it puts into the image
EMPTY_FOLDERS = ("dev", "proc", "sys", "run", "tmp", "var/lib", "var/run", "var/mail-store", "root")


class ImageManifest(BaseModel):
    """`manifest.json`: what the image is made of; sizes in bytes, digests SHA-256."""

    inputs_sha256: str
    vmlinuz_sha256: str
    initramfs_sha256: str
    vmlinuz_bytes: int
    initramfs_bytes: int
    kernel_version: str
    packages: dict[str, str]


def load_image(out_dir: Path) -> ImageManifest:
    """The manifest of a built image; UserError if there is none or one of its files is missing."""
    for name in ("manifest.json", "vmlinuz", "initramfs.cpio"):
        if not (out_dir / name).is_file():
            raise UserError(f"{out_dir} holds no guest image ({name} is missing): run 's80lab image build'")
    return ImageManifest.model_validate_json((out_dir / "manifest.json").read_text())


def build_image(
    out_dir: Path, *, refresh: bool = False, progress: Callable[[str], None], binaries: Path = BINARIES
) -> ImageManifest:
    """Build the image unless the one in `out_dir` is of the same inputs.

    `refresh` rebuilds in any case and records the packages' versions in versions.txt. `binaries` is the folder of the
    compiled programs. UserError if a tool, a program or the package mirror is missing.
    """
    inputs = _inputs_digest(binaries)
    if not refresh and (out_dir / "manifest.json").is_file() and load_image(out_dir).inputs_sha256 == inputs:
        progress("image: up to date")
        return load_image(out_dir)
    out_dir.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out_dir.name}-", dir=out_dir.parent) as folder:
        work = Path(folder)
        progress(f"image: unpacking the packages of Debian {SUITE}")
        packages = unpack(read_lines(RECIPE / "packages.txt"), SUITE, work / "root")
        _compare_versions(packages, refresh, progress)
        new = work / "image"
        new.mkdir()
        kernel = _kernel(packages.root)
        shutil.copyfile(kernel, new / "vmlinuz")
        progress("image: writing the initramfs")
        write_archive(_entries(packages.root, work, binaries), new / "initramfs.cpio")
        manifest = ImageManifest(
            inputs_sha256=inputs,
            vmlinuz_sha256=file_hash(new / "vmlinuz"),
            initramfs_sha256=file_hash(new / "initramfs.cpio"),
            vmlinuz_bytes=(new / "vmlinuz").stat().st_size,
            initramfs_bytes=(new / "initramfs.cpio").stat().st_size,
            kernel_version=kernel.name.removeprefix("vmlinuz-"),
            packages=packages.versions,
        )
        (new / "manifest.json").write_text(manifest.model_dump_json(indent=2) + "\n")
        if out_dir.exists():
            out_dir.rename(work / "old")
        new.rename(out_dir)
    progress(f"image: {manifest.initramfs_bytes / 1e6:.1f} MB, kernel {manifest.kernel_version}")
    return manifest


def _entries(root: Path, work: Path, binaries: Path) -> Iterator[Entry]:
    """Everything in the initramfs."""
    yield from (directory(path) for path in EMPTY_FOLDERS)
    yield character_device("dev/console", 5, 1)  # the kernel opens it for init before anything is mounted
    yield from kept_files(root, RECIPE / "keep.txt")
    yield symlink("bin/sh", "busybox")
    for path in _common_files():
        executable = 0o755 if os.access(path, os.X_OK) else 0o644
        yield regular(str(path.relative_to(COMMON)), path.read_bytes(), executable)
    for name in PROGRAMS:
        stripped = work / name
        subprocess.run(["strip", "-o", str(stripped), str(binaries / name)], check=True)
        yield regular(f"usr/bin/{name}", stripped.read_bytes(), 0o755)
    cert, key = certificate(work)
    yield regular("etc/dovecot/cert.pem", cert)
    yield regular("etc/dovecot/key.pem", key, 0o600)
    yield regular("etc/dovecot/users.sqlite", accounts_database(work))


def _kernel(root: Path) -> Path:
    kernels = list((root / "boot").glob("vmlinuz-*"))
    if len(kernels) != 1:
        raise UserError(f"the packages hold {len(kernels)} kernels instead of one: mend {RECIPE / 'packages.txt'}")
    return kernels[0]


def _common_files() -> list[Path]:
    return sorted(path for path in COMMON.rglob("*") if path.is_file())


def _inputs_digest(binaries: Path) -> str:
    """One digest over everything that decides the image's contents, the package versions aside."""
    lines = [f"{FORMAT} {SUITE}"]
    programs = [binaries / name for name in PROGRAMS]
    for path in [RECIPE / "packages.txt", RECIPE / "keep.txt", *_common_files(), *programs]:
        if not path.is_file():
            raise UserError(f"{path} is missing: build the programs first (make)")
        lines.append(f"{path.name} {file_hash(path)} {os.access(path, os.X_OK)}")
    return text_hash("\n".join(lines))


def _compare_versions(packages: Packages, refresh: bool, progress: Callable[[str], None]) -> None:
    """Warn about each package whose version is not the recorded one; with `refresh` record the present ones."""
    path = RECIPE / "versions.txt"
    if refresh:
        header = "# SPDX-License-Identifier: GPL-2.0-or-later\n# Written by `s80lab image build --refresh`.\n"
        path.write_text(header + "".join(f"{name} {version}\n" for name, version in packages.versions.items()))
        return
    recorded = dict(line.split() for line in read_lines(path))
    for name in sorted(recorded.keys() | packages.versions.keys()):
        want, have = recorded.get(name, "none"), packages.versions.get(name, "none")
        if want != have:
            progress(
                f"warning: {name} is {have}, recorded is {want}: results may differ from the reference; "
                "'s80lab image build --refresh' records the present versions"
            )

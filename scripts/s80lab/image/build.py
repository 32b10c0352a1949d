# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest image: Debian's kernel and one initramfs with a server, the mail store builder and the load generator.

    build_image(image_folder("debian", "uw"), load_server("uw"), progress=print)

writes `vmlinuz`, `initramfs.cpio` (newc, uncompressed: unpacking is a plain copy, and gem5 takes nothing else) and
`manifest.json`. The folder appears by one rename, whole or not at all, and is rebuilt only when an input changed.

Equal packages give equal bytes on every host, our two programs aside: they are static, and what is in them is of the
host's compiler, C and C++ library and OpenSSL.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash
from s80lab.base.paths import BIN, BUILD
from s80lab.base.staging import held
from s80lab.config.experiment import DEFAULT_SERVER
from s80lab.config.server import Server
from s80lab.image.contents import RECIPE, SUITE, entries, inputs_digest, kernel, packages
from s80lab.image.cpio import Entry, write_archive
from s80lab.image.files import read_lines
from s80lab.image.packages import Packages, unpack
from s80lab.image.sources import build_programs, deb_src


class OfBuildroot(BaseModel):
    """What the programs of an image were made with. config_sha256: of Buildroot's options, whatever the host."""

    version: str
    config_sha256: str


class ImageManifest(BaseModel):
    """`manifest.json`: what the image is made of; sizes in bytes, digests SHA-256. buildroot: None of Debian's."""

    server: str = DEFAULT_SERVER
    inputs_sha256: str
    vmlinuz_sha256: str
    initramfs_sha256: str
    vmlinuz_bytes: int
    initramfs_bytes: int
    kernel_version: str
    packages: dict[str, str]
    buildroot: OfBuildroot | None = None


@dataclass(frozen=True)
class Made:
    """An image that is to be written. kernel: its file, named `vmlinuz-VERSION`."""

    kernel: Path
    entries: Iterable[Entry]
    packages: dict[str, str]
    buildroot: OfBuildroot | None = None


def image_folder(image: str, server: str) -> Path:
    """Where the image of that distribution with that server is; the usual server's has no name of its own."""
    return BUILD / "image" / (image if server == DEFAULT_SERVER else f"{image}-{server}")


def load_image(out_dir: Path) -> ImageManifest:
    """The manifest of a built image; UserError if there is none or one of its files is missing."""
    image, _, server = out_dir.name.partition("-")
    command = f"s80lab image build{f' --image {image}' if image.startswith('buildroot') else ''}"
    command += f" --server {server}" if server else ""
    for name in ("manifest.json", "vmlinuz", "initramfs.cpio"):
        if not (out_dir / name).is_file():
            raise UserError(f"{out_dir} holds no guest image ({name} is missing): run '{command}'")
    try:
        return ImageManifest.model_validate_json((out_dir / "manifest.json").read_bytes())
    except ValidationError:
        raise UserError(f"{out_dir} holds no guest image (manifest.json is none): run '{command}'") from None


def is_current(out_dir: Path, server: Server, binaries: Path = BIN) -> bool:
    """Whether there is an image, of what decides the server's now (the versions of its packages aside). UserError if a
    program is missing."""
    return _is_of(out_dir, inputs_digest(server, binaries))


def _is_of(out_dir: Path, inputs: str) -> bool:
    try:
        return load_image(out_dir).inputs_sha256 == inputs
    except UserError:
        return False


def build_image(
    out_dir: Path, server: Server, *, refresh: bool = False, progress: Callable[[str], None], binaries: Path = BIN
) -> ImageManifest:
    """Build Debian's image unless the one in `out_dir` is of the same inputs.

    `refresh` rebuilds in any case and records the packages' versions in disk-images/debian/versions. `binaries` is the
    folder of the compiled programs. UserError if a tool, a program, the package mirror or a source package is missing.
    """

    def make(work: Path, new: Path) -> Made:
        built = None
        if server.built:
            programs = ", ".join(server.built.programs)
            progress(f"image: building {programs} from Debian's source of {server.built.package}")
            built = build_programs(server.built, deb_src(SUITE), work)
        progress(f"image: unpacking the packages of Debian {SUITE}")
        unpacked = unpack(packages(server), SUITE, work / "root")
        _compare_versions(unpacked, RECIPE / "versions" / f"{server.packages_of}.txt", refresh, progress)
        return Made(kernel(unpacked.root), entries(server, unpacked.root, work, binaries, built), unpacked.versions)

    return write_image(out_dir, server, inputs_digest(server, binaries), make, refresh=refresh, progress=progress)


def write_image(
    out_dir: Path,
    server: Server,
    inputs: str,
    make: Callable[[Path, Path], Made],
    *,
    refresh: bool = False,
    progress: Callable[[str], None],
) -> ImageManifest:
    """Write the image that `make` makes unless the one in `out_dir` is of the same inputs. `make` has a folder for what
    comes up on the way, and the new image's own, where it may put what is to lie beside it."""
    with _only_builder(out_dir) as work:
        if not refresh and _is_of(out_dir, inputs):
            progress("image: up to date")
            return load_image(out_dir)
        new = work / "image"
        new.mkdir()
        made = make(work, new)
        progress("image: writing the initramfs")
        shutil.copyfile(made.kernel, new / "vmlinuz")
        write_archive(made.entries, new / "initramfs.cpio")
        manifest = ImageManifest(
            server=server.name,
            inputs_sha256=inputs,
            vmlinuz_sha256=file_hash(new / "vmlinuz"),
            initramfs_sha256=file_hash(new / "initramfs.cpio"),
            vmlinuz_bytes=(new / "vmlinuz").stat().st_size,
            initramfs_bytes=(new / "initramfs.cpio").stat().st_size,
            kernel_version=made.kernel.name.removeprefix("vmlinuz-"),
            packages=made.packages,
            buildroot=made.buildroot,
        )
        (new / "manifest.json").write_text(manifest.model_dump_json(indent=2, exclude_none=True) + "\n")
        if out_dir.exists():
            out_dir.rename(work / "old")
        new.rename(out_dir)
    progress(f"image: {manifest.initramfs_bytes / 1e6:.1f} MB, kernel {manifest.kernel_version}")
    return manifest


@contextmanager
def _only_builder(out_dir: Path) -> Iterator[Path]:
    """An empty folder beside `out_dir` for the one process that may build now, without a killed build's leavings."""
    work = out_dir.parent / f".{out_dir.name}-new"
    with held(out_dir.parent / f".{out_dir.name}-lock", lambda: None):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _compare_versions(unpacked: Packages, path: Path, refresh: bool, progress: Callable[[str], None]) -> None:
    """Warn about each package whose version is not the one recorded in `path`, where there is such a record; with
    `refresh` record the present ones."""
    if refresh:
        header = "# SPDX-License-Identifier: GPL-2.0-or-later\n# Written by `s80lab image build --refresh`.\n"
        path.write_text(header + "".join(f"{name} {version}\n" for name, version in unpacked.versions.items()))
    if not path.is_file():
        return
    recorded = dict(line.split() for line in read_lines(path))
    for name in sorted(recorded.keys() | unpacked.versions.keys()):
        want, have = recorded.get(name, "none"), unpacked.versions.get(name, "none")
        if want != have:
            progress(
                f"warning: {name} is {have}, recorded is {want}: results may differ from the reference; "
                "'s80lab image build --refresh' records the present versions"
            )

# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the guest image: Debian's kernel, and one initramfs with a server, the mail store builder and the load
generator.

    build_image(image_folder("debian", "uw"), load_server("uw"), progress=print)

writes `vmlinuz`, `initramfs.cpio` (newc, uncompressed: unpacking is a plain copy, and gem5 takes no other format) and
`manifest.json`. The folder appears by one rename when it is complete. It is rebuilt only if an input changed.

Equal packages give equal bytes on every host, except for our programs: they are static and contain parts of the host's
compiler, C and C++ library and OpenSSL.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
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
from s80lab.image.packages import Packages, build_programs, deb_src, unpack


class OfBuildroot(BaseModel):
    """Tools and options with which Buildroot made an image's programs. config_sha256: hash of Buildroot's options,
    without those that name places on the host."""

    version: str
    config_sha256: str


class ImageManifest(BaseModel):
    """`manifest.json`: the contents of the image. Sizes are in bytes, digests are SHA-256. buildroot: None for an
    image of Debian's packages."""

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
    """An image that will be written. kernel: its file, named `vmlinuz-VERSION`."""

    kernel: Path
    entries: Iterable[Entry]
    packages: dict[str, str]
    buildroot: OfBuildroot | None = None


def image_folder(image: str, server: str) -> Path:
    """The folder of the image of that distribution with that server. The default server adds nothing to the name."""
    return named_folder(image if server == DEFAULT_SERVER else f"{image}-{server}")


def named_folder(name: str) -> Path:
    """The folder of the image with that name."""
    return BUILD / "image" / name


def load_image(out_dir: Path) -> ImageManifest:
    """The manifest of a built image. UserError: there is no image, or one of its files is missing."""
    image, _, server = out_dir.name.partition("-")
    command = f"s80lab image build{f' --image {image}' if image.startswith('buildroot') else ''}"
    command += f" --server {server}" if server else ""
    for name in ("manifest.json", "vmlinuz", "initramfs.cpio"):
        if not (out_dir / name).is_file():
            raise UserError(f"no guest image in {out_dir} ({name} is missing): run `{command}`")
    try:
        return ImageManifest.model_validate_json((out_dir / "manifest.json").read_bytes())
    except ValidationError:
        raise UserError(f"no guest image in {out_dir} (manifest.json is invalid): run `{command}`") from None


def all_images() -> list[ImageManifest]:
    """The manifests of all complete images of this lab."""
    found = []
    for path in sorted((BUILD / "image").glob("*/manifest.json")):
        with suppress(UserError):
            found.append(load_image(path.parent))
    return found


def is_current(out_dir: Path, server: Server, binaries: Path = BIN) -> bool:
    """Whether an image exists and was built from the server's present inputs (ignoring package versions). UserError: a
    program is missing."""
    return is_built_from(out_dir, inputs_digest(server, binaries))


def is_built_from(out_dir: Path, inputs: str) -> bool:
    """Whether an image exists and was built from these inputs."""
    try:
        return load_image(out_dir).inputs_sha256 == inputs
    except UserError:
        return False


def build_image(
    out_dir: Path, server: Server, *, refresh: bool = False, progress: Callable[[str], None], binaries: Path = BIN
) -> ImageManifest:
    """Build an image of Debian's packages unless the one in `out_dir` has the same inputs.

    `refresh` rebuilds in any case and records the packages' versions in disk-images/debian/versions. `binaries` is the
    folder of the compiled programs. UserError: a tool, a program, the package mirror or a source package is missing.
    """

    def make(work: Path, new: Path) -> Made:
        built = None
        if server.built:
            programs = ", ".join(server.built.programs)
            progress(f"image: building {programs} from Debian's source package {server.built.package}")
            built = build_programs(server.built, deb_src(SUITE), work)
        progress(f"image: unpacking packages of Debian {SUITE}")
        unpacked = unpack(packages(server), SUITE, work / "root")
        _compare_versions(unpacked, RECIPE / "versions" / f"{server.packages_of}.txt", refresh, progress)
        return Made(kernel(unpacked.root), entries(server, unpacked.root, work, binaries, built), unpacked.versions)

    return write_image(out_dir, server.name, inputs_digest(server, binaries), make, refresh=refresh, progress=progress)


def write_image(
    out_dir: Path,
    server: str,
    inputs: str,
    make: Callable[[Path, Path], Made],
    *,
    refresh: bool = False,
    progress: Callable[[str], None],
) -> ImageManifest:
    """Write the image that `make` makes unless the one in `out_dir` has the same inputs. server: its name. `make`
    receives a folder for temporary files and the folder of the new image, in which it may put further files."""
    with _only_builder(out_dir) as work:
        if not refresh and is_built_from(out_dir, inputs):
            progress("image: up to date")
            return load_image(out_dir)
        new = work / "image"
        new.mkdir()
        made = make(work, new)
        progress("image: writing the initramfs")
        shutil.copyfile(made.kernel, new / "vmlinuz")
        write_archive(made.entries, new / "initramfs.cpio")
        manifest = ImageManifest(
            server=server,
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
    """An empty folder next to `out_dir` for the one process that may build now. Files of a killed build are
    removed."""
    work = out_dir.parent / f".{out_dir.name}-new"
    with held(out_dir.parent / f".{out_dir.name}-lock", lambda: None):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _compare_versions(unpacked: Packages, path: Path, refresh: bool, progress: Callable[[str], None]) -> None:
    """Warn about each package whose version differs from the version recorded in `path`, if there is such a record.
    With `refresh` record the present versions."""
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
                f"warning: {name} has version {have} instead of the recorded {want}: results may differ from the "
                "reference; "
                "`s80lab image build --refresh` records the present versions"
            )

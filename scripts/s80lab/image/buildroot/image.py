# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds an image with Buildroot: the target folder, the files that every image has, and a kernel.

    build_buildroot_image(image_folder("buildroot", "dovecot"), load_server("dovecot"), Choice(), progress=print)

Next to `vmlinuz`, `initramfs.cpio` and `manifest.json` the image's folder holds `packages.json` (Buildroot's
description of its packages), `manifest.csv` and `host-manifest.csv` (its bill of materials), and the texts of the
licences, in `licences`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from stat import S_ISDIR

from s80lab.base.errors import UserError
from s80lab.base.hashing import text_hash
from s80lab.base.paths import BUILD, ROOT
from s80lab.base.staging import held
from s80lab.base.strict import short_path
from s80lab.config.experiment import DEFAULT_SERVER
from s80lab.config.server import Server
from s80lab.image.build import ImageManifest, Made, OfBuildroot, write_image
from s80lab.image.buildroot.make import Make
from s80lab.image.buildroot.tree import (
    TREE,
    Configuration,
    config_hash,
    find_buildroot,
    load_configuration,
    packing_digest,
    sources_digest,
    tree_digest,
)
from s80lab.image.bzimage import is_bzimage, release
from s80lab.image.contents import PROGRAMS, SUITE, file_line, kernel, laid_over, overlay, skeleton
from s80lab.image.cpio import Entry, folder_entries
from s80lab.image.files import kept_files, libraries_of, matches, read_lines, resolve
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
                f"{short_path(FRAGMENT)}"
            )
        named = work / f"vmlinuz-{release(content)}"
        named.write_bytes(content)
        return GuestKernel(named, out / "target", {})
    progress(f"image: unpacking the kernel of Debian {SUITE}")
    debian = unpack(read_lines(TREE / "packages.txt"), SUITE, work / "root")
    versions = {name: version for name, version in debian.versions.items() if name.startswith("linux-image-")}
    return GuestKernel(kernel(debian.root), debian.root, versions)


FORMAT = 2  # raise when this file's code changes what it puts into the image
NOT_ROOT = "THIS_IS_NOT_YOUR_ROOT_FILESYSTEM"
BILL = ("manifest.csv", "host-manifest.csv", "licenses", "host-licenses")


@dataclass(frozen=True)
class Choice:
    """The user's choices. root: Buildroot's sources, or None for $BUILDROOT. downloads: a folder with all sources, or
    None to fetch them. fragments: files of options that override the external tree's; later ones override earlier
    ones."""

    root: Path | None = None
    downloads: Path | None = None
    fragments: tuple[Path, ...] = ()


def build_buildroot_image(
    out_dir: Path, server: Server, choice: Choice, *, progress: Callable[[str], None]
) -> ImageManifest:
    """Build the image unless the one in `out_dir` has the same inputs. UserError: Buildroot, a tool of the host or a
    source is missing."""
    if DEFAULT_SERVER not in server.parts or server.programs:
        raise UserError(
            f"server {server.name} cannot be built with Buildroot, whose external tree has only Dovecot: "
            f"choose a server that builds on {DEFAULT_SERVER}"
        )
    buildroot = find_buildroot(choice.root)
    configuration = load_configuration(*choice.fragments)
    downloads = choice.downloads.expanduser().absolute() if choice.downloads else None
    if downloads and not downloads.is_dir():
        raise UserError(f"--downloads {choice.downloads}: this folder does not exist; name an existing folder")
    image = out_dir.name.partition("-")[0]
    making = Make(buildroot, BUILD / "buildroot" / image, downloads, progress)

    def make(work: Path, new: Path) -> Made:
        making.build(configuration)
        kernel = guest_kernel(making.out, work, progress)
        _keep_bill(making, new)
        packages = json.loads((new / "packages.json").read_text())
        return Made(
            kernel.image,
            target_entries(making.out / "target", server, kernel.modules, work),
            {
                "buildroot": buildroot.version,
                **{name: _version(name, entry) for name, entry in sorted(packages.items()) if _in_guest(entry)},
                **kernel.versions,
            },
            OfBuildroot(version=buildroot.version, config_sha256=config_hash(making.out / ".config")),
        )

    inputs = _inputs(server, configuration, buildroot.version)
    # The images of several servers come out of one folder of Buildroot's.
    lock = making.out.with_name(f".{making.out.name}.lock")
    with held(lock, lambda: progress(f"image: waiting for another process that builds in {making.out}")):
        return write_image(out_dir, server.name, inputs, make, progress=progress)


def target_entries(target: Path, server: Server, modules: Path, work: Path) -> Iterator[Entry]:
    """The entries of the initramfs: Buildroot's `target` folder, the kernel's modules from the root `modules`
    (Debian's, or the target folder itself), and the files that every image has, which replace others. A link to a
    folder is followed, not replaced."""
    if missing := [name for name in PROGRAMS if not (target / "usr" / "bin" / name).is_file()]:
        raise UserError(
            f"{target} has no usr/bin/{missing[0]}, because Buildroot did not build the package s80lab-guest: "
            "do not switch this package off in a fragment"
        )
    out = left_out(target)
    yield from (entry for entry in folder_entries(target) if entry.path not in out)
    rules = dict.fromkeys(read_lines(TREE / "keep.txt"), str(TREE / "keep.txt"))
    for entry in (*skeleton(), *kept_files(modules, rules), *laid_over(server, work)):
        folder = S_ISDIR(entry.mode)
        place = str(resolve(target, entry.path).relative_to(target)) if folder else _place(target, entry.path)
        yield replace(entry, path=place)


def left_out(target: Path) -> set[str]:
    """Files of Buildroot's `target` folder that stay out of the guest: those that drop.txt names, except libraries
    that a program in the guest needs."""
    dropped = {_place(target, path) for pattern in read_lines(TREE / "drop.txt") for path in matches(target, pattern)}
    files = (entry.path for entry in folder_entries(target) if not S_ISDIR(entry.mode))
    left = [path for path in files if path not in dropped and resolve(target, path).is_file()]
    needed, _ = libraries_of(target, left)
    return {NOT_ROOT} | dropped - {step for path in needed for step in _steps(target, path)}


def _steps(target: Path, path: str) -> Iterator[str]:
    """The path of a file in the target folder, and the paths to which its links lead."""
    while (target / (place := _place(target, path))).is_symlink():
        yield place
        path = str(PurePosixPath(place).parent / (target / place).readlink())
    yield place


def _place(target: Path, path: str) -> str:
    """The path of a file, with links to folders resolved."""
    where = PurePosixPath(path)
    return str(resolve(target, str(where.parent)).relative_to(target) / where.name)


def _inputs(server: Server, configuration: Configuration, version: str) -> str:
    lines = [f"{FORMAT} {SUITE} {server.name} {server.store} {server.users} {server.accounts} {version}"]
    lines += [text_hash(configuration.text()), tree_digest(), packing_digest(), sources_digest()]
    lines += [file_line(name, file) for name, file in overlay(server).items()]
    return text_hash("\n".join(lines))


def _keep_bill(making: Make, new: Path) -> None:
    packages = json.dumps(json.loads(making.packages()), indent=1, sort_keys=True)
    (new / "packages.json").write_text(packages.replace(f"{ROOT}/", "") + "\n")
    for name in BILL:
        source = making.out / "legal-info" / name
        if source.is_dir():
            shutil.copytree(source, new / name.replace("licenses", "licences"))
        elif source.is_file():
            shutil.copyfile(source, new / name)


def _version(name: str, entry: dict[str, object]) -> str:
    """The version that was built, from the name of the package's source folder. `custom` if the source is the user's
    own. The field `version` is always that of Buildroot's recipe."""
    return PurePosixPath(str(entry["source_dir"])).name.removeprefix(f"{name}-")


def _in_guest(entry: dict[str, object]) -> bool:
    return entry.get("type") == "target" and not entry.get("virtual") and bool(entry.get("version"))

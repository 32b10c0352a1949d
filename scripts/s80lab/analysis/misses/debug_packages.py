# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetches the debug files of an image's programs from Debian's packages of debug symbols.

Packages NAME-dbg are in Debian's main archive. Packages NAME-dbgsym are in the archive of debug symbols, whose index
lists the build IDs of each package. Mirrors need not have this archive. Only debug files of programs in the image are
kept. The kernel with line numbers is large (600 MB), so it is fetched on request only.
"""

from __future__ import annotations

import os
import re
import subprocess
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from s80lab.base.errors import UserError
from s80lab.base.files import whole
from s80lab.guest.kernel.elf import Elf
from s80lab.image.build import load_image
from s80lab.image.contents import SUITE
from s80lab.image.cpio import read_archive
from s80lab.image.packages import KEYRING, debian_mirror

_ROOT = PurePosixPath("usr/lib/debug")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Fetched:
    """packages: the packages that were fetched. missing: programs of the image that have no debug file now."""

    packages: list[str]
    missing: list[str]


def debian_sources() -> list[str]:
    """apt source lines: the main archive, and the archive of debug symbols on the same mirror."""
    mirror = debian_mirror()
    debug = re.sub(r"/debian$", "/debian-debug", mirror)
    options = f"[signed-by={KEYRING}]"
    return [f"deb {options} {mirror} {SUITE} main", f"deb {options} {debug} {SUITE}-debug main"]


def fetch_debug_files(
    image: Path, out: Path, sources: Sequence[str], *, kernel: bool, progress: Callable[[str], None]
) -> Fetched:
    """Fetch the debug files of an image's programs into the folder `out`.

    sources: apt source lines; the first must be readable, the others are left out if they are not. kernel: also fetch
    the kernel with line numbers. UserError if apt-get fails.
    """
    manifest = load_image(image)
    wanted = _build_ids(image / "initramfs.cpio")
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out) as folder:
        apt = _Apt(Path(folder))
        apt.update(sources, progress)
        names = apt.debug_packages(manifest.packages, wanted.keys())
        if kernel:
            name = f"linux-image-{manifest.kernel_version}-dbg"
            names[name] = manifest.packages.get(f"linux-image-{manifest.kernel_version}", "")
        for name, version in names.items():
            progress(f"fetching {name} {version}")
            _keep(apt.download(name, version), out, wanted.keys(), f"vmlinux-{manifest.kernel_version}")
    missing = sorted(path for build_id, path in wanted.items() if not _place(out, build_id).is_file())
    return Fetched(list(names), missing)


def _place(root: Path, build_id: str) -> Path:
    return root / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"


def _build_ids(archive: Path) -> dict[str, str]:
    """The stripped programs of an image by their build IDs."""
    found = {}
    for entry in read_archive(archive):
        try:
            elf = Elf(Path(entry.path), entry.data)
        except UserError:
            continue
        if elf.build_id and elf.stripped():
            found[elf.build_id] = f"/{entry.path}"
    return found


@dataclass(frozen=True)
class _Apt:
    """apt-get with sources and lists of its own, in a folder."""

    folder: Path

    def update(self, sources: Sequence[str], progress: Callable[[str], None]) -> None:
        """Read the indexes of the sources."""
        for path in ("lists/partial", "cache/archives/partial"):
            (self.folder / path).mkdir(parents=True)
        usable: list[str] = []
        for source in sources:
            (self.folder / "sources.list").write_text("".join(f"{line}\n" for line in (*usable, source)))
            failed = self._failure("update")
            if not failed:
                usable.append(source)
            elif not usable:
                raise UserError(f"the package archive cannot be read: {failed}")
            else:
                progress(f"the archive of debug symbols cannot be read: {failed}")
        (self.folder / "sources.list").write_text("".join(f"{line}\n" for line in usable))
        self._failure("update")

    def debug_packages(self, installed: Mapping[str, str], build_ids: Iterable[str]) -> dict[str, str]:
        """The packages with debug files of the installed packages, with their versions."""
        candidates = [f"{name}{kind}" for name in installed for kind in ("-dbg", "-dbgsym")]
        shown = self._run("apt-cache", "show", *candidates, may_fail=True)
        wanted, found = set(build_ids), {}
        for record in shown.split("\n\n"):
            fields = dict(re.findall(r"^([A-Z][\w-]*): (.*)$", record, re.MULTILINE))
            name, version = fields.get("Package", ""), fields.get("Version", "")
            owner = name.removesuffix("sym").removesuffix("-dbg")
            listed = fields.get("Build-Ids")
            useful = listed is None or wanted & set(listed.split())
            # The version of a package may lack the suffix of a rebuild for one architecture.
            if name and not name.startswith("linux-") and installed.get(owner) == version and useful:
                found[name] = version
        return found

    def download(self, name: str, version: str) -> Path:
        """Fetch one package."""
        failed = self._failure("download", f"{name}={version}" if version else name)
        packages = list(self.folder.glob(f"{name}_*.deb"))
        if failed or not packages:
            raise UserError(f"the package {name} {version} cannot be fetched: {failed or 'apt-get wrote no file'}")
        return packages[0]

    def _failure(self, *arguments: str) -> str:
        """Run apt-get; return its first error, empty if it succeeded."""
        done = self._done("apt-get", *arguments)
        reasons = [line for line in done.stderr.splitlines() if line.startswith(("E:", "Err:"))]
        return "" if done.returncode == 0 else (reasons[0] if reasons else done.stderr[-300:].strip() or "no message")

    def _run(self, *command: str, may_fail: bool) -> str:
        done = self._done(*command)
        if done.returncode != 0 and not may_fail:
            raise UserError(f"{command[0]} failed: {done.stderr[-300:].strip()}")
        return done.stdout

    def _done(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        settings = {
            "Dir::Etc::SourceList": self.folder / "sources.list",
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::State::Lists": self.folder / "lists",
            "Dir::Cache": self.folder / "cache",
            "APT::Sandbox::User": "",
        }
        options = [f"--option={key}={value}" for key, value in settings.items()]
        try:
            return subprocess.run(
                [program, *options, *arguments],
                cwd=self.folder,
                capture_output=True,
                text=True,
                env=os.environ | {"LC_ALL": "C.UTF-8"},
                check=False,
            )
        except FileNotFoundError:
            raise UserError(f"{program} is not installed: use a Debian host") from None


def _keep(package: Path, out: Path, build_ids: Iterable[str], kernel: str) -> None:
    """Unpack the debug files of these build IDs, the files that they share, and the kernel of this name."""
    wanted = {PurePosixPath(".build-id", one[:2], f"{one[2:]}.debug") for one in build_ids}
    wanted.add(PurePosixPath("boot", kernel))
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as unpacking:
        assert unpacking.stdout is not None
        with tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive:
            for member in archive:
                path = PurePosixPath(member.name.removeprefix("./"))
                inside = path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else None
                shared = inside is not None and inside.parts[:1] == (".dwz",)
                content = archive.extractfile(member) if member.isfile() else None
                if inside is not None and ".." not in inside.parts and content and (shared or inside in wanted):
                    with whole(out / inside) as partial, partial.open("wb") as file:
                        while chunk := content.read(_CHUNK):
                            file.write(chunk)
    if unpacking.returncode != 0:
        raise UserError(f"the package {package.name} cannot be unpacked (dpkg-deb ended with {unpacking.returncode})")
    package.unlink()

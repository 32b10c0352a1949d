# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the plain guest of `s80lab exec`: Debian's kernel, and an initramfs with busybox, some kernel modules and the
guest's first process (workloads/exec/init.c)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.hashing import text_hash
from s80lab.base.paths import BIN
from s80lab.base.programs import missing
from s80lab.config.server import GuestFile
from s80lab.guest.kernel.elf import Elf
from s80lab.image.build import ImageManifest, Made, is_built_from, load_image, named_folder, write_image
from s80lab.image.contents import RECIPE, SUITE, file_line, kernel, stripped
from s80lab.image.cpio import Entry, character_device, directory, regular, symlink
from s80lab.image.files import files_named, read_lines, resolve
from s80lab.image.packages import unpack

NAME = "plain"
INIT = "s80-exec-init"
BUSYBOX = "bin/busybox"
APPLETS = "busybox"
"""Folder of the initramfs with busybox under the name of each of its commands."""
MODULES = ("nd_btt", "nd_pmem", "nd_e820", "erofs", "overlay", "virtio_pci", "virtio_console")
"""Kernel modules of the guest; those on which they depend follow by themselves."""
FORMAT = 1  # raise when this module changes what it puts into the image
_COMMANDS: Sequence[str] = """
[ [[ ash awk base64 basename bunzip2 bzcat bzip2 cat chgrp chmod chown chroot cksum clear cmp comm cp cut date dd df
diff dirname dos2unix du echo egrep env expand expr factor false fgrep find fold free getopt grep gunzip gzip head
hexdump hostname id ifconfig install ip kill killall link ln logname ls md5sum mkdir mkfifo mknod mktemp mount mv nc
nice nl nohup nproc nslookup od paste patch pgrep pidof ping pkill printenv printf ps pwd readlink realpath renice rev
rm rmdir route sed seq setsid sh sha1sum sha256sum sha512sum shred shuf sleep sort split stat strings stty sync tac
tail tar taskset tee telnet test time timeout top touch tr true truncate tty uname unexpand uniq unix2dos unlink unxz
unzip uptime usleep vi watch wc wget which whoami xargs xxd xz xzcat yes zcat
""".split()  # noqa: SIM905 - as lines it can be read


def plain_folder() -> Path:
    """The folder of the image."""
    return named_folder(NAME)


def build_plain(progress: Callable[[str], None], binaries: Path = BIN) -> ImageManifest:
    """The image, built unless there is one of the same inputs. UserError: a program or the package mirror is
    missing."""
    init = binaries / INIT
    if not init.is_file():
        raise UserError(missing(init))
    packages = read_lines(RECIPE / "packages.txt")
    inputs = text_hash(f"{FORMAT} {SUITE} {packages} {MODULES} {_COMMANDS} {file_line(INIT, GuestFile(init))}")
    if is_built_from(plain_folder(), inputs):
        return load_image(plain_folder())

    def make(work: Path, _: Path) -> Made:
        progress(f"image: unpacking packages of Debian {SUITE}")
        unpacked = unpack(packages, SUITE, work / "root")
        return Made(kernel(unpacked.root), _entries(unpacked.root, init, work), unpacked.versions)

    return write_image(plain_folder(), NAME, inputs, make, progress=progress)


def _entries(root: Path, init: Path, work: Path) -> Iterator[Entry]:
    for folder in ("bin", "dev", "proc", "sys", "tmp", "run", "root", "lower", "upper", "modules", APPLETS):
        yield directory(folder)
    yield character_device("dev/console", 5, 1)  # the kernel opens it for init before anything is mounted
    yield regular("init", stripped(init, work), 0o755)
    yield regular(f"{APPLETS}/busybox", resolve(root, BUSYBOX).read_bytes(), 0o755)
    for name in _COMMANDS:
        yield symlink(f"{APPLETS}/{name}", "busybox")
    for number, path in enumerate(_in_order(root)):
        yield regular(f"modules/{number:02d}-{path.name}", path.read_bytes())


def _in_order(root: Path) -> list[Path]:
    """The files of the modules, each behind those on which it depends."""
    files = {path.stem.replace("-", "_"): path for path in (resolve(root, name) for name in files_named(root, ".ko"))}
    ordered: dict[str, Path] = {}

    def add(name: str) -> None:
        if name in ordered:
            return
        if name not in files:
            raise UserError(f"the kernel package of the image has no module {name}: correct {RECIPE / 'packages.txt'}")
        for needed in _dependencies(files[name]):
            add(needed)
        ordered[name] = files[name]

    for name in MODULES:
        add(name)
    return list(ordered.values())


def _dependencies(module: Path) -> list[str]:
    """The modules that a module names in its section .modinfo."""
    fields = Elf(module).section(".modinfo").split(b"\0")
    named = next((field for field in fields if field.startswith(b"depends=")), b"depends=")
    return [name.replace("-", "_") for name in named.removeprefix(b"depends=").decode().split(",") if name]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug files: symbol tables and line numbers that a distribution keeps apart from its stripped programs.

The build ID of a program names its debug file, so a file of another version is never taken. Debian's packages NAME-dbg
and NAME-dbgsym install debug files under /usr/lib/debug. The folder build/debug of the lab goes before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path
from shutil import which
from subprocess import PIPE, Popen

from s80lab.base import paths
from s80lab.guest.kernel.elf import mapped

SYSTEM = Path("/usr/lib/debug")
ADDR2LINE = "addr2line"
# The file name in an answer of addr2line if the location is not known.
_NOWHERE = "??"
# Where headers and the libraries of languages are, as debug information names them.
_LIBRARIES = ("/usr/include/", "/usr/lib/", "/usr/local/include/", "/rustc/", "/usr/src/rustc")


def debug_roots() -> tuple[Path, ...]:
    """The folders that are searched, in this order."""
    return paths.BUILD / "debug", SYSTEM


@dataclass
class DebugFiles:
    """Finds debug files. asked: for each build ID that was looked up, the file that was found. The version follows the
    build ID of a kernel."""

    roots: Sequence[Path] = field(default_factory=debug_roots)
    asked: dict[str, Path | None] = field(default_factory=dict)

    def find(self, build_id: str) -> Path | None:
        """The debug file of a program; None if there is none, or if the program has no build ID."""
        if not build_id:
            return None
        if build_id not in self.asked:
            places = (root / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug" for root in self.roots)
            self.asked[build_id] = next((place for place in places if place.is_file()), None)
        return self.asked[build_id]

    def find_kernel(self, version: str, build_id: str) -> Path | None:
        """The kernel with line numbers of Debian's package linux-image-VERSION-dbg, in which no build ID leads to the
        kernel. None if there is none, or if it has another build ID."""
        key = f"{build_id} {version}"
        if key not in self.asked:
            places = (root / "boot" / f"vmlinux-{version}" for root in self.roots)
            found = (place for place in places if place.is_file() and mapped(place).build_id == build_id)
            self.asked[key] = next(found, None)
        return self.asked[key]

    def state(self) -> dict[str, str]:
        """What was found for each build ID, and addr2line, as text. A stored result is outdated when this changes."""
        sizes = {one: str(found.stat().st_size) if found else "" for one, found in sorted(self.asked.items())}
        return {**sizes, ADDR2LINE: "installed" if which(ADDR2LINE) else ""}


def state_now(names: Iterable[str]) -> dict[str, str]:
    """DebugFiles.state if the build IDs of an earlier state were looked up now. names: the keys of that state."""
    files = DebugFiles()
    for name in names:
        if name != ADDR2LINE:
            build_id, _, kernel = name.partition(" ")
            if kernel:
                files.find_kernel(kernel, build_id)
            else:
                files.find(build_id)
    return files.state()


def source_lines(path: Path, addresses: Sequence[int]) -> Mapping[int, str]:
    """`file.c:123` for each address in a file with line numbers (DWARF), by addr2line of the GNU binutils.

    Addresses without a line number are left out, and all of them if addr2line is not installed. Code that the compiler
    has inlined belongs to the line of the inlined function.
    """
    frames = _frames(path, addresses)
    return {address: _place(inlined[0]) for address, inlined in frames.items() if inlined[0]}


def own_lines(path: Path, addresses: Sequence[int]) -> Mapping[int, str]:
    """Like `source_lines`, but inlined code of a system's header or of a language's library belongs to the line that
    uses it: `new` in a container of C++ to the line with the container."""
    found = {}
    for address, inlined in _frames(path, addresses).items():
        known = [frame for frame in inlined if frame]
        if known:
            found[address] = _place(next((frame for frame in known if not frame.startswith(_LIBRARIES)), known[-1]))
    return found


def _frames(path: Path, addresses: Sequence[int]) -> Mapping[int, Sequence[str]]:
    """The `path:123` of each address, and of the code into which it is inlined; empty where it is unknown. Nothing if
    addr2line is not installed."""
    try:
        process = Popen([ADDR2LINE, "-a", "-i", "--exe", str(path)], stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)
    except OSError:
        return {}
    answers, _ = process.communicate("".join(f"{address:#x}\n" for address in addresses))
    frames: list[list[str]] = []
    for answer in answers.splitlines():
        if answer.startswith("0x"):
            frames.append([])
        elif frames:
            place = answer.partition(" ")[0]
            name, _, line = place.rpartition(":")
            known = not name.startswith(_NOWHERE) and line.isdecimal() and line != "0"
            frames[-1].append(place if known else "")
    return {address: frame for address, frame in zip(addresses, frames, strict=False) if frame}


def _place(frame: str) -> str:
    file, _, line = frame.rpartition(":")
    return f"{short_path(file)}:{line}"


def short_path(path: str) -> str:
    """The last three parts of a path of the build: `./malloc/./malloc/malloc.c` is `malloc/malloc.c`."""
    return "/".join([part for part in normpath(path.rpartition("/./")[2]).split("/") if part != ".."][-3:])

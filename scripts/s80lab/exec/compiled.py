# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of code that a process compiled while it ran: Java, Node.js and others write them into /tmp/perf-PID.map for
`perf` (Linux, tools/perf/Documentation/jit-interface.txt). The guest sends these files at the end."""

from __future__ import annotations

import re
import tarfile
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.files import read_regular

LARGEST = 64 << 20
"""Bytes of all files of a run: the guest sends no more (workloads/exec/init.c)."""
_MEMBER = re.compile(r"tmp/(perf-\d{1,7}\.map)")
_FILE = re.compile(r"perf-(\d{1,7})\.map")
_LINE = re.compile(r"(?:0x)?([0-9a-fA-F]{1,16}) (?:0x)?([0-9a-fA-F]{1,16}) (.+)")


@dataclass(frozen=True)
class Compiled:
    """The code of one process: sorted first addresses, ends and names."""

    begins: list[int]
    ends: list[int]
    names: list[str]

    def name(self, pc: int) -> str:
        """The function at an address; empty if there is none."""
        place = bisect_right(self.begins, pc) - 1
        return self.names[place] if place >= 0 and pc < self.ends[place] else ""


def keep_compiled(archive: Path, folder: Path) -> None:
    """Write the files of the guest's archive that name compiled code into the run's folder."""
    try:
        with tarfile.open(archive, "r:") as tar:
            for member in tar:
                match = _MEMBER.fullmatch(member.name)
                file = tar.extractfile(member) if match and member.isreg() and member.size <= LARGEST else None
                if match and file is not None:
                    (folder / match[1]).write_bytes(file.read())
    except tarfile.TarError:  # empty: the guest had no files; or cut off, which --get reports
        pass


def read_compiled(folder: Path) -> Mapping[int, Compiled]:
    """The compiled code of each process (tgid). Lines of another form are left out."""
    found = {}
    for path in folder.glob("perf-*.map"):
        if match := _FILE.fullmatch(path.name):
            found[int(match[1])] = _read(read_regular(path, LARGEST).decode("utf-8", "replace"))
    return found


def _read(text: str) -> Compiled:
    """Code may replace code: of equal addresses the last line counts."""
    functions = {}
    for line in text.splitlines():
        if match := _LINE.fullmatch(line):
            functions[int(match[1], 16)] = (int(match[2], 16), match[3].strip())
    begins = sorted(functions)
    return Compiled(begins, [at + functions[at][0] for at in begins], [functions[at][1] for at in begins])

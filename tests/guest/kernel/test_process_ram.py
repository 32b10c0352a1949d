# SPDX-License-Identifier: GPL-2.0-or-later
"""The RAM of a guest in QEMU's process: a private mapping of the RAM file, with what was written since."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.guest.kernel.memory import ProcessRam

# Maps the file privately, writes a word at 0x1000, says so, and waits for its input to end.
CHILD = """
import mmap, sys
with open(sys.argv[1], "r+b") as file:
    memory = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE)
memory[0x1000:0x1004] = b"new!"
print("written", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("folder", ["lab", "link"])
def test_a_private_mapping_shows_what_was_written_to_it(tmp_path: Path, folder: str) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "lab")
    file = tmp_path / folder / "ram.img"
    file.write_bytes(b"old." * 0x1000)
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        assert child.stdout.readline() == b"written\n"
        ram = ProcessRam(child.pid, file, low_ram=0x2000)
        assert ram.read(0x1000, 8) == b"new!old."
        assert ram.read(0xFFC, 4) == b"old."
        assert ram.read(0x2000, 4) == b""  # the hole
        assert ram.read((1 << 32) + 0x10, 4) == b"old."  # the file from 0x2000 on
        assert ram.read((1 << 32) + 0x2000, 4) == b""  # behind its end
        ram.close()
        child.stdin.close()
    assert file.read_bytes()[0x1000:0x1004] == b"old."


def test_another_process_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read from the process of QEMU"):
        ProcessRam(1 << 30, tmp_path / "ram.img", 0)

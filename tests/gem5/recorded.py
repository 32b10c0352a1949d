# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded output of gem5 for the tests, in one pack: runs (record.py), agree (agree/record.py, agree/warm_case.py) and
check (check/record.py).

python -m tests.gem5.recorded   packs the folder build/recorded again, after a recording has changed its files
"""

from __future__ import annotations

from pathlib import Path

from s80lab.base import paths
from s80lab.results.reference import unpacked_pack, write_pack

PACK = Path(__file__).with_suffix(".tar.xz")
FOLDER = paths.BUILD / "recorded"


def recording(part: str) -> Path:
    """The folder of a part."""
    return unpacked_pack(PACK, FOLDER) / part


if __name__ == "__main__":
    write_pack(FOLDER, PACK)

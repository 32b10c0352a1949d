# SPDX-License-Identifier: GPL-2.0-or-later
"""Shipped tables with a cell edited."""

from __future__ import annotations

from pathlib import Path

from s80lab.protocol.docs import known
from s80lab.protocol.table import find_protocol, load_protocol

NAMES = [path.stem for path in known()]
HOMED = [name for name in NAMES if load_protocol(find_protocol(name)).home is not None]


def edited(folder: Path, base: str, place: str, instead: str) -> Path:
    """A copy of a shipped table in which one cell (`own.store.S`) is another (`{ next = "M" }`)."""
    row, _, state = place.rpartition(".")
    before, header, rest = find_protocol(base).read_text().partition(f"[{row}]\n")
    body, blank, after = rest.partition("\n\n")
    lines = body.split("\n")
    number = next(number for number, line in enumerate(lines) if line.startswith(f"{state} = "))
    assert lines[number] != f"{state} = {instead}", "this is no edit"
    lines[number] = f"{state} = {instead}"
    file = folder / f"{base}-edited.toml"
    file.write_text(before + header + "\n".join(lines) + blank + after)
    return file

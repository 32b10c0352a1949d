# SPDX-License-Identifier: GPL-2.0-or-later
"""Text traces (`.trace`), written by hand: one access per line, `CORE ifetch|load|store ADDRESS  # comment`.

Comments before the first access may select what plays the trace: `# machine: NAME`, `# protocol: NAME`,
`# set: KEY=VALUE`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.trace import files
from s80lab.trace.order import LAST_LINE, MAX_PROCESSORS, NAMES, Op, Order, make

_OPS = {"ifetch": Op.IFETCH, "load": Op.LOAD, "store": Op.STORE}
_DIRECTIVE = re.compile(r"(machine|protocol|set):\s*(.+)")

EXPORT_LOSES = "ticks, context, page walks (they become loads)"
IMPORT_LOSES = "offsets within lines, comments"


@dataclass(frozen=True)
class TextTrace:
    """A parsed text trace: the accesses, their comments and the settings in its header."""

    where: str
    title: str = ""
    machine: str | None = None
    protocol: str | None = None
    settings: tuple[str, ...] = ()
    processors: list[int] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)

    def order(self, line_bytes: int) -> Order:
        """The accesses as cache lines, in the order of the file. Each access touches only the line at its address."""
        for at, address in enumerate(self.addresses):
            if address // line_bytes > LAST_LINE:
                limit = (LAST_LINE + 1) * line_bytes
                raise UserError(
                    f"{self.where}: access {at} has the address {address:#x}, beyond {limit:#x}, the limit of the "
                    f"model with lines of {line_bytes} bytes"
                )
        return make(self.processors, self.ops, [address // line_bytes for address in self.addresses])


def read(path: Path) -> TextTrace:
    """Reads a text trace. UserError names the faulty line."""
    return parse(files.read(path).decode("utf-8", "replace"), str(path))


def parse(text: str, where: str) -> TextTrace:
    """Parses a text trace. `where` names the trace in messages."""
    title, known, settings = "", dict[str, str](), list[str]()
    trace = TextTrace(where)
    for number, line in enumerate(text.splitlines(), 1):
        access, _, comment = (part.strip() for part in line.partition("#"))
        if access:
            processor, op, address = _access(access, f"{where}, line {number}")
            trace.processors.append(processor)
            trace.ops.append(op)
            trace.addresses.append(address)
            trace.comments.append(comment)
        elif comment and not trace.ops:
            directive = _DIRECTIVE.fullmatch(comment)
            if directive is None:
                title = title or ("" if comment.startswith("SPDX-") else comment)
            elif directive[1] == "set":
                settings += directive[2].split()
            else:
                known[directive[1]] = directive[2].strip()
    return TextTrace(
        where,
        title,
        known.get("machine"),
        known.get("protocol"),
        tuple(settings),
        trace.processors,
        trace.ops,
        trace.addresses,
        trace.comments,
    )


def _access(text: str, where: str) -> tuple[int, Op, int]:
    words = text.split()
    if len(words) != 3:
        raise UserError(f"{where}: `{text}` is not an access of the form CORE ifetch|load|store ADDRESS")
    core, op, address = words
    if not core.isdigit() or int(core) >= MAX_PROCESSORS:
        raise UserError(f"{where}: the core `{core}` is not a number from 0 to {MAX_PROCESSORS - 1}")
    if op not in _OPS:
        raise UserError(f"{where}: `{op}` is not an operation; allowed: ifetch, load, store")
    try:
        value = int(address, 0)
    except ValueError:
        value = -1
    if value < 0:
        raise UserError(
            f"{where}: the address `{address}` is not a number; write bytes, hexadecimal (0x...) or decimal"
        )
    return int(core), _OPS[op], value


def text(order: Order, line_bytes: int) -> str:
    """The accesses as a text trace with the address of each line. A page walk is written as a load."""
    rows: Sequence[tuple[int, int, int]] = order[["processor", "op", "line"]].tolist()
    word = NAMES | {Op.WALK: NAMES[Op.LOAD]}
    return "".join(f"{core} {word[Op(op)]} {line * line_bytes:#x}\n" for core, op, line in rows)

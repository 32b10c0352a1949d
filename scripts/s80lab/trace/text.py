# SPDX-License-Identifier: GPL-2.0-or-later
"""Text traces (`.trace`), written by hand: one access per line, `CORE ifetch|load|store ADDRESS  # comment`.

Comments before the first access may select what plays the trace: `# machine: NAME`, `# protocol: NAME`,
`# set: KEY=VALUE`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.suggest import hint
from s80lab.base.terminal import quoted
from s80lab.trace import files
from s80lab.trace.order import LAST_LINE, MAX_PROCESSORS, NAMES, Op, Order, make

_OPS = {"ifetch": Op.IFETCH, "load": Op.LOAD, "store": Op.STORE}
_CORE = re.compile("[0-9]{1,9}")
_LACKEY = re.compile(r"[ILSM] +[0-9a-fA-F]+,[0-9]+")
LARGEST = 1 << 26
"""Largest size of a text trace in bytes; each line of it takes some 100 bytes of memory."""
_LONGEST = 80
"""Characters of the longest address: 64 binary digits and a prefix."""
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
    content = files.read(path, LARGEST)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UserError(f"{path}: the file has the encoding UTF-16; save the file as UTF-8")
    return parse(content.decode("utf-8-sig", "replace"), str(path))


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
    if _LACKEY.fullmatch(text):
        raise UserError(
            f"{where}: {quoted(text)} has the form of Valgrind's tool lackey, which s80lab does not read; convert each "
            "line to CORE ifetch|load|store ADDRESS (a line M is a load and a store)"
        )
    words = text.split()
    if len(words) != 3:
        raise UserError(f"{where}: {quoted(text)} is not an access of the form CORE ifetch|load|store ADDRESS")
    core, op, address = words
    if not _CORE.fullmatch(core) or int(core) >= MAX_PROCESSORS:
        raise UserError(f"{where}: the core {quoted(core)} is not a number from 0 to {MAX_PROCESSORS - 1}")
    if op not in _OPS:
        raise UserError(f"{where}: {quoted(op)} is not an operation: {hint(op, _OPS)}")
    value = _number(address)
    if value is None:
        raise UserError(
            f"{where}: the address {quoted(address)} is not a number of at most 64 bits; write bytes, hexadecimal "
            "(0x...) or decimal"
        )
    return int(core), _OPS[op], value


def _number(address: str) -> int | None:
    """The address; None if it is not a number from 0 to 2^64 - 1."""
    if not address.isascii() or len(address) > _LONGEST:
        return None
    try:
        value = int(address, 0)
    except ValueError:
        return None
    return value if 0 <= value < 1 << 64 else None


def text(order: Order, line_bytes: int) -> str:
    """The accesses as a text trace with the address of each line. A page walk is written as a load."""
    rows: Sequence[tuple[int, int, int]] = order[["processor", "op", "line"]].tolist()
    word = NAMES | {Op.WALK: NAMES[Op.LOAD]}
    return "".join(f"{core} {word[Op(op)]} {line * line_bytes:#x}\n" for core, op, line in rows)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Text traces (`.trace`), written by hand: one access per line, `PROCESSOR ifetch|load|store ADDRESS  # comment`.

The file of one processor may leave out PROCESSOR in all lines. Comments before the first access may select what plays
the trace: `# machine: NAME`, `# protocol: NAME`, `# set: KEY=VALUE`.
"""

from __future__ import annotations

import codecs
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.strict import parse_settings
from s80lab.base.suggest import hint
from s80lab.base.terminal import quoted
from s80lab.trace import files
from s80lab.trace.order import LAST_LINE, MAX_PROCESSORS, NAMES, Op, Order, make
from s80lab.trace.setup import Header, Named

_OPS = {name: op for op, name in NAMES.items() if op != Op.WALK}
_SHORT = {"r": Op.LOAD, "w": Op.STORE}
_FORM = "PROCESSOR ifetch|load|store ADDRESS"
_PROCESSOR = re.compile("[Pp]?([0-9]{1,9})")
_LACKEY = re.compile(r"[ILSM] +[0-9a-fA-F]+,[0-9]+")
LARGEST = 1 << 26
"""Largest size of a text trace in bytes; each line of it takes some 100 bytes of memory."""
_LONGEST = 80
"""Characters of the longest address: 64 binary digits and a prefix."""
_DIRECTIVE = re.compile(r"(machine|protocol|set):\s*(.+)")
_LIKE_DIRECTIVE = re.compile(r"([A-Za-z][\w-]*)\s*[:=]|(?i:(set|settings?))\s+[\w.-]+\s*=")
_WORDS = {word: word.rstrip("s") for word in ("machine", "machines", "protocol", "protocols", "set", "sets")} | {
    "setting": "set",
    "settings": "set",
}
"""Words that a header may mean, with the directive of each."""
_SIMILAR = 0.76
"""Least similarity to such a word, as difflib counts it: `Reset:` has 0.75."""

EXPORT_LOSES = "ticks, context, page walks (they become loads), comments"
IMPORT_LOSES = "offsets within lines, comments"


@dataclass(frozen=True)
class TextTrace:
    """A parsed text trace: the accesses, their comments and its header. without_processor: the lines name none, so all
    accesses are processor 0's."""

    where: str
    title: str = ""
    header: Header = field(default_factory=Header)
    processors: list[int] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    without_processor: bool = False

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
    return parse(content.decode("utf-8-sig", "replace"), str(path), path.parent)


def parse(text: str, where: str, folder: Path | None = None) -> TextTrace:
    """Parses a text trace. where: its name in messages. folder: relative paths in the header are relative to it; None:
    to the working folder."""
    head = _Head(folder or Path())
    trace = TextTrace(where)
    without = set[bool]()
    for number, line in enumerate(text.splitlines(), 1):
        access, _, comment = (part.strip() for part in line.partition("#"))
        if access:
            processor, op, address = _access(access, f"{where}, line {number}")
            without.add(processor is None)
            if len(without) > 1:
                raise UserError(
                    f"{where}, line {number}: some lines of the trace name a processor and others do not; write it in "
                    f"every line, {_FORM}, or in none"
                )
            trace.processors.append(processor or 0)
            trace.ops.append(op)
            trace.addresses.append(address)
            trace.comments.append(comment)
        elif comment and not trace.ops:
            head.read(comment, f"{where}, line {number}")
    return replace(trace, title=head.title, header=head.header(), without_processor=without == {True})


def merged(parts: Sequence[TextTrace], processors: Sequence[int]) -> TextTrace:
    """The traces of one processor each as one trace, one access of each in turn. The header is that of any part."""
    rows = sorted(
        (at, processor, number)
        for number, (part, processor) in enumerate(zip(parts, processors, strict=True))
        for at in range(len(part.ops))
    )
    header = next((part.header for part in parts if part.header.text() != Header().text()), Header())
    return TextTrace(
        ", ".join(part.where for part in parts),
        parts[0].title,
        header,
        [processor for _, processor, _ in rows],
        [parts[number].ops[at] for at, _, number in rows],
        [parts[number].addresses[at] for at, _, number in rows],
        [parts[number].comments[at] for at, _, number in rows],
    )


class _Head:
    """Reads the comments before the first access."""

    def __init__(self, folder: Path) -> None:
        self.title = ""
        self._folder = folder
        self._named: dict[str, Named] = {}
        self._settings: dict[str, object] = {}

    def read(self, comment: str, where: str) -> None:
        """Takes over a directive. UserError for a comment that is nearly one, and for a value that is given twice."""
        directive = _DIRECTIVE.fullmatch(comment)
        if directive is None:
            _check_comment(comment, where)
            self.title = self.title or ("" if comment.startswith("SPDX-") else comment.lstrip("# "))
            return
        kind, value = directive[1], directive[2].strip()
        twice = kind if kind in self._named else ""
        if kind == "set":
            settings = parse_settings(value.split(), source=where)
            twice = next((key for key in settings if key in self._settings), "")
            self._settings |= settings
        else:
            name = str(self._folder / value) if value.endswith(".toml") else value
            self._named[kind] = Named(name, where)
        if twice:
            raise UserError(f"{where}: the header of the trace gives `{twice}` a second time; remove one of the lines")

    def header(self) -> Header:
        """What the comments named."""
        return Header(self._named.get("machine"), self._named.get("protocol"), self._settings)


def _check_comment(comment: str, where: str) -> None:
    """UserError for a comment of the form `WORD:` or `WORD =` whose word is nearly that of a directive."""
    form = _LIKE_DIRECTIVE.match(comment)
    if form is None:
        return
    near = difflib.get_close_matches((form[1] or form[2]).lower(), _WORDS, n=1, cutoff=_SIMILAR)
    if near:
        example = {"set": "set: KEY=VALUE"}.get(_WORDS[near[0]], f"{_WORDS[near[0]]}: NAME")
        raise UserError(
            f"{where}: {quoted(comment)} names nothing that plays the trace; did you mean `# {example}`? To keep the "
            "line as a comment, begin it with ##"
        )


def _access(text: str, where: str) -> tuple[int | None, Op, int]:
    if _LACKEY.fullmatch(text):
        raise UserError(
            f"{where}: {quoted(text)} has the form of Valgrind's tool lackey, which s80lab does not read; convert each "
            f"line to {_FORM} (a line M is a load and a store)"
        )
    words = text.split()
    if len(words) == 2 and _op(words[0]) is not None:
        words = ["", *words]
    if len(words) != 3:
        raise UserError(f"{where}: {quoted(text)} is not an access of the form {_FORM}")
    name, kind, address = words
    processor = _PROCESSOR.fullmatch(name)
    if name and (processor is None or int(processor[1]) >= MAX_PROCESSORS):
        raise UserError(
            f"{where}: the processor {quoted(name)} is not a number from 0 to {MAX_PROCESSORS - 1}, with or without "
            "a P before it"
        )
    op = _op(kind)
    if op is None:
        raise UserError(f"{where}: {quoted(kind)} is not an operation: {hint(kind, _OPS)}")
    value = _number(address)
    if value is None:
        raise UserError(
            f"{where}: the address {quoted(address)} is not a number of at most 64 bits; write bytes, hexadecimal "
            "(0x...) or decimal"
        )
    return None if processor is None else int(processor[1]), op, value


def _op(word: str) -> Op | None:
    """The operation of a word or of a letter, in capitals or not."""
    return (_OPS | _SHORT).get(word.lower())


def _number(address: str) -> int | None:
    """The address; None if it is not a number from 0 to 2^64 - 1."""
    if not address.isascii() or len(address) > _LONGEST:
        return None
    try:
        value = int(address, 0)
    except ValueError:
        return None
    return value if 0 <= value < 1 << 64 else None


def text(order: Order, line_bytes: int, header: Sequence[str] = ()) -> str:
    """The accesses as a text trace with the address of each line. A page walk is written as a load."""
    rows: Sequence[tuple[int, int, int]] = order[["processor", "op", "line"]].tolist()
    word = NAMES | {Op.WALK: NAMES[Op.LOAD]}
    accesses = (f"{processor} {word[Op(op)]} {line * line_bytes:#x}\n" for processor, op, line in rows)
    return "".join([*(f"{line}\n" for line in header), *accesses])

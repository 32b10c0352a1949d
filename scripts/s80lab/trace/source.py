# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads trace files of all kinds. The kind of a file follows from its name or content."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from s80lab.base.errors import UserError
from s80lab.base.strict import parse_settings
from s80lab.trace import files as trace_files
from s80lab.trace import order as trace_order
from s80lab.trace import text as trace_text
from s80lab.trace import tool
from s80lab.trace.formats import exchange
from s80lab.trace.formats.champsim import CHAMPSIM
from s80lab.trace.formats.cs4223 import CS4223
from s80lab.trace.formats.din import DIN
from s80lab.trace.formats.exchange import Format
from s80lab.trace.formats.gem5 import GEM5, MAGIC
from s80lab.trace.order import Op, Order
from s80lab.trace.setup import Decision, Header, Setup, capture_setup, choose, decide, is_imported
from s80lab.trace.text import TextTrace
from s80lab.trace.tool import Begin

FORMATS: dict[str, Format] = {form.name: form for form in (GEM5, CHAMPSIM, DIN, CS4223)}
FORMS = (*FORMATS, "text", "order")


@dataclass(frozen=True)
class Wanted:
    """The options of the command line. A text trace or a capture supplies the machine and protocol if they are None."""

    machine: str | None = None
    protocol: str | None = None
    settings: tuple[str, ...] = ()
    first: int = 0
    count: int | None = None

    def decide(self, header: Header) -> Decision:
        """The options, then the header of the trace."""
        return decide(self.machine, self.protocol, parse_settings(self.settings), header)


@dataclass(frozen=True)
class Source:
    """Accesses, and the machine and protocol that play them. accesses: the number of accesses in the file; None if a
    capture has more accesses than were read."""

    order: Order
    setup: Setup
    text: TextTrace | None = None
    accesses: int | None = None


def kind_of(path: Path) -> str:
    """The kind of a file: capture, order, text, gem5, champsim, din or cs4223. UserError for any other file."""
    if not path.is_file():
        why = "is a folder, a pipe or a device, not a file" if path.exists() else "the file does not exist"
        raise UserError(f"{path}: {why}; name the file of a trace")
    suffixes = [suffix for suffix in path.suffixes if suffix not in (".gz", ".xz")]
    known = {".s80c": "capture", ".order": "order", ".trace": "text"} | {
        form.suffix: form.name for form in FORMATS.values()
    }
    if suffixes and suffixes[-1] in known:
        return known[suffixes[-1]]
    if trace_files.head(path, len(MAGIC)) == MAGIC:
        return GEM5.name
    raise UserError(
        f"{path}: the name does not show the format of the trace; rename the file so that its name ends in one "
        f"of {', '.join(known)}"
    )


def trace_stem(path: Path) -> str:
    """The name of a trace file without folder and suffixes, for a capture of it."""
    return path.name.split(".")[0] or "trace"


def load(path: Path, wanted: Wanted) -> Source:
    """The accesses of a text trace, a totally ordered trace or a full capture, with their machine and protocol."""
    kind = kind_of(path)
    if kind == "text":
        return load_text(path, trace_text.read(path), wanted)
    if kind == "order":
        setup, order = choose(wanted.decide(Header())), trace_order.read(path)
        trace_order.check(order, str(path), setup.machine.processors.count)
        return Source(_cut(path, order, wanted), setup, accesses=len(order))
    if kind == "capture":
        info = tool.capture_info(path)
        require_accesses(info["accesses"], path)
        setup = _captured(path, info, wanted)
        order = tool.from_capture(path, setup, wanted.first, wanted.count)
        # A capture of a live run has events that are not accesses, and counts accesses that it does not hold.
        imported = is_imported(info)
        return Source(order, setup, accesses=info["accesses"] if imported else None)
    raise UserError(
        f"{path}: a trace in format {kind} must be imported first: "
        f"s80lab trace import {shlex.quote(str(path))} --format {kind} --out {shlex.quote(trace_stem(path))}.s80c"
    )


def load_from_start(path: Path, wanted: Wanted) -> Source:
    """As `load`, but also with the accesses before `wanted.first`."""
    count = None if wanted.count is None else wanted.first + wanted.count
    source = load(path, replace(wanted, first=0, count=count))
    _require_access(wanted.first, len(source.order))
    return source


def load_warm(path: Path, wanted: Wanted, state: Path) -> tuple[Source, Begin]:
    """As `load`. Also writes the state of the model's caches before the first of these accesses to the file `state`.

    The accesses before `wanted.first` warm the caches. A capture of a run on the same machine and protocol begins with
    the caches of this run.
    """
    kind = kind_of(path)
    if kind == "capture":
        info = tool.capture_info(path)
        require_accesses(info["accesses"], path)
        setup = _captured(path, info, wanted)
        if not info["warm"] or setup.machine.protocol != info["protocol"]:
            _require_first(path, wanted)
        order = tool.from_capture(path, setup, wanted.first, wanted.count, state)
        return Source(order, setup), Begin(state, info["lines"])
    _require_first(path, wanted)
    whole = load(path, replace(wanted, first=0, count=None))
    lines = int(whole.order["line"].max()) + 1
    used = _cut(path, whole.order, wanted)
    tool.state_after(whole.order[: wanted.first], whole.setup, lines, state)
    return Source(used, whole.setup), Begin(state, lines)


def _require_first(path: Path, wanted: Wanted) -> None:
    if not wanted.first:
        raise UserError(
            f"{path}: --warm needs accesses that warm the caches before the first compared access: give their number "
            "with --first"
        )


def load_text(path: Path, text: TextTrace, wanted: Wanted) -> Source:
    """The accesses of a parsed text trace, with their machine, protocol and comments. `path` names it in messages."""
    setup = choose(wanted.decide(text.header))
    order = text.order(setup.machine.line_bytes)
    trace_order.check(order, str(path), setup.machine.processors.count)
    used = _cut(path, order, wanted)
    part = replace(text, comments=text.comments[wanted.first :][: len(used)])
    return Source(used, setup, part, len(order))


def require_accesses(accesses: int, path: Path) -> None:
    """UserError if the trace has no access."""
    if accesses == 0:
        raise UserError(f"{path}: the trace contains no access, so there is nothing to play; record or write it again")


def _cut(path: Path, order: Order, wanted: Wanted) -> Order:
    require_accesses(len(order), path)
    _require_access(wanted.first, len(order))
    end = None if wanted.count is None else wanted.first + wanted.count
    return order[wanted.first : end]


def _require_access(first: int, accesses: int) -> None:
    if first and first >= accesses:
        raise UserError(
            f"--first {first}: the trace has only {accesses} accesses, counted from 0; write a smaller number"
        )


def _captured(path: Path, info: dict[str, Any], wanted: Wanted) -> Setup:
    return capture_setup(path, info, wanted.machine, wanted.protocol, wanted.settings)


def export(source: Source, form: str, out: Path, *, compress: bool = False) -> list[Path]:
    """Writes the accesses in a format: one file for text and order, else a folder with one file per processor."""
    line_bytes = source.setup.machine.line_bytes
    if form == "text":
        trace_files.write(out, _exported_text(source, out).encode())
        return [out]
    if form == "order":
        trace_order.write(out, source.order)
        return [out]
    return exchange.export(source.order, FORMATS[form], out, line_bytes, compress=compress)


def _exported_text(source: Source, out: Path) -> str:
    """A text trace that names machine, settings and protocol. UserError if its header cannot name them."""
    title = [f"# {source.text.title}"] if source.text and source.text.title else []
    header = source.setup.header(out.parent)
    read_back = choose(Wanted().decide(trace_text.parse("\n".join(header), str(out), out.parent).header))
    if not read_back.same(source.setup):
        raise UserError(
            f"{out}: the header of a text trace cannot name this machine and protocol ({source.setup.sentence()}); "
            "save them under names without # and line breaks"
        )
    return trace_text.text(source.order, source.setup.machine.line_bytes, [*title, *header])


def lost(order: Order, form: str) -> str:
    """What a format does not hold, if an import of the exported accesses would play other accesses or another order;
    else empty."""
    if form in ("text", "order"):
        return "page walks" if form == "text" and (order["op"] == Op.WALK).any() else ""
    return exchange.lost(order, FORMATS[form])


def import_files(files: list[Path], form: str, line_bytes: int) -> Order:
    """The accesses of files in one format other than text, merged into one order."""
    if form == "order":
        _require_one(files, form)
        return trace_order.read(files[0])
    return exchange.load(files, FORMATS[form], line_bytes)


def load_imported(files: list[Path], form: str, wanted: Wanted) -> Source:
    """The accesses of files in a format without a header, with the machine and protocol of the options."""
    setup = choose(wanted.decide(Header()))
    order = import_files(files, form, setup.machine.line_bytes)
    require_accesses(len(order), files[0])
    trace_order.check(order, str(files[0]), setup.machine.processors.count)
    return Source(order, setup, accesses=len(order))


def import_texts(files: list[Path]) -> TextTrace:
    """One text trace, or the text traces of one processor each, merged in turn. Their headers must not differ."""
    parts = [trace_text.read(path) for path in files]
    if len(parts) == 1:
        return parts[0]
    if not all(part.without_processor for part in parts):
        _require_one(files, "text")
    texts = {part.header.text() for part in parts} - {Header().text()}
    if len(texts) > 1:
        raise UserError(
            f"{files[0]}: the headers of the {len(files)} files name different machines, protocols or settings; write "
            "the same header into each file, or into one of them"
        )
    return trace_text.merged(parts, exchange.processors_of(files))


def _require_one(files: list[Path], form: str) -> None:
    if len(files) != 1:
        raise UserError(
            f"--format {form}: one file contains the accesses of all processors, but {len(files)} files "
            "were named; name one file" + (", or files whose lines name no processor" if form == "text" else "")
        )

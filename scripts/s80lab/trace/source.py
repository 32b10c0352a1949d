# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads trace files of all kinds. The kind of a file follows from its name or content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from s80lab.base.errors import UserError
from s80lab.base.strict import parse_toml
from s80lab.trace import files as trace_files
from s80lab.trace import order as trace_order
from s80lab.trace import text as trace_text
from s80lab.trace import tool
from s80lab.trace.formats import exchange
from s80lab.trace.formats.champsim import CHAMPSIM
from s80lab.trace.formats.din import DIN
from s80lab.trace.formats.exchange import Format
from s80lab.trace.formats.gem5 import GEM5, MAGIC
from s80lab.trace.order import Order
from s80lab.trace.text import TextTrace
from s80lab.trace.tool import Begin, Setup

FORMATS: dict[str, Format] = {form.name: form for form in (GEM5, CHAMPSIM, DIN)}
FORMS = (*FORMATS, "text", "order")
CAPTURE = b"S80"
DEFAULT_MACHINE = "s80"


@dataclass(frozen=True)
class Wanted:
    """The options of the command line. A text trace or a capture supplies the machine and protocol if they are None."""

    machine: str | None = None
    protocol: str | None = None
    settings: tuple[str, ...] = ()
    first: int = 0
    count: int | None = None


@dataclass(frozen=True)
class Source:
    """Accesses, and the machine and protocol that play them."""

    order: Order
    setup: Setup
    text: TextTrace | None = None


def kind_of(path: Path) -> str:
    """The kind of a file: capture, order, text, gem5, champsim or din. UserError for any other file."""
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


def load(path: Path, wanted: Wanted) -> Source:
    """The accesses of a text trace, a totally ordered trace or a full capture, with their machine and protocol."""
    kind = kind_of(path)
    if kind == "text":
        return load_text(path, trace_text.read(path), wanted)
    if kind == "order":
        setup = Setup.load(wanted.machine or DEFAULT_MACHINE, wanted.protocol, list(wanted.settings))
        return Source(_cut(path, trace_order.read(path), wanted), setup)
    if kind == "capture":
        info = tool.capture_info(path)
        require_accesses(info["accesses"], path)
        setup = _captured(info, wanted)
        return Source(tool.from_capture(path, setup, wanted.first, wanted.count), setup)
    raise UserError(
        f"{path}: a trace in format {kind} must be imported first: "
        f"s80lab trace import {path} --format {kind} --out NAME.s80c"
    )


def load_warm(path: Path, wanted: Wanted, state: Path) -> tuple[Source, Begin]:
    """As `load`. Also writes the state of the model's caches before the first of these accesses to the file `state`.

    The accesses before `wanted.first` warm the caches. A capture of a run on the same machine and protocol begins with
    the caches of this run.
    """
    kind = kind_of(path)
    if kind == "capture":
        info = tool.capture_info(path)
        require_accesses(info["accesses"], path)
        setup = _captured(info, wanted)
        if not info["warm"] or setup.protocol.stem != info["protocol"]:
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
    machine, protocol = wanted.machine or text.machine or DEFAULT_MACHINE, wanted.protocol or text.protocol
    setup = Setup.load(machine, protocol, [*text.settings, *wanted.settings])
    order = text.order(setup.machine.line_bytes)
    trace_order.check(order, str(path), setup.machine.processors.count)
    used = _cut(path, order, wanted)
    return Source(used, setup, replace(text, comments=text.comments[wanted.first :][: len(used)]))


def require_accesses(accesses: int, path: Path) -> None:
    """UserError if the trace has no access."""
    if accesses == 0:
        raise UserError(f"{path}: the trace contains no access, so there is nothing to play; record or write it again")


def _cut(path: Path, order: Order, wanted: Wanted) -> Order:
    require_accesses(len(order), path)
    if wanted.first and wanted.first >= len(order):
        raise UserError(
            f"--first {wanted.first}: the trace has only {len(order)} accesses, counted from 0; write a smaller number"
        )
    end = None if wanted.count is None else wanted.first + wanted.count
    return order[wanted.first : end]


def _captured(info: dict[str, Any], wanted: Wanted) -> Setup:
    """The named machine or else the capture's machine, in both cases with the capture's line size and processors."""
    made = parse_toml(info["machine"], "the machine of the capture")
    settings = [
        f"line_bytes={made['line_bytes']}",
        f"processors.count={made['processors']['count']}",
        f"processors.threads_per_core={made['processors']['threads_per_core']}",
    ]
    name = wanted.machine or made["name"]
    return Setup.load(name, wanted.protocol, [*settings, *wanted.settings])


def export(source: Source, form: str, out: Path, *, compress: bool = False) -> list[Path]:
    """Writes the accesses in a format: one file for text and order, else a folder with one file per processor."""
    line_bytes = source.setup.machine.line_bytes
    if form == "text":
        trace_files.write(out, trace_text.text(source.order, line_bytes).encode())
        return [out]
    if form == "order":
        trace_order.write(out, source.order)
        return [out]
    return exchange.export(source.order, FORMATS[form], out, line_bytes, compress=compress)


def import_files(files: list[Path], form: str, line_bytes: int) -> Order:
    """The accesses of files in one format, merged into one order."""
    if form in ("text", "order"):
        if len(files) != 1:
            raise UserError(
                f"--format {form}: one file contains the accesses of all processors, but {len(files)} files "
                "were named; name one file"
            )
        return trace_text.read(files[0]).order(line_bytes) if form == "text" else trace_order.read(files[0])
    return exchange.load(files, FORMATS[form], line_bytes)

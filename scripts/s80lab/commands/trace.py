# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands `s80lab trace ...` and `s80lab agree`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.console import Console

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.staging import scratch
from s80lab.base.suggest import hint
from s80lab.base.terminal import counted, plain, say
from s80lab.commands.output import print_json, sayer
from s80lab.gem5 import binary as gem5_binary
from s80lab.gem5.agree import agree, replay
from s80lab.gem5.check.run import require_certified
from s80lab.report import step_page
from s80lab.trace import files as trace_files
from s80lab.trace import order as trace_order
from s80lab.trace import source as trace_source
from s80lab.trace import step as trace_step
from s80lab.trace import text, tool
from s80lab.trace.order import NAMES, Op
from s80lab.trace.source import FORMATS, Wanted
from s80lab.trace.step_list import show_list
from s80lab.trace.tool import Setup

WIDE = 120
"""Columns of a terminal from which `trace step` prints a table with one column per core, instead of a list."""

KINDS = {"text": "text trace", "order": "totally ordered trace"}
"""Words for formats whose names alone are not clear."""


def _check_format(name: str) -> None:
    if name not in trace_source.FORMS:
        raise UserError(f"--format {name}: there is no such trace format; {hint(name, trace_source.FORMS)}")


def step(
    file: Path,
    machine: str | None,
    protocol: str | None,
    settings: list[str] | None,
    first: int,
    count: int,
    html: Path | None,
    as_json: bool,
) -> None:
    """Show for each access of a trace what each cache did, and which rule of the protocol is the reason."""
    if not file.exists() and (paths.LESSONS / f"{file}.trace").is_file():
        raise UserError(f"there is no file {file}, but a lesson of this name: write `s80lab lesson {file}`")
    source = trace_source.load(file, Wanted(machine, protocol, tuple(settings or ()), first, count))
    lesson = trace_step.lesson(source, file.stem)
    if as_json:
        print_json(trace_step.record(lesson))
    else:
        console = Console(highlight=False)
        (trace_step.show if console.width >= WIDE else show_list)(lesson, console)
    if html is not None:
        trace_files.write(html, step_page.page(lesson).encode())
        sayer(as_json)(f"page: {html}")


def export(
    file: Path,
    form: str,
    out: Path,
    machine: str | None,
    protocol: str | None,
    settings: list[str] | None,
    first: int,
    count: int | None,
    spacing: Literal["spaced", "close"],
    compress: bool,
) -> None:
    """Write the accesses of a capture or trace in the format of another simulator, in the order in which the model
    plays them."""
    _check_format(form)
    source = trace_source.load(file, Wanted(machine, protocol, tuple(settings or ()), first, count))
    if spacing == "spaced":
        source = trace_source.Source(replay.spaced(source.order, source.setup.machine), source.setup)
    files = trace_source.export(source, form, out, compress=compress)
    print(f"{_accesses(len(source.order))} in {counted(len(files), 'file')}: {out}")
    lost = text.EXPORT_LOSES if form == "text" else _lost(form, exported=True)
    kept = "keeps everything that the trace holds" if lost == "nothing" else f"does not keep {lost}"
    say(f"the format {form} {kept}", sys.stdout)


def import_(files: list[Path], form: str, out: Path, machine: str, settings: list[str] | None) -> None:
    """Convert the trace of another simulator to a full capture. Each access counts as one instruction."""
    _check_format(form)
    if out.suffix != ".s80c":
        raise UserError(f"--out {out}: the name of a capture must end in .s80c")
    setup = Setup.load(machine, None, settings or [])
    order = trace_source.import_files(files, form, setup.machine.line_bytes)
    trace_source.require_accesses(len(order), files[0])
    trace_order.check(order, str(files[0]), setup.machine.processors.count)
    highest = int(order["line"].max()) if len(order) else 0
    origin = json.dumps({"imported": form, "files": [file.name for file in files], "accesses": len(order)})
    tool.to_capture(order, setup.machine, out, lines=highest + 1, protocol="none", origin=origin)
    print(f"{_accesses(len(order))} of {counted(trace_order.processors(order), 'processor')}: {out}")
    lost = text.IMPORT_LOSES if form == "text" else _lost(form, exported=False)
    say(f"the capture does not keep {'ticks' if lost == 'nothing' else f'{lost}, ticks'}", sys.stdout)
    if len(files) > 1 and not FORMATS[form].timed:
        say(f"the files have no ticks, so they were merged in turn, one {FORMATS[form].unit} of each", sys.stdout)


def info(file: Path, line_bytes: int, as_json: bool) -> None:
    """Print the format and size of a capture or trace: accesses, processors, lines."""
    kind = trace_source.kind_of(file)
    if kind == "capture":
        content = tool.capture_info(file)
        if as_json:
            print_json({"file": str(file), "kind": kind} | content)
            return
        print(f"{file}: {kind}")
        size = f"{counted(content['processors'], 'processor')}, {counted(content['lines'], 'line')} of memory"
        print(f"form {content['form']}, {size}")
        epochs, events = counted(content["windows"], "epoch"), counted(content["events"], "event")
        print(f"{epochs}, {events}, {_accesses(content['accesses'])}")
        warm = "warm" if content["warm"] else "cold"
        print(f"{counted(content['instructions'], 'instruction')}; caches at the beginning: {warm}")
        print(f"origin: {plain(content['origin'])}")
        return
    order = trace_source.import_files([file], kind, line_bytes)
    by_op = {NAMES[op]: int((order["op"] == op).sum()) for op in Op}
    processors, lines = len(np.unique(order["processor"])), len(np.unique(order["line"]))
    if as_json:
        counts = {"accesses": len(order), "by_op": by_op, "processors": processors, "lines": lines}
        print_json({"file": str(file), "kind": kind} | counts)
        return
    ops = ", ".join(f"{count} {name}" for name, count in by_op.items())
    print(f"{file}: {KINDS.get(kind, kind)}")
    print(f"{_accesses(len(order))} ({ops}) of {counted(processors, 'processor')} to {counted(lines, 'line')}")


def agree_command(
    file: Path,
    machine: str | None,
    settings: list[str] | None,
    first: int,
    count: int | None,
    spacing: Literal["spaced", "close"],
    warm: bool,
    gem5: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Play equal accesses through gem5's Ruby (MOESI_hammer) and through the model (protocol hammer), and compare the
    counts of both."""
    wanted = Wanted(machine, agree.PROTOCOL, tuple(settings or ()), first, count)
    folder = out or agree.default_folder(f"{file.stem}-{spacing}{'-warm' if warm else ''}")
    with scratch() as temporary:
        if warm:
            source, begin = trace_source.load_warm(file, wanted, temporary / "begin.state")
        else:
            source, begin = trace_source.load(file, wanted), None
        binary = gem5_binary.find_gem5(gem5)
        require_certified(binary, x86=False)
        rows, record = agree.run(source.order, source.setup, spacing, binary, folder, begin)
    if warm and not as_json:
        print(_loaded(record["loading"]))
    if as_json:
        print_json([row.record() for row in rows])
    else:
        agree.show(rows, Console())
    sayer(as_json)(f"files: {folder}")


def _loaded(loading: dict[str, Any]) -> str:
    """One sentence about the caches that were loaded into Ruby."""
    lines = sum(count for place in loading["contents"].values() for count in place.values())
    return f"warm caches with {counted(lines, 'line')} were loaded into Ruby by {_accesses(loading['accesses'])}"


def _accesses(number: int) -> str:
    return counted(number, "access", "accesses")


def _lost(form: str, *, exported: bool) -> str:
    if form == "order":
        return "nothing"
    return FORMATS[form].export_loses if exported else FORMATS[form].import_loses

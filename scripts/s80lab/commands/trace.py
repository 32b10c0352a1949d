# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands `s80lab trace ...` and `s80lab agree`."""

from __future__ import annotations

import gc
import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.staging import scratch
from s80lab.base.suggest import hint
from s80lab.base.terminal import counted, plain, say
from s80lab.commands.line.compare import AgreeArguments
from s80lab.commands.line.traces import ExportArguments, ImportArguments, InfoArguments, StepArguments
from s80lab.commands.output import print_json, print_records, sayer
from s80lab.protocol.table import load_protocol
from s80lab.trace import files as trace_files
from s80lab.trace import source as trace_source
from s80lab.trace import step as trace_step
from s80lab.trace import text, tool
from s80lab.trace.formats import exchange
from s80lab.trace.formats.cs4223 import CS4223
from s80lab.trace.formats.din import DIN
from s80lab.trace.formats.gem5 import GEM5
from s80lab.trace.order import NAMES, Op
from s80lab.trace.setup import DEFAULT_MACHINE, Header, capture_setup, choose, origin_of, origin_text
from s80lab.trace.source import FORMATS, Source, Wanted

# Commands import what they alone need where they need it, because a step of a short trace takes less time than that.
WIDE = 120
"""Columns of a terminal from which `trace step` prints a table with one column per core, instead of a list."""

KINDS = {"text": "text trace", "order": "totally ordered trace"}
"""Words for formats whose names alone are not clear."""


def _check_format(name: str) -> None:
    if name not in trace_source.FORMS:
        raise UserError(f"--format {name}: there is no such trace format; {hint(name, trace_source.FORMS)}")


def step(args: StepArguments) -> None:
    """Show for each access of a trace what each cache did, and which rule of the protocol is the reason."""
    if not args.file.exists() and (paths.LESSONS / f"{args.file}.trace").is_file():
        raise UserError(f"there is no file {args.file}, but a lesson of this name: write `s80lab lesson {args.file}`")
    source = trace_source.load_from_start(
        args.file, Wanted(args.machine, args.protocol, tuple(args.settings or ()), args.first, args.count)
    )
    with _no_collector():
        lesson = trace_step.lesson(source, args.file.stem, args.first)
        if args.as_json:
            print_records(trace_step.record(lesson, args.complete), "steps")
    if not args.as_json:
        from rich.console import Console

        from s80lab.trace import step_table

        console = Console(highlight=False)
        (step_table.show if console.width >= WIDE else step_table.show_list)(lesson, console)
    if args.html is not None:
        from s80lab.report import step_page

        trace_files.write(args.html, step_page.page(lesson).encode())
        sayer(args.as_json)(f"page: {args.html}")


@contextmanager
def _no_collector() -> Iterator[None]:
    """Without Python's collector of reference cycles: steps have none, and the collector visits all of them often."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def export(args: ExportArguments) -> None:
    """Write the accesses of a capture or trace in the format of another simulator, in the order in which the model
    plays them."""
    _check_format(args.form)
    source = trace_source.load(
        args.file, Wanted(args.machine, args.protocol, tuple(args.settings or ()), args.first, args.count)
    )
    timed = args.form in FORMATS and FORMATS[args.form].timed
    if args.spacing == "spaced" or (timed and not source.order["tick"].any()):
        from s80lab.gem5.agree import replay

        source = replace(source, order=replay.spaced(source.order, source.setup.machine))
    files = trace_source.export(source, args.form, args.out, compress=args.compress)
    print(f"{_accesses(len(source.order))} in {counted(len(files), 'file')}: {args.out}")
    say(source.setup.sentence(), sys.stdout)
    lost = text.EXPORT_LOSES if args.form == "text" else _lost(args.form, exported=True)
    kept = "keeps everything that the trace holds" if lost == "nothing" else f"does not keep {lost}"
    say(f"the format {args.form} {kept}", sys.stdout)
    _tell_import(source, args.form, files, args.spacing)


def _tell_import(source: Source, form: str, files: list[Path], spacing: str) -> None:
    """The command that imports an export again, or why an import has other accesses."""
    lost = trace_source.lost(source.order, form)
    if lost:
        remedy = "; --spacing spaced keeps it" if form == GEM5.name and spacing == "close" else ""
        say(f"an import of these files is another trace: the format {form} does not hold {lost}{remedy}", sys.stdout)
        return
    named = " ".join(shlex.quote(str(file)) for file in files)
    words = ["--format", form, *([] if form == "text" else source.setup.options()), "--out", "NAME.s80c"]
    print(plain(f"import it again: s80lab trace import {named} {shlex.join(words)}"))


def import_(args: ImportArguments) -> None:
    """Convert the trace of another simulator to a full capture. Each access counts as one instruction."""
    _check_format(args.form)
    if args.out.suffix != ".s80c":
        raise UserError(f"--out {args.out}: the name of a capture must end in .s80c")
    wanted = Wanted(args.machine, args.protocol, tuple(args.settings or ()))
    if args.form == "text":
        texts = trace_source.import_texts(args.files)
        source = trace_source.load_text(args.files[0], texts, wanted)
    else:
        source = trace_source.load_imported(args.files, args.form, wanted)
    setup, order = source.setup, source.order
    load_protocol(setup.protocol)
    content = {"imported": args.form, "files": [file.name for file in args.files], "accesses": len(order)} | origin_of(
        setup
    )
    highest = int(order["line"].max())
    tool.to_capture(
        order,
        setup.machine,
        args.out,
        lines=highest + 1,
        protocol=setup.machine.protocol,
        origin=json.dumps(content),
        counted=args.form in FORMATS and FORMATS[args.form].counts_instructions,
    )
    print(f"{_accesses(len(order))} of {counted(len(np.unique(order['processor'])), 'processor')}: {args.out}")
    say(setup.sentence(), sys.stdout)
    lost = text.IMPORT_LOSES if args.form == "text" else _lost(args.form, exported=False)
    say(f"the capture does not keep {'ticks' if lost == 'nothing' else f'{lost}, ticks'}", sys.stdout)
    if len(args.files) > 1:
        _tell_processors(args.files, args.form)
    if args.form == DIN.name and any(CS4223.suffix in file.suffixes for file in args.files):
        say(
            "label 2 was read as an instruction fetch; in traces of the course CS4223 it is a number of cycles: import "
            "those with --format cs4223",
            sys.stdout,
        )


def _tell_processors(files: list[Path], form: str) -> None:
    """Which file is which processor, and how the files were merged."""
    for processor, file in sorted(zip(exchange.processors_of(files), files, strict=True)):
        print(plain(f"processor {processor}: {file}"))
    unit = FORMATS[form].unit if form in FORMATS else "access"
    if form not in FORMATS or not FORMATS[form].timed:
        say(f"the files have no ticks, so they were merged in turn, one {unit} of each", sys.stdout)


def info(args: InfoArguments) -> None:
    """Print the format and size of a capture or trace: accesses, processors, lines."""
    kind = trace_source.kind_of(args.file)
    if kind == "capture":
        _capture_info(args.file, args.as_json)
        return
    if kind == "text":
        trace = trace_source.import_texts([args.file])
        setup = choose(Wanted().decide(trace.header)) if args.line_bytes is None else None
        size = args.line_bytes or (setup.machine.line_bytes if setup else 0)
        order = trace.order(size)
        why = setup.sentence() if setup else "--line-bytes"
    else:
        size = args.line_bytes or choose(Wanted().decide(Header())).machine.line_bytes
        order = trace_source.import_files([args.file], kind, size)
        why = "--line-bytes" if args.line_bytes else f"default, as of machine {DEFAULT_MACHINE}"
    by_op = {NAMES[op]: int((order["op"] == op).sum()) for op in Op}
    processors, lines = len(np.unique(order["processor"])), len(np.unique(order["line"]))
    sized = kind != "order"  # which stores the numbers of lines
    if args.as_json:
        counts = {"accesses": len(order), "by_op": by_op, "processors": processors, "lines": lines}
        print_json(
            {"file": str(args.file), "kind": kind}
            | counts
            | ({"line_bytes": size, "line_bytes_of": why} if sized else {})
        )
        return
    ops = ", ".join(f"{count} {name}" for name, count in by_op.items())
    print(f"{args.file}: {KINDS.get(kind, kind)}")
    print(f"{_accesses(len(order))} ({ops}) of {counted(processors, 'processor')} to {counted(lines, 'line')}")
    if sized:
        say(f"lines of {size} bytes ({why})", sys.stdout)


def _capture_info(file: Path, as_json: bool) -> None:
    content = tool.capture_info(file)
    if as_json:
        print_json({"file": str(file), "kind": "capture"} | content)
        return
    print(f"{file}: capture")
    size = f"{counted(content['processors'], 'processor')}, {counted(content['lines'], 'line')} of memory"
    print(f"form {content['form']}, {size}")
    try:
        setup = capture_setup(file, content, None, None, [])
        say(f"lines of {setup.machine.line_bytes} bytes ({setup.sentence()})", sys.stdout)
    except UserError as error:
        say(f"the capture cannot be played as it is: {error}", sys.stdout)
    epochs, events = counted(content["epochs"], "epoch"), counted(content["events"], "event")
    print(f"{epochs}, {events}, {_accesses(content['accesses'])}")
    warm = "warm" if content["warm"] else "cold"
    print(f"{counted(content['instructions'], 'instruction')}; caches at the beginning: {warm}")
    print(f"origin: {plain(origin_text(content['origin']))}")


def agree_command(args: AgreeArguments) -> None:
    """Play equal accesses through a protocol of gem5's Ruby and through the model with its table, and compare the
    counts of both."""
    from rich.console import Console

    from s80lab.gem5 import binary as gem5_binary
    from s80lab.gem5.agree import agree
    from s80lab.gem5.check.run import require_certified

    settings = agree.with_inclusion(args.protocol, args.settings or ())
    wanted = Wanted(args.machine, args.protocol, settings, args.first, args.count)
    folder = args.out or agree.default_folder(f"{args.file.stem}-{args.spacing}{'-warm' if args.warm else ''}")
    with scratch() as temporary:
        if args.warm:
            source, begin = trace_source.load_warm(args.file, wanted, temporary / "begin.state")
        else:
            source, begin = trace_source.load(args.file, wanted), None
        binary = gem5_binary.find_gem5(args.gem5)
        if args.protocol == agree.PROTOCOL:
            require_certified(binary, x86=False)
        rows, record = agree.run(source.order, source.setup, args.spacing, binary, folder, begin)
    named = source.text.header.protocol if source.text else None
    other = named.table_name if named and named.table_name != args.protocol else ""
    instead = f" (by --protocol; the trace names {other})" if other else ""
    sayer(args.as_json)(f"{source.setup.sentence()}{instead}")
    if args.warm and not args.as_json:
        print(_loaded(record["loading"]))
    if args.as_json:
        print_json([row.record() for row in rows])
    else:
        agree.show(rows, Console(), agree.counterpart(source.setup).ruby)
    sayer(args.as_json)(f"files: {folder}")


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

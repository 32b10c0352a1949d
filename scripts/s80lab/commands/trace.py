# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands `s80lab trace ...` and `s80lab agree`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer
from rich.console import Console

from s80lab.base.errors import UserError
from s80lab.base.strict import hint
from s80lab.commands.output import AsJson, print_json, sayer
from s80lab.commands.parts import MachineSettings
from s80lab.gem5 import binary as gem5_binary
from s80lab.gem5.agree import agree, replay
from s80lab.trace import files as trace_files
from s80lab.trace import order as trace_order
from s80lab.trace import source as trace_source
from s80lab.trace import step as trace_step
from s80lab.trace import step_page, text, tool
from s80lab.trace.order import NAMES, Op
from s80lab.trace.source import FORMATS, Wanted
from s80lab.trace.step_list import show_list
from s80lab.trace.tool import Setup

trace_app = typer.Typer(
    help="Show memory accesses step by step, and convert traces from and to other simulators.", no_args_is_help=True
)

WIDE = 120
"""Columns of a terminal from which `trace step` prints a table with one column per core, instead of a list."""

Machine = Annotated[
    str | None,
    typer.Option(
        help="Machine to model: a name in configs/machines, or a .toml file. Default: the machine that the trace or "
        "capture names, else s80."
    ),
]
Protocol = Annotated[
    str | None,
    typer.Option(
        help="Coherence protocol to model: a name in configs/protocols, or a .toml file. Default: the protocol "
        "that the trace names, else the machine's."
    ),
]
First = Annotated[
    int,
    typer.Option(min=0, help="Number of the first access that is used; the accesses of the file are counted from 0."),
]
Count = Annotated[
    int | None, typer.Option(min=1, help="Number of accesses that are used. Default: all from --first on.")
]


def _form(name: str) -> str:
    if name not in trace_source.FORMS:
        raise UserError(f"there is no trace format `{name}`: {hint(name, trace_source.FORMS)}")
    return name


Form = Annotated[
    str,
    typer.Option(
        "--format",
        callback=_form,
        help=f"Format of the trace files that are written or read: {', '.join(trace_source.FORMS)}.",
    ),
]


@trace_app.command("step")
def step(
    file: Annotated[Path, typer.Argument(help="A text trace, a totally ordered trace or a full capture.")],
    machine: Machine = None,
    protocol: Protocol = None,
    settings: MachineSettings = None,
    first: First = 0,
    count: Annotated[int, typer.Option(min=1, help="Largest number of accesses to show.")] = 200,
    html: Annotated[
        Path | None, typer.Option(help="HTML file to write, with the state of every cache after each access.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show for each access of a trace what each cache did, and which rule of the protocol is the reason."""
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


@trace_app.command("export")
def export(
    file: Annotated[Path, typer.Argument(help="A full capture, a text trace or a totally ordered trace.")],
    form: Form,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder to write, with one file per processor; for --format text and order: one file to write."
        ),
    ],
    machine: Machine = None,
    protocol: Protocol = None,
    settings: MachineSettings = None,
    first: First = 0,
    count: Count = None,
    spacing: Annotated[
        Literal["spaced", "close"],
        typer.Option(
            help="Times of the accesses. spaced: so far apart that only one access is in progress at a time; "
            "close: the model's simulated time."
        ),
    ] = "close",
    compress: Annotated[bool, typer.Option(help="Compress each file that is written with gzip.")] = False,
) -> None:
    """Write the accesses of a capture or trace in the format of another simulator, in the order in which the model
    plays them."""
    source = trace_source.load(file, Wanted(machine, protocol, tuple(settings or ()), first, count))
    if spacing == "spaced":
        source = trace_source.Source(replay.spaced(source.order, source.setup.machine), source.setup)
    files = trace_source.export(source, form, out, compress=compress)
    print(f"{len(source.order)} accesses in {len(files)} file{'s' if len(files) > 1 else ''}: {out}")
    print(f"not in the exported files: {text.EXPORT_LOSES if form == 'text' else _lost(form, exported=True)}")


@trace_app.command("import")
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Trace files, one per processor: if all names begin with cpuNN, NN is the processor; otherwise "
            "the files belong to processors 0, 1, ... in this order. Formats text and order: one file."
        ),
    ],
    form: Form,
    out: Annotated[Path, typer.Option(help="Capture file to write; its name ends in .s80c.")],
    machine: Annotated[
        str,
        typer.Option(
            help="Machine whose line size and number of processors apply: a name in configs/machines, or a .toml file."
        ),
    ] = trace_source.DEFAULT_MACHINE,
    settings: MachineSettings = None,
) -> None:
    """Convert the trace of another simulator to a full capture. Each access counts as one instruction."""
    if out.suffix != ".s80c":
        raise UserError(f"--out {out}: the name of a capture must end in .s80c")
    setup = Setup.load(machine, None, settings or [])
    order = trace_source.import_files(files, form, setup.machine.line_bytes)
    trace_order.check(order, str(files[0]), setup.machine.processors.count)
    highest = int(order["line"].max()) if len(order) else 0
    origin = json.dumps({"imported": form, "files": [file.name for file in files], "accesses": len(order)})
    tool.to_capture(order, setup.machine, out, lines=highest + 1, protocol="none", origin=origin)
    print(f"{len(order)} accesses of {trace_order.processors(order)} processors: {out}")
    print(f"not in the imported capture: {text.IMPORT_LOSES if form == 'text' else _lost(form, exported=False)}, ticks")


@trace_app.command("info")
def info(
    file: Annotated[Path, typer.Argument(help="A capture or trace file in any supported format.")],
    line_bytes: Annotated[
        int,
        typer.Option(
            min=32,
            help="Line size in bytes, by which addresses are converted to lines. Not used for formats that store line "
            "numbers.",
        ),
    ] = 128,
    as_json: AsJson = False,
) -> None:
    """Print the format and size of a capture or trace: accesses, processors, lines."""
    kind = trace_source.kind_of(file)
    if kind == "capture":
        content = tool.capture_info(file)
        if as_json:
            print_json({"file": str(file), "kind": kind} | content)
            return
        print(f"{file}: {kind}")
        print(f"form {content['form']}, {content['processors']} processors, {content['lines']} lines of memory")
        print(f"{content['windows']} epochs, {content['events']} events, {content['accesses']} accesses")
        print(
            f"{content['instructions']} instructions; caches at the beginning: {'warm' if content['warm'] else 'cold'}"
        )
        print(f"origin: {content['origin']}")
        return
    order = trace_source.import_files([file], kind, line_bytes)
    by_op = {NAMES[op]: int((order["op"] == op).sum()) for op in Op}
    processors, lines = len(np.unique(order["processor"])), len(np.unique(order["line"]))
    if as_json:
        counts = {"accesses": len(order), "by_op": by_op, "processors": processors, "lines": lines}
        print_json({"file": str(file), "kind": kind} | counts)
        return
    ops = ", ".join(f"{count} {name}" for name, count in by_op.items())
    print(f"{file}: {kind}")
    print(f"{len(order)} accesses ({ops}) of {processors} processors to {lines} lines")


def agree_command(
    file: Annotated[Path, typer.Argument(help="A text trace, a totally ordered trace or a full capture.")],
    machine: Machine = None,
    settings: MachineSettings = None,
    first: First = 0,
    count: Count = None,
    spacing: Annotated[
        Literal["spaced", "close"],
        typer.Option(
            help="Times of the accesses. spaced: so far apart that only one access is in progress at a time; "
            "close: the model's simulated time."
        ),
    ] = "spaced",
    gem5: Annotated[
        Path | None,
        typer.Option(
            help="Path of a gem5 24.0.0.1 binary built with MOESI_hammer. Default: $GEM5, else gem5.fast on PATH."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the traces and outputs of both simulators. Default: results/agreement/NAME."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play equal accesses through gem5's Ruby (MOESI_hammer) and through the model (protocol hammer), and compare the
    counts of both."""
    binary = gem5_binary.find_gem5(gem5)
    gem5_binary.require(binary, x86=False)
    source = trace_source.load(file, Wanted(machine, agree.PROTOCOL, tuple(settings or ()), first, count))
    folder = out or agree.default_folder(f"{file.stem}-{spacing}")
    rows, _ = agree.run(source.order, source.setup, spacing, binary, folder)
    if as_json:
        print_json([row.record() for row in rows])
    else:
        agree.show(rows, Console())
    sayer(as_json)(f"files: {folder}")


def _lost(form: str, *, exported: bool) -> str:
    if form == "order":
        return "nothing"
    return FORMATS[form].export_loses if exported else FORMATS[form].import_loses

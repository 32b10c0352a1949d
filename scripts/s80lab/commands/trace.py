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

Machine = Annotated[str | None, typer.Option(help="Model this machine: a name in configs/machines, or a .toml file.")]
Protocol = Annotated[
    str | None, typer.Option(help="Model this protocol: a name in configs/protocols, or a .toml file.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Override a value of the machine file, e.g. l2.size=4MiB. May be repeated."),
]
First = Annotated[int, typer.Option(min=0, help="Number of the first access, counted from 0.")]
Count = Annotated[int | None, typer.Option(min=1, help="Number of accesses; default: all.")]


def _form(name: str) -> str:
    if name not in trace_source.FORMS:
        raise UserError(f"there is no format `{name}`: {hint(name, trace_source.FORMS)}")
    return name


Form = Annotated[str, typer.Option("--format", callback=_form, help=f"Format: {', '.join(trace_source.FORMS)}.")]


@trace_app.command("step")
def step(
    file: Annotated[Path, typer.Argument(help="A text trace, a totally ordered trace or a full capture.")],
    machine: Machine = None,
    protocol: Protocol = None,
    settings: Settings = None,
    first: First = 0,
    count: Annotated[int, typer.Option(min=1, help="Maximum number of accesses.")] = 200,
    html: Annotated[
        Path | None, typer.Option(help="Also write an HTML page with the state of every cache to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show for each access what each cache did, and why."""
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
    out: Annotated[Path, typer.Option(help="Folder for one file per processor; a file for text and order.")],
    machine: Machine = None,
    protocol: Protocol = None,
    settings: Settings = None,
    first: First = 0,
    count: Count = None,
    spacing: Annotated[
        Literal["spaced", "close"],
        typer.Option(help="Ticks of the accesses. spaced: each access alone; close: by the model's simulated time."),
    ] = "close",
    compress: Annotated[bool, typer.Option(help="Compress each file with gzip.")] = False,
) -> None:
    """Write accesses in the format of another simulator, in the order in which the model plays them."""
    source = trace_source.load(file, Wanted(machine, protocol, tuple(settings or ()), first, count))
    if spacing == "spaced":
        source = trace_source.Source(replay.spaced(source.order, source.setup.machine), source.setup)
    files = trace_source.export(source, form, out, compress=compress)
    print(f"{len(source.order)} accesses in {len(files)} file{'s' if len(files) > 1 else ''}: {out}")
    print(f"lost: {text.EXPORT_LOSES if form == 'text' else _lost(form, exported=True)}")


@trace_app.command("import")
def import_(
    files: Annotated[
        list[Path], typer.Argument(help="One file per processor (named cpuNN..., or in this order); one file for text.")
    ],
    form: Form,
    out: Annotated[Path, typer.Option(help="Capture to write (.s80c).")],
    machine: Annotated[
        str, typer.Option(help="Machine that gives line size and number of processors.")
    ] = trace_source.DEFAULT_MACHINE,
    settings: Settings = None,
) -> None:
    """Convert another simulator's trace to a full capture. Each access counts as one instruction."""
    if out.suffix != ".s80c":
        raise UserError(f"--out {out}: the name of a capture must end in .s80c")
    setup = Setup.load(machine, None, settings or [])
    order = trace_source.import_files(files, form, setup.machine.line_bytes)
    trace_order.check(order, str(files[0]), setup.machine.processors.count)
    highest = int(order["line"].max()) if len(order) else 0
    origin = json.dumps({"imported": form, "files": [file.name for file in files], "accesses": len(order)})
    tool.to_capture(order, setup.machine, out, lines=highest + 1, protocol="none", origin=origin)
    print(f"{len(order)} accesses of {trace_order.processors(order)} processors: {out}")
    print(f"lost: {text.IMPORT_LOSES if form == 'text' else _lost(form, exported=False)}, ticks")


@trace_app.command("info")
def info(
    file: Annotated[Path, typer.Argument(help="A capture or trace in any supported format.")],
    line_bytes: Annotated[int, typer.Option(min=32, help="Line size in bytes, for formats that have addresses.")] = 128,
    as_json: AsJson = False,
) -> None:
    """Print what a capture or trace contains."""
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
    settings: Settings = None,
    first: First = 0,
    count: Count = None,
    spacing: Annotated[
        Literal["spaced", "close"],
        typer.Option(help="spaced: each access alone in the machine; close: by the model's simulated time."),
    ] = "spaced",
    gem5: Annotated[
        Path | None,
        typer.Option(help="Path of a gem5 24.0.0.1 with MOESI_hammer; default: $GEM5, else gem5.fast on PATH."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for all files of the comparison.")] = None,
    as_json: AsJson = False,
) -> None:
    """Play accesses through gem5's Ruby and through the model's hammer protocol, and compare the counts."""
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

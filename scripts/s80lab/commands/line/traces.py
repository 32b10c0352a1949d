# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands on coherence protocols and on memory traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from s80lab.commands.line import complete
from s80lab.commands.line.declare import Arguments, Section, argument, option
from s80lab.commands.line.options import (
    AsJson,
    Html,
    MachineSettings,
    TraceMachine,
    TraceProtocol,
    protocol_option,
)

SECTION = Section("Protocols and traces")

First = Annotated[
    int,
    typer.Option(
        min=0, metavar="N", help="Number of the first access that is used; the accesses of the file are counted from 0."
    ),
]
Count = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Number of accesses that are used. Default: all from --first on.")
]
FORMATS = ("gem5", "champsim", "din", "cs4223", "text", "order")
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE",
        help="Name in configs/protocols, or path of a .toml file.",
        autocompletion=complete.protocols,
    ),
]


def _format_option(use: str) -> Any:
    """The option --format. use: `read` or `write`."""
    return typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"Format of the files to {use}: {', '.join(FORMATS)}.",
        autocompletion=lambda: list(FORMATS),
    )


@SECTION.command(
    "lesson", "lesson:lesson_command", "s80lab lesson", "s80lab lesson false-sharing --protocol mesi --html page.html"
)
class LessonArguments(Arguments):
    """Step through a shipped teaching trace, with reasons.

    No guest is needed. `s80lab trace step FILE` does the same with a trace of your own.
    """

    name: str = argument(
        "producer-consumer",
        "Name of a trace in docs/traces; --list shows the names.",
        metavar="LESSON",
        autocompletion=complete.lessons,
    )
    protocol: Annotated[
        str | None, protocol_option("the protocol that the trace file names", "that plays the trace")
    ] = None
    listed: bool = option(False, "List the names and titles of all lessons, and step through none.", "--list")
    html: Html = None
    as_json: AsJson = False


SECTION.group("protocol", "Show, prove and create protocol tables.")


@SECTION.command("protocol list", "protocol:list_protocols", "s80lab protocol list", "s80lab protocol list --json")
class ListProtocolsArguments(Arguments):
    """List the protocol tables and their stored proofs."""

    as_json: AsJson = False


@SECTION.command(
    "protocol show", "protocol:show", "s80lab protocol show moesi", "s80lab protocol show moesi --svg moesi.svg"
)
class ShowArguments(Arguments):
    """Print a protocol table: a row per state, a column per event."""

    name: Name
    svg: Path | None = option(None, "SVG file to write, with the state diagram.", metavar="FILE")
    as_json: AsJson = False


@SECTION.command(
    "protocol check",
    "protocol:check",
    "s80lab protocol check --all --caches 4",
    "s80lab protocol check mine.toml --trace broken.trace --html broken.html",
)
class CheckArguments(Arguments):
    """Prove that protocol tables satisfy all invariants.

    If a table violates an invariant, the command shows a shortest sequence of events that does so (exit code 1).
    """

    files: list[str] | None = argument(
        None,
        "Protocols to check: names in configs/protocols, or .toml files.",
        metavar="NAME|FILE",
        autocompletion=complete.protocols,
    )
    everything: bool = option(False, "Check every protocol table in configs/protocols.", "--all")
    caches: int = option(3, "Number of caches in the proof. All may hold the block.", min=2, max=6, metavar="N")
    again: bool = option(False, "Check the table again even if a stored proof or refusal exists.", "--again")
    trace: Path | None = option(
        None, "Trace file to write, with the counterexample; `trace step` plays it.", metavar="FILE"
    )
    html: Path | None = option(
        None, "HTML file to write, with the counterexample as `trace step` shows it.", metavar="FILE"
    )
    as_json: AsJson = False


@SECTION.command(
    "protocol new", "new_file:new_protocol", "s80lab protocol new mine", "s80lab protocol new course/mine.toml"
)
class NewArguments(Arguments):
    """Write a commented table of MSI, to start from."""

    name: Name


@SECTION.command("protocol docs", "pages:protocol_docs", "s80lab protocol docs", "make pages", hidden=True)
class DocsArguments(Arguments):
    """Regenerate the pages in build/protocols from the tables."""


SECTION.group("trace", "Step through traces of your own, and convert traces.")


@SECTION.command(
    "trace step",
    "trace:step",
    "s80lab trace step docs/traces/migratory.trace",
    "s80lab trace step docs/traces/migratory.trace --protocol mesi --html page.html",
)
class StepArguments(Arguments):
    """Show what each cache did in each access of a trace.

    For each access, the command names the rule of the protocol that is the reason.
    """

    file: Annotated[
        Path, typer.Argument(metavar="TRACE", help="A text trace, a totally ordered trace or a full capture.")
    ]
    machine: TraceMachine = None
    protocol: TraceProtocol = None
    settings: MachineSettings = None
    first: int = option(
        0,
        "Number of the first access to show; the accesses of the file are counted from 0. The accesses before "
        "it are played, too.",
        min=0,
        metavar="N",
    )
    count: int = option(200, "Largest number of accesses to show.", min=1, metavar="N")
    html: Html = None
    complete: bool = option(
        False,
        "With --json: add the contents of all caches and of memory after each access. The size grows with the "
        "square of the number of accesses.",
        "--complete",
    )
    as_json: AsJson = False


@SECTION.command(
    "trace export",
    "trace:export",
    "s80lab trace export docs/traces/migratory.trace --format din --out din",
    "s80lab trace export docs/traces/migratory.trace --format order --out m.order",
)
class ExportArguments(Arguments):
    """Write a capture or trace in another simulator's format.

    The accesses are in the order in which the model plays them.
    """

    file: Annotated[
        Path, typer.Argument(metavar="TRACE", help="A full capture, a text trace or a totally ordered trace.")
    ]
    form: Annotated[str, _format_option("write")]
    out: Annotated[
        Path,
        typer.Option(
            metavar="PATH",
            help="Folder to write, with one file per processor; for --format text and order: one file to write.",
        ),
    ]
    machine: TraceMachine = None
    protocol: TraceProtocol = None
    settings: MachineSettings = None
    first: First = 0
    count: Count = None
    spacing: Literal["spaced", "close"] = option(
        "close",
        "Times of the accesses. spaced: so far apart that only one access is in progress at a time; "
        "close: the model's simulated time.",
    )
    compress: bool = option(False, "Compress each file that is written with gzip.")


@SECTION.command(
    "trace import",
    "trace:import_",
    "s80lab trace import din/cpu00.din din/cpu01.din --format din --out mine.s80c",
    "s80lab trace import docs/traces/migratory.trace --format text --out m.s80c",
)
class ImportArguments(Arguments):
    """Convert another simulator's trace to a full capture.

    Each access counts as one instruction.
    """

    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Trace files, one per processor: if all names begin with cpuNN, NN is the processor; if the names "
            "differ in one number only, this number orders the processors; otherwise the files belong to processors 0, "
            "1, ... in this order. Format order: one file. Format text: one file, or files that name no processor.",
        ),
    ]
    form: Annotated[str, _format_option("read")]
    out: Annotated[Path, typer.Option(metavar="FILE", help="Capture file to write; its name ends in .s80c.")]
    machine: TraceMachine = None
    protocol: TraceProtocol = None
    settings: MachineSettings = None


@SECTION.command(
    "trace info",
    "trace:info",
    "s80lab trace info docs/traces/migratory.trace",
    "s80lab trace info din/cpu00.din --line-bytes 64 --json",
)
class InfoArguments(Arguments):
    """Print the format and size of a capture or trace."""

    file: Annotated[Path, typer.Argument(metavar="TRACE", help="A capture or trace file in any supported format.")]
    line_bytes: int | None = option(
        None,
        "Line size in bytes, by which addresses are converted to lines. Default: that of the machine that the "
        "trace names, else 128. Not used for formats that store line numbers.",
        min=32,
        metavar="N",
    )
    as_json: AsJson = False

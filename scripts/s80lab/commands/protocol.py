# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab protocol`: the protocol tables of configs/protocols and of the user."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer
from rich.console import Console

from s80lab.base.errors import UserError
from s80lab.base.files import write_file
from s80lab.base.progress import Board
from s80lab.base.strict import short_path
from s80lab.commands.line.traces import CheckArguments, ListProtocolsArguments, ShowArguments
from s80lab.commands.output import print_json, sayer
from s80lab.protocol.diagram import write_svg
from s80lab.protocol.docs import known
from s80lab.protocol.proof import Proof, Verdict, list_record, protocol_record, prove_all, proven, verdict_record
from s80lab.protocol.show import print_invariants, print_list, print_protocol, print_verdict
from s80lab.protocol.table import Protocol, find_protocol, load_protocol


def list_protocols(args: ListProtocolsArguments) -> None:
    """List the protocol tables in configs/protocols, and state whether a stored proof of each exists."""
    rows: list[tuple[str, Protocol | UserError, Proof | None]] = []
    for path in known():
        try:
            protocol = load_protocol(path)
            rows.append((path.stem, protocol, proven(protocol)))
        except UserError as error:
            rows.append((path.stem, error, None))
    if args.as_json:
        print_json([list_record(*row) for row in rows])
    else:
        print_list(rows, Console())


def show(args: ShowArguments) -> None:
    """Print a protocol table in readable form: one row per state, one column per event."""
    protocol = load_protocol(find_protocol(args.name))
    if args.as_json:
        print_json(protocol_record(protocol, proven(protocol)))
    else:
        print_protocol(args.name, protocol, proven(protocol), Console())
    if args.svg is not None:
        write_svg(protocol, args.svg)
        sayer(args.as_json)(f"state diagram: {args.svg}")


def check(args: CheckArguments) -> None:
    """Prove that protocol tables satisfy all invariants, or show a shortest sequence of events that violates one (exit
    code 1)."""
    chosen = [find_protocol(one) for one in args.files or []] + (known() if args.everything else [])
    if not chosen:
        raise UserError("no protocol is named: write its name or .toml file after `protocol check`, or add --all")
    chosen = list(dict.fromkeys(chosen))
    if (args.trace or args.html) and len(chosen) > 1:
        raise UserError(
            f"--trace and --html write one counterexample, but {len(chosen)} protocols are named; name one protocol"
        )
    with Board(Console(stderr=True)) as board:
        jobs = {path: board.job(path.stem) for path in chosen}
        verdicts = prove_all(
            chosen, args.caches, args.again, lambda path, stage: jobs[path].update(f"proving: {stage}")
        )
        for job in jobs.values():
            job.drop()
    errors = [verdict for verdict in verdicts if isinstance(verdict, UserError)]
    checked = [verdict for verdict in verdicts if isinstance(verdict, Verdict)]
    if args.as_json:
        print_json([verdict_record(verdict) for verdict in checked])
    for verdict in () if args.as_json else checked:
        print_verdict(verdict, Console(highlight=False))
    if not args.as_json and any(verdict.proof for verdict in checked):
        print_invariants(Console(), any(verdict.proof and verdict.protocol.home for verdict in checked))
    for verdict in checked if args.trace or args.html else ():
        _write_counterexample(
            verdict, (args.files or [short_path(verdict.path)])[0], args.trace, args.html, sayer(args.as_json)
        )
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup("tables that cannot be checked", errors)
    if any(verdict.proof is None for verdict in checked):
        raise typer.Exit(1)


def _write_counterexample(
    verdict: Verdict, name: str, trace: Path | None, html: Path | None, say: Callable[[str], None]
) -> None:
    # The other commands start faster without what plays traces.
    from s80lab.report import step_page
    from s80lab.trace import source, step, text
    from s80lab.trace.counterexample import counterexample_trace
    from s80lab.trace.setup import from_folder

    if verdict.counterexample is None:
        say(f"{short_path(verdict.path)} is proven, so there is no counterexample to write")
        return

    def content(folder: Path) -> str:
        assert verdict.counterexample is not None
        return counterexample_trace(verdict.counterexample, verdict.protocol, from_folder(folder, name))

    if trace is not None:
        write_file(trace, content(trace.parent))
        say(f"trace: {trace}")
    if html is not None:
        played = text.parse(content(Path()), "the counterexample")
        source_ = source.load_text(html, played, source.Wanted())
        write_file(html, step_page.page(step.lesson(source_, verdict.protocol.name)))
        say(f"page: {html}")

# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab exec`: runs a program in the guest and reports its misses."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import select
import shutil
import signal
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from shlex import join
from typing import BinaryIO

import typer
from rich.console import Console

from s80lab.analysis.misses.processes import read_processes
from s80lab.analysis.misses.stacks import stack_text
from s80lab.analysis.misses.store import grouped_lines, write_store
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import write_file
from s80lab.base.hashing import file_hash
from s80lab.base.progress import Board
from s80lab.base.staging import staging
from s80lab.base.strict import find_or_file, parse_settings, parse_size
from s80lab.base.terminal import say
from s80lab.commands.line.programs import Request
from s80lab.commands.numbers import parse_boots, parse_seeds
from s80lab.commands.process import EXEC_FAILED, sentence_of
from s80lab.config.machine import load_guest_machine, load_machine, with_inclusion
from s80lab.config.program import NAME, Program, Saved, saved_text
from s80lab.exec.added import Added, bring_back, guest_and_host
from s80lab.exec.compiled import keep_compiled
from s80lab.exec.folder import REPORT, ExecRun, Record, exec_folder, run_name, stored_lines, write_record
from s80lab.exec.functions import allocator, entry
from s80lab.exec.image import build_plain
from s80lab.exec.libraries import NotExecutableError, NotFoundError
from s80lab.exec.placing import WORK
from s80lab.exec.roots import package_root, programs_of, tar_of
from s80lab.exec.run import ALLOCATOR, MAPPINGS, SNAPSHOTS, SUMS, Ended, execute
from s80lab.exec.shape import FILES, LEAST_MEMORY, RANGE, STREAMS, Shape, check_memory, ready
from s80lab.exec.tree import Tree, Wanted, collect, guest_path, write_image
from s80lab.experiment import checkpoint
from s80lab.guest.qemu import Qemu, find_qemu
from s80lab.protocol.fit import check_fit
from s80lab.report.program import program_text, several_text
from s80lab.report.program_page import program_page
from s80lab.results.run_folder import MISS_STORE, STALL_STACKS
from s80lab.results.snapshots import Snapshots

NOT_EXECUTABLE, NOT_FOUND = 126, 127
"""Exit codes, as of env(1): the program cannot be executed, and it does not exist."""
CODES: dict[type[Exception], int] = {NotFoundError: NOT_FOUND, NotExecutableError: NOT_EXECUTABLE}
REFERENCE = "reference"
MOST_MEMORY = 64 << 30
MOST_S = 10**9
"""A limit of simulated time that no run reaches."""
LONG_S = 5
PROGRAMS = "programs"
"""Folder of a run with programs of an archive, until their names have been looked up."""
# What makes the order of accesses the reference's: settings of the machine and arguments of the plugin.
REFERENCE_SETTINGS: Mapping[str, object] = {"clock.filter_instructions": 1}
REFERENCE_PLUGIN: Mapping[str, object] = {"slice": 10}


def exec_command(request: Request) -> None:
    """Run the program; the exit code is the program's."""
    try:
        code = _exec(request)
    except (UserError, OSError) as error:
        if not (sentence := sentence_of(error)):
            raise
        say(f"s80lab exec: {sentence}")
        code = CODES.get(type(error), EXEC_FAILED)
    raise typer.Exit(code)


def _exec(request: Request) -> int:
    if not NAME.fullmatch(request.name):
        raise UserError(f"--name {request.name}: use letters, digits, dots, underscores and hyphens")
    final = exec_folder(request.name)
    boots, seeds = parse_boots(request.boots) or [1], parse_seeds(request.seeds) or [1]
    saved = None if request.save is None else saved_text(request.save, _saved(request))
    with staging(final) as folder:
        given = _input(request.stdin, folder)
        if saved is not None and request.stdin is None and given is not None and given.stat().st_size:
            raise UserError("--save: the experiment cannot hold a redirected stdin: name its file with --stdin")
        notes: list[str] = []
        problems: list[str] = []
        done: list[str] = []
        for boot, seed in product(boots, seeds):
            run = folder / run_name(boot, seed)
            run.mkdir()
            ended, *found = _run_once(request, boot, seed, given, run, first=not done)
            notes += found[0]
            problems += found[1]
            done.append(run.name)
            if not ended.complete:
                break
        if given is not None and given.parent == folder:
            given.unlink()
    runs = [ExecRun(final / name) for name in done]
    _show(runs, request)
    if request.save is not None and saved is not None:
        write_file(request.save, saved)
    for sentence in (*notes, *problems):
        say(f"s80lab exec: {sentence}")
    return next((run.record.code for run in runs if run.record.code), EXEC_FAILED if problems else 0)


@dataclass(frozen=True)
class Design:
    """The machine that a request names, as guest and as model. protocol: the file of its table."""

    shape: Shape
    protocol: Path

    def inputs(self, qemu: Qemu, image: Path) -> dict[str, str]:
        """Hashes of what a run of the image depends on, without the options that choose what is measured."""
        return {**self.shape.wanted(qemu).inputs, "files": file_hash(image), "plugin": file_hash(paths.PLUGIN)}


@dataclass(frozen=True)
class HandedOver:
    """The files of the guest, and the image that holds them."""

    tree: Tree
    image: Path


def _run_once(
    request: Request, boot: int, seed: int, given: Path | None, folder: Path, first: bool
) -> tuple[Ended, list[str], list[str]]:
    """One run in its folder. first: whether its output appears and its files come back. Returns its end, and notes and
    problems of the files that came back."""
    design = design_of(request, boot)
    files = hand_over(request, seed, given, folder)
    for note in files.tree.notes if first else ():
        say(f"s80lab exec: note: {note}")
    qemu = find_qemu()
    with Path(os.devnull).open("wb") as nowhere:
        to = (sys.stdout.buffer, sys.stderr.buffer) if first else (nowhere, nowhere)
        streams = dict(zip(STREAMS, to, strict=True))
        points = arguments(request, files, folder)
        ended = asyncio.run(_run(design, qemu, files.image, folder, request, points, streams))
    _check_begun(folder, ended, request)
    if why := why_ended(ended, request):
        say(f"s80lab exec: {why}")
    inputs = design.inputs(qemu, files.image)
    files.image.unlink()
    back = dict(map(guest_and_host, request.get or [])) if first else {}
    notes, problems = keep_run(request, design, files.tree, inputs, ended, boot, seed, folder, back)
    return ended, notes, problems


def design_of(request: Request, boot: int) -> Design:
    """The machine of the request. UserError names the first wrong value."""
    shape = _shape(request, boot)
    return Design(shape, find_or_file("protocol", paths.PROTOCOLS, request.protocol or shape.machine.protocol))


def hand_over(request: Request, seed: int, given: Path | None, folder: Path) -> HandedOver:
    """Write the image with the files of the request into the folder. given: the program's stdin."""
    wanted = _wanted(request, seed, given)
    tree = collect(wanted)
    return HandedOver(tree, write_image(tree, wanted, folder))


def arguments(request: Request, files: HandedOver, folder: Path) -> dict[str, object]:
    """The arguments of the plugin that say what is measured, and where its output goes in the folder of the run."""
    named = {"region_from": request.begin, "region_to": request.end, "counted": request.per}
    options = {"region_from": "--from", "region_to": "--to", "counted": "--per"}
    points: dict[str, object] = {
        key: entry(options[key], name, files.tree, files.image) for key, name in named.items() if name
    }
    points |= {"run": 1, "markers": int(request.markers)}
    if request.order == REFERENCE:
        points |= REFERENCE_PLUGIN
    # Also without names: with the mappings, the plugin learns at once that a process has another name, and so class.
    points["mappings"] = folder / MAPPINGS
    if request.misses:
        points["sums"] = folder / SUMS
        if request.heap and (functions := list(allocator(files.tree, files.image))):
            (folder / ALLOCATOR).write_text("".join(f"{line}\n" for line in functions))
            points["allocations"] = folder / ALLOCATOR
    return points


def keep_run(
    request: Request,
    design: Design,
    tree: Tree,
    inputs: Mapping[str, str],
    ended: Ended,
    boot: int,
    seed: int,
    folder: Path,
    back: Mapping[str, Path],
) -> tuple[list[str], list[str]]:
    """Check what a run has measured, and write its record. Returns notes and problems of the files that came back.
    UserError: the measured region did not begin or did not end. back: see `bring_back`."""
    _check_region(folder, ended, request)
    keep_compiled(folder / FILES, folder)
    notes, problems = bring_back(folder / FILES, back)
    settings = parse_settings(request.settings or [])
    archived: dict[str, str] = {}
    if request.misses and tree.root is not None and tree.root.is_file():
        found = programs_of(tree.root, read_processes(folder / MAPPINGS).paths, folder / PROGRAMS)
        archived = {guest: str(path.relative_to(folder)) for guest, path in found.items()}
    write_record(
        folder,
        Record.from_run(
            ended,
            name=request.name,
            words=request.words,
            machine=design.shape.machine.name,
            protocol=design.protocol.stem,
            settings={str(key): value for key, value in settings.items()},
            region=_region(request),
            per=request.per or "",
            seed=seed,
            boot=boot,
            inputs=inputs,
            files={guest: str(host.resolve()) for guest, host in tree.readable.items()} | archived,
        ),
    )
    return notes, problems


def why_ended(ended: Ended, request: Request) -> str:
    """A sentence about a program that did not end by itself; empty if it did."""
    program = request.words[0]
    if ended.missing:
        reason = os.strerror(ended.missing)
        subject, remedy = {
            "folder": (f"the program's folder {request.folder}", "correct --cwd"),
            "user": (f"the user {request.run_as}", "correct --run-as"),
        }.get(ended.step, (program, "name a program for x86-64 of the guest, whose interpreter is in the guest, too"))
        return f"{subject} cannot be used in the guest ({reason}): {remedy}"
    if not ended.complete:
        return "" if ended.in_time else f"--timeout {request.timeout:g}: the program was ended after this time"
    if not ended.in_time:
        return f"--simulated-timeout {request.simulated_timeout:g}: the program was ended after this simulated time"
    if ended.out_of_memory:
        return "the guest's memory was full, so its kernel ended a process: choose a larger --memory"
    if ended.signal == signal.SIGILL:
        return (
            f"{program} executed an instruction that the guest's processor does not have: compile it for x86-64-v3 "
            "(gcc: -march=x86-64-v3), which has AVX2 and not AVX-512"
        )
    return f"{program} was ended by {signal.Signals(ended.signal).name}" if ended.signal else ""


def _check_begun(folder: Path, ended: Ended, request: Request) -> None:
    """UserError: the run was ended before its measured region began, for example while --setup still ran."""
    if ended.complete or "measure_begin" in _marks(folder):
        return
    how = "interrupted" if ended.in_time else f"ended by --timeout {request.timeout:g}"
    raise UserError(f"the run was {how} before the measured region began, so nothing was measured")


def _check_region(folder: Path, ended: Ended, request: Request) -> None:
    """UserError: the measured region of a program that was executed did not begin or did not end."""
    if ended.missing:
        return
    marks = _marks(folder)
    if "measure_begin" not in marks:
        begin = (
            f"--from {request.begin}: the program did not call this function, or the compiler inlined its calls"
            if request.begin
            else ("--markers: the program executed no marker (s80lab.h)")
        )
        raise UserError(f"{begin}, so nothing was measured; its exit code is {ended.code}")
    if "measure_end" not in marks and ended.complete:
        raise UserError(
            f"--to {request.end}: the program did not call this function after the region's begin, or the compiler "
            f"inlined its calls, so nothing was measured; its exit code is {ended.code}"
        )


def _marks(folder: Path) -> list[str]:
    """The marks of the snapshots; none if the plugin has written only the header."""
    with (folder / SNAPSHOTS).open("rb") as file:
        written = file.readline() and file.readline()
    return [line.mark for line in Snapshots.read(folder / SNAPSHOTS, growing=True).lines] if written else []


def _region(request: Request) -> str:
    """The measured region in words."""
    if request.markers:
        return "between the program's markers"
    if not request.begin and not request.end:
        return "the whole run, from cold caches" if not request.warmup else "the whole run, after warm-up runs"
    begin = f"from the entry of {request.begin}" if request.begin else "from the program's start"
    return f"{begin} to {f'the entry of {request.end}' if request.end else 'its end'}"


def _shape(request: Request, boot: int) -> Shape:
    settings = dict(parse_settings(request.settings or []))
    if request.order == REFERENCE:
        settings |= REFERENCE_SETTINGS
    if request.processors is not None:
        settings["processors.count"] = request.processors
    machine = load_guest_machine(request.machine, settings)
    protocol = find_or_file("protocol", paths.PROTOCOLS, request.protocol or machine.protocol)
    if request.protocol is not None:
        machine = load_machine(request.machine, {**with_inclusion(protocol, settings), "protocol": protocol.stem})
    check_fit(machine, protocol)
    try:
        memory = parse_size(request.memory)
    except ValueError as error:
        raise UserError(f"--memory {request.memory}: {error}") from None
    if not isinstance(memory, int) or not LEAST_MEMORY <= memory <= MOST_MEMORY or memory % (1 << 20):
        raise UserError(f"--memory {request.memory}: give a size from 3GiB to 64GiB, a multiple of 1MiB")
    shape = Shape(machine, memory, boot)
    check_memory(shape)
    return shape


def _wanted(request: Request, seed: int, given: Path | None) -> Wanted:
    if request.markers and (request.begin or request.end):
        raise UserError("--markers excludes --from and --to: omit one of them")
    user, group = _user(request.run_as)
    return Wanted(
        words=request.words,
        added=[_added(one) for one in request.add or []],
        packages=request.host_packages.split(",") if request.host_packages else (),
        variables=dict(_variable(one) for one in request.variables or []),
        folder=_folder(request.folder),
        user=user,
        group=group,
        limit_ns=round(1e9 * min(request.simulated_timeout or 0, MOST_S)),
        seed=hashlib.sha256(f"s80lab exec {seed}".encode()).hexdigest(),
        begins=not (request.begin or request.markers),
        ends=not request.end,
        warmups=request.warmup,
        setup=request.setup or "",
        background=request.background or "",
        ready=_ready(request),
        files=[guest for guest, _ in map(guest_and_host, request.get or [])],
        input=given,
        root=_root(request),
    )


def _ready(request: Request) -> str:
    """The port or path at which the background command is awaited."""
    if (request.background is None) != (request.ready is None):
        raise UserError("--background and --ready belong together: give both")
    ready = request.ready or ""
    if ready and not ready.startswith("/") and not (ready.isdecimal() and 0 < int(ready) < 1 << 16):
        raise UserError(f"--ready {ready}: give a TCP port from 1 to 65535, or a path that begins with /")
    return ready


def _root(request: Request) -> Path | None:
    """The user's root: a folder, a tar archive, or unpacked packages."""
    if request.rootfs is not None and request.packages is not None:
        raise UserError("--rootfs and --package exclude each other: omit one of them")
    if request.packages is not None:
        return package_root(request.packages.split(","), lambda text: say(f"s80lab exec: {text}"))
    root = request.rootfs
    if root is not None and not root.is_dir() and not tar_of(root):
        raise UserError(f"--rootfs {root}: is neither a folder nor an uncompressed tar archive")
    return root


def _added(one: str) -> Added:
    # A name of the host may contain colons.
    if ":" in one and ":/" not in one and not os.path.lexists(one):
        raise UserError(f"--add {one}: the guest's path must begin with /")
    host, _, guest = one.rpartition(":") if ":/" in one and not os.path.lexists(one) else (one, "", "")
    path = Path(host)
    if not path.exists():
        raise UserError(f"--add {one}: {host} does not exist")
    return Added(path, guest or ("/work" if path.resolve() == Path.cwd() else guest_path(path)))


def _folder(folder: str | None) -> str:
    if folder is not None and not folder.startswith("/"):
        raise UserError(f"--cwd {folder}: give a path of the guest, which begins with /, for example {WORK}/{folder}")
    return folder or WORK


def _variable(one: str) -> tuple[str, str]:
    name, equals, value = one.partition("=")
    if not name or not equals:
        raise UserError(f"--env {one}: write NAME=VALUE")
    return name, value


def _user(run_as: str | None) -> tuple[int, int]:
    """User and group number. A name is not known in the guest, except for the three of its /etc/passwd."""
    if run_as is None:
        return 0, 0
    known = {"root": (0, 0), "user": (1000, 1000), "nobody": (65534, 65534)}
    if run_as in known:
        return known[run_as]
    match = re.fullmatch(r"(\d{1,9})(?::(\d{1,9}))?", run_as)
    if match is None:
        raise UserError(f"--run-as {run_as}: give UID, UID:GID, root, user or nobody")
    return int(match[1]), int(match[2] or match[1])


def _input(stdin: Path | None, folder: Path) -> Path | None:
    """The file that becomes the program's stdin: the named one, or what this process's redirected stdin holds, which
    is read to its end."""
    if stdin is not None:
        if not stdin.is_file():
            raise UserError(f"--stdin {stdin}: {'is not a file' if stdin.exists() else 'no such file'}: name a file")
        return stdin
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return None
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        return None
    if not select.select([0], [], [], LONG_S)[0]:
        say("s80lab exec: stdin is read to its end before the program begins; write `< /dev/null` if it has none")
    copy, size = folder / "stdin", 0
    with copy.open("wb") as target:
        while content := sys.stdin.buffer.read(1 << 20):
            size += target.write(content)
            if size > RANGE:
                raise UserError(f"stdin has more than the {RANGE / 1e9:.1f} GB that can be handed over: shorten it")
    return copy


async def _run(
    design: Design,
    qemu: Qemu,
    image: Path,
    folder: Path,
    request: Request,
    points: Mapping[str, object],
    to: Mapping[str, BinaryIO],
) -> Ended:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    build_plain(lambda text: say(f"s80lab exec: {text}"))
    wanted = design.shape.wanted(qemu)
    found = checkpoint.find(wanted.name, wanted.key)
    if found is None:
        with Board(Console(stderr=True)) as board:
            job = board.job("s80lab exec: the guest of this shape, once")
            found = await ready(design.shape, qemu, job)
            job.drop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    return await execute(design.shape, found, qemu, image, design.protocol, folder, to, request.timeout, stop, points)


def _show(runs: Sequence[ExecRun], request: Request) -> None:
    """Look up the names, store the reports, and print the first one."""
    for run in runs:
        write_names(run)
    text = program_text(runs[0]) + several_text(runs)
    if request.report is not None:
        request.report.write_text(text)
    else:
        sys.stderr.write(f"\n{text}")
    if request.as_json is not None:
        found = [run.report for run in runs]
        request.as_json.write_text(json.dumps(found[0] if len(found) == 1 else found, indent=1) + "\n")
    if request.page is not None:
        request.page.write_text(program_page(runs[0]), encoding="utf-8")


def _saved(request: Request) -> Saved:
    """The request as an experiment: the same from every folder, because its paths are absolute."""
    word = request.words[0]
    of_host = "/" in word and request.rootfs is None and request.packages is None
    program = Program(
        **{key: getattr(request, key) for key in Program.model_fields if getattr(request, key) is not None}
        | {
            "words": [str(Path(word).absolute()) if of_host else word, *request.words[1:]],
            "add": [f"{added.host.absolute()}:{added.guest}" for added in map(_added, request.add or [])],
            **{key: path.absolute() for key in ("stdin", "rootfs") if (path := getattr(request, key)) is not None},
        }
    )
    settings = parse_settings(request.settings or [])
    if request.processors is not None:
        settings["processors.count"] = request.processors
    return Saved(
        description=join(request.words),
        machine=_named_file(request.machine),
        protocol=None if request.protocol is None else _named_file(request.protocol),
        settings={str(key): value for key, value in settings.items()},
        seeds=parse_seeds(request.seeds) or [1],
        boots=parse_boots(request.boots) or [1],
        program=program,
    )


def _named_file(name: str) -> str:
    """A name, or the absolute path of a file."""
    return str(Path(name).absolute()) if name.endswith(".toml") else name


def write_names(run: ExecRun) -> None:
    """Look up the names of a run, and write its report as data, its contended lines, and its stacks."""
    (run.folder / REPORT).write_text(json.dumps(run.as_json()) + "\n")
    if run.contention is not None:
        (run.folder / STALL_STACKS).write_text(stack_text(run.contention.stacks.items()), encoding="utf-8")
        lines = grouped_lines(stored_lines(run.contention.lines))
        write_store(run.folder / MISS_STORE, {"machine": run.record.machine}, lines)
    shutil.rmtree(run.folder / PROGRAMS, ignore_errors=True)

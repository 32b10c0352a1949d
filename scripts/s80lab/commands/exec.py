# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab exec`: runs a program in the guest and reports its misses."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import shutil
import signal
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import typer
from rich.console import Console

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash
from s80lab.base.progress import Board
from s80lab.base.staging import staging
from s80lab.base.strict import find_or_file, parse_settings, parse_size
from s80lab.base.terminal import say
from s80lab.commands.numbers import parse_boots, parse_seeds
from s80lab.config.machine import load_machine, with_inclusion
from s80lab.exec.bring_back import bring_back
from s80lab.exec.folder import REPORT, ExecRun, Record, exec_folder, run_name, write_record
from s80lab.exec.functions import allocator, entry
from s80lab.exec.image import build_plain
from s80lab.exec.roots import package_root, tar_of
from s80lab.exec.run import ALLOCATOR, MAPPINGS, SUMS, Ended, execute
from s80lab.exec.shape import FILES, LEAST_MEMORY, STREAMS, Shape, ready
from s80lab.exec.tree import Added, NotExecutableError, NotFoundError, Wanted, collect, guest_path, write_image
from s80lab.experiment import checkpoint
from s80lab.guest.qemu import Qemu, find_qemu
from s80lab.report.program import program_text, several_text

FAILED, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127
"""Exit codes, as of env(1): s80lab itself failed; the program cannot be executed; there is no such program."""
MACHINE, REFERENCE = "desktop-8", "reference"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MOST_MEMORY = 64 << 30
# What makes the order of accesses the reference's: settings of the machine and arguments of the plugin.
REFERENCE_SETTINGS: Mapping[str, object] = {"clock.filter_instructions": 1}
REFERENCE_PLUGIN: Mapping[str, object] = {"slice": 10}


@dataclass(frozen=True)
class Request:
    """The options of the command (commands/line/programs.py)."""

    words: list[str]
    machine: str
    protocol: str | None
    settings: list[str] | None
    processors: int | None
    memory: str
    add: list[str] | None
    host_packages: str | None
    folder: str | None
    variables: list[str] | None
    run_as: str | None
    stdin: Path | None
    timeout: float | None
    simulated_timeout: float | None
    begin: str | None
    end: str | None
    per: str | None
    markers: bool
    misses: bool
    heap: bool
    warmup: int
    setup: str | None
    background: str | None
    ready: str | None
    rootfs: Path | None
    packages: str | None
    get: list[str] | None
    order: Literal["default", "reference"]
    seeds: str | None
    boots: str | None
    name: str
    as_json: Path | None
    report: Path | None


def exec_command(**options: Any) -> None:
    """Run the program; the exit code is the program's."""
    request = Request(**options)
    try:
        code = _exec(request)
    except UserError as error:
        say(f"s80lab exec: {error}")
        code = {NotFoundError: NOT_FOUND, NotExecutableError: NOT_EXECUTABLE}.get(type(error), FAILED)
    raise typer.Exit(code)


def _exec(request: Request) -> int:
    if not NAME.fullmatch(request.name):
        raise UserError(f"--name {request.name}: use letters, digits, dots, underscores and hyphens")
    final = exec_folder(request.name)
    boots, seeds = parse_boots(request.boots) or [1], parse_seeds(request.seeds) or [1]
    with staging(final) as folder:
        given = _input(request.stdin, folder)
        for boot in boots:
            for seed in seeds:
                run = folder / run_name(boot, seed)
                run.mkdir()
                _run_once(request, boot, seed, given, run, relayed=(boot, seed) == (boots[0], seeds[0]))
        if given is not None and given.parent == folder:
            given.unlink()
    runs = [ExecRun(final / run_name(boot, seed)) for boot in boots for seed in seeds]
    _show(runs, request)
    return next((run.record.code for run in runs if run.record.code), 0)


def _run_once(request: Request, boot: int, seed: int, given: Path | None, folder: Path, relayed: bool) -> None:
    """One run in its folder. relayed: whether the program's output appears."""
    shape = _shape(request, boot)
    protocol = find_or_file("protocol", paths.PROTOCOLS, request.protocol or shape.machine.protocol)
    wanted = _wanted(request, seed, given)
    tree = collect(wanted)
    image = write_image(tree, wanted, folder)
    qemu = find_qemu()
    named = {"region_from": request.begin, "region_to": request.end, "counted": request.per}
    options = {"region_from": "--from", "region_to": "--to", "counted": "--per"}
    points: dict[str, object] = {key: entry(options[key], name, tree, image) for key, name in named.items() if name}
    if request.order == REFERENCE:
        points |= REFERENCE_PLUGIN
    if request.misses:
        points |= {"sums": folder / SUMS, "mappings": folder / MAPPINGS}
        if request.heap and (functions := list(allocator(tree, image))):
            (folder / ALLOCATOR).write_text("".join(f"{line}\n" for line in functions))
            points["allocations"] = folder / ALLOCATOR
    with Path(os.devnull).open("wb") as nowhere:
        to = (sys.stdout.buffer, sys.stderr.buffer) if relayed else (nowhere, nowhere)
        streams = dict(zip(STREAMS, to, strict=True))
        ended = asyncio.run(_run(shape, qemu, image, protocol, folder, request, points, streams))
    if ended.missing:
        say(f"s80lab exec: the guest could not execute {tree.command[0]}: {os.strerror(ended.missing)}")
    inputs = {**shape.wanted(qemu).inputs, "files": file_hash(image), "plugin": file_hash(paths.PLUGIN)}
    image.unlink()
    if relayed:
        bring_back(folder / FILES, dict(map(_wanted_back, request.get or [])))
    settings = parse_settings(request.settings or [])
    write_record(
        folder,
        Record.of(
            ended,
            name=request.name,
            words=request.words,
            machine=shape.machine.name,
            protocol=protocol.stem,
            settings={str(key): value for key, value in settings.items()},
            region=_region(request),
            per=request.per or "",
            seed=seed,
            boot=boot,
            inputs=inputs,
            files={guest: str(host.resolve()) for guest, host in tree.files.items()},
        ),
    )


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
    machine = load_machine(request.machine, settings)
    if request.protocol is not None:
        protocol = find_or_file("protocol", paths.PROTOCOLS, request.protocol)
        machine = load_machine(request.machine, {**with_inclusion(protocol, settings), "protocol": protocol.stem})
    try:
        memory = parse_size(request.memory)
    except ValueError as error:
        raise UserError(f"--memory {request.memory}: {error}") from None
    if not isinstance(memory, int) or not LEAST_MEMORY <= memory <= MOST_MEMORY or memory % (1 << 20):
        raise UserError(f"--memory {request.memory}: give a size from 3GiB to 64GiB, a multiple of 1MiB")
    return Shape(machine, memory, boot)


def _wanted(request: Request, seed: int, given: Path | None) -> Wanted:
    user, group = _user(request.run_as)
    return Wanted(
        words=request.words,
        added=[_added(one) for one in request.add or []],
        packages=request.host_packages.split(",") if request.host_packages else (),
        variables=dict(_variable(one) for one in request.variables or []),
        folder=request.folder or "/work",
        user=user,
        group=group,
        limit_ns=round(1e9 * request.simulated_timeout) if request.simulated_timeout else 0,
        seed=hashlib.sha256(f"s80lab exec {seed}".encode()).hexdigest(),
        region="own" if request.begin or request.markers else "whole",
        warmups=request.warmup,
        setup=request.setup or "",
        background=request.background or "",
        ready=_ready(request),
        files=[guest for guest, _ in map(_wanted_back, request.get or [])],
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


def _wanted_back(one: str) -> tuple[str, Path]:
    """The guest's path and the host's of --get."""
    guest, colon, host = one.partition(":")
    if colon and not host:
        raise UserError(f"--get {one}: a path of the host must follow the colon")
    path = guest if guest.startswith("/") else f"/work/{guest}"
    return path, Path(host) if host else Path(Path(path).name)


def _added(one: str) -> Added:
    host, _, guest = one.partition(":")
    path = Path(host)
    if not path.exists():
        raise UserError(f"--add {one}: {host} does not exist")
    if guest and not guest.startswith("/"):
        raise UserError(f"--add {one}: the guest's path must begin with /")
    return Added(path, guest or ("/work" if path.resolve() == Path.cwd() else guest_path(path)))


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
            raise UserError(f"--stdin {stdin}: no such file")
        return stdin
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return None
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        return None
    copy = folder / "stdin"
    with copy.open("wb") as target:
        shutil.copyfileobj(sys.stdin.buffer, target)
    return copy


async def _run(
    shape: Shape,
    qemu: Qemu,
    image: Path,
    protocol: Path,
    folder: Path,
    request: Request,
    points: Mapping[str, object],
    to: Mapping[str, BinaryIO],
) -> Ended:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    build_plain(lambda text: say(f"s80lab exec: {text}"))
    wanted = shape.wanted(qemu)
    found = checkpoint.find(wanted.name, wanted.key)
    if found is None:
        with Board(Console(stderr=True)) as board:
            job = board.job("s80lab exec: the guest of this shape, once")
            found = await ready(shape, qemu, job)
            job.drop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    return await execute(shape, found, qemu, image, protocol, folder, to, request.timeout, stop, points)


def _show(runs: Sequence[ExecRun], request: Request) -> None:
    """Look up the names, store the reports, and print the first one."""
    for run in runs:
        (run.folder / REPORT).write_text(json.dumps(run.as_json()) + "\n")
    text = program_text(runs[0]) + several_text(runs)
    if request.report is not None:
        request.report.write_text(text)
    else:
        sys.stderr.write(f"\n{text}")
    if request.as_json is not None:
        found = [run.report for run in runs]
        request.as_json.write_text(json.dumps(found[0] if len(found) == 1 else found, indent=1) + "\n")

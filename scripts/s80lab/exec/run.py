# SPDX-License-Identifier: GPL-2.0-or-later
"""Hands files over to a restored guest, runs a program in it, and measures it."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from s80lab.analysis.misses.run import write_map
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.staging import full_sentence, nearly_full
from s80lab.base.threads import to_its_end
from s80lab.exec.image import plain_folder
from s80lab.exec.shape import RANGE, RANGE_OFFSET, RELAY, Shape
from s80lab.experiment.checkpoint import Checkpoint
from s80lab.guest.command import CONSOLE, Session
from s80lab.guest.kernel.facts import load_kernel
from s80lab.guest.kernel.memory import ram_parts
from s80lab.guest.process import POLL_S, Guest, short_socket
from s80lab.guest.qemu import Qemu

MACHINE, PROTOCOL, KERNEL, CLASSES = "machine.toml", "protocol.toml", "kernel.txt", "classes.toml"
SNAPSHOTS, SUMS, MAPPINGS, ALLOCATOR = "snapshots.jsonl", "sums.bin", "mappings.jsonl", "allocator.txt"
INTERVAL, GROWTH = 500_000, 20
"""Instructions of a sampling interval, which also has a twentieth of those before it: a run of 10^12 instructions has
about 300 snapshots."""
SIGNALLED = 128
OUT_OF_MEMORY = b"Out of memory: Killed process"
"""What the guest's kernel prints then (mm/oom_kill.c)."""


@dataclass(frozen=True)
class Ended:
    """The end of a program. code: its exit code, as a shell shows it (128 + n for signal n). missing: the error number
    with which the guest could not execute the program; 0: it was executed. in_time: whether it ended before the limit
    of simulated time. wall_s: seconds from the restored guest's first instruction. step: what failed if it was not
    executed: the program, or the user, folder or files that it should have. signal: what ended it; 0: nothing did.
    out_of_memory: whether the guest's kernel ended a process because the memory was full."""

    code: int
    missing: int
    in_time: bool
    wall_s: float
    complete: bool = True
    step: str = "program"
    signal: int = 0
    out_of_memory: bool = False


@dataclass
class Relay:
    """Copies what the guest has printed to the files of this process, unchanged."""

    folder: Path
    to: Mapping[str, BinaryIO]

    def __post_init__(self) -> None:
        self._read: dict[str, BinaryIO] = {}

    def copy(self) -> bool:
        """Copy what is new; return whether there was anything."""
        moved = False
        for name, target in self.to.items():
            if name not in self._read:
                path = self.folder / name
                if not path.exists():
                    continue
                self._read[name] = path.open("rb")
            try:
                while content := self._read[name].read(1 << 20):
                    target.write(content)
                    moved = True
                target.flush()
            except OSError as error:
                _give_up(target)
                raise UserError(
                    f"{name} of the program cannot be written ({error.strerror}), so the run was ended: send it to a "
                    "file, or to a program that reads all of it"
                ) from None
        return moved

    def close(self) -> None:
        for file in self._read.values():
            file.close()


def _give_up(target: BinaryIO) -> None:
    """Let what the file still holds go nowhere, when this process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, target.fileno())
    os.close(nowhere)


async def execute(
    shape: Shape,
    checkpoint: Checkpoint,
    qemu: Qemu,
    image: Path,
    protocol: Path,
    folder: Path,
    to: Mapping[str, BinaryIO],
    limit_s: float | None,
    stop: asyncio.Event,
    plugin: Mapping[str, object],
) -> Ended:
    """Run the program in the image. Files of the run go to `folder`.

    to: the files that receive stdout and stderr. limit_s: seconds of the host until the run is ended. stop: ends the
    run; what was measured stays. plugin: further arguments of the plugin.
    """
    size = image.stat().st_size
    if size > RANGE:
        raise UserError(
            f"the program's files take {size / 1e9:.1f} GB, but at most {RANGE / 1e9:.1f} GB can be handed over: hand "
            "over fewer files"
        )
    session = Session(
        folder=folder,
        ram=checkpoint.ram,
        shared=False,
        socket=folder,
        plugin=paths.PLUGIN,
        plugin_arguments={**inputs(shape, protocol, folder), "ram": checkpoint.ram, **plugin},
        incoming=True,
    )
    relay = Relay(folder, to)
    with short_socket(session) as session:
        async with Guest(qemu, shape, session, "the program's guest") as guest:
            await guest.restore(
                checkpoint.guest_state, lambda pid: write_memory(pid, checkpoint.ram, RANGE_OFFSET, image)
            )
            began = time.monotonic()
            ended = await _watch(guest, relay, began, limit_s, stop)
            if "sums" in plugin:
                await to_its_end(write_map, folder, await guest.pause(), checkpoint.ram, shape.low_ram, plain_folder())
            await guest.quit()
            relay.copy()
            relay.close()
    ended = replace(ended, out_of_memory=OUT_OF_MEMORY in (folder / CONSOLE).read_bytes())
    if ended.complete:
        _end_with_region(folder / SNAPSHOTS)
    return ended


def _end_with_region(snapshots: Path) -> None:
    """Remove the lines behind the region: the host decides when QEMU exits, and all else is repeatable."""
    lines = snapshots.read_bytes().splitlines(keepends=True)
    last = max((number for number, line in enumerate(lines) if b'"measure_end"' in line[:80]), default=len(lines) - 2)
    snapshots.write_bytes(b"".join(lines[: last + 1]))


async def _watch(guest: Guest, relay: Relay, began: float, limit_s: float | None, stop: asyncio.Event) -> Ended:
    while True:
        guest.check()
        if (event := guest.found("error")) is not None:
            raise UserError(f"the guest cannot go on: {event['message']}")
        relay.copy()
        wall_s = time.monotonic() - began
        if (event := guest.found("exit")) is not None:
            relay.copy()
            number = int(event["signal"])
            code = SIGNALLED + number if number else int(event["code"])
            return Ended(
                code, int(event["errno"]), bool(event["in_time"]), wall_s, step=str(event["step"]), signal=number
            )
        if (event := guest.found("not ready")) is not None:
            relay.copy()
            how = f"ended with {_how(event)}" if event["in_time"] else "did not open it in 60 s of simulated time"
            raise UserError(f"--background: the command was awaited at --ready, but {how}; correct the command")
        if (event := guest.found("setup")) is not None and (event["code"] or event["signal"]):
            relay.copy()
            raise UserError(f"--setup: the command failed with {_how(event)}; correct the command")
        if nearly_full(guest.session.folder):  # QEMU would wait for ever
            raise UserError(full_sentence(guest.session.folder))
        if stop.is_set():
            return Ended(SIGNALLED + signal.SIGINT, 0, True, wall_s, complete=False)
        if limit_s and wall_s > limit_s:
            return Ended(SIGNALLED + signal.SIGKILL, 0, False, wall_s, complete=False)
        await asyncio.sleep(POLL_S / 4)


def _how(event: Mapping[str, Any]) -> str:
    if event["errno"]:
        return f"the error `{os.strerror(int(event['errno']))}` of its {event['step']}"
    return f"signal {event['signal']}" if event["signal"] else f"exit code {event['code']}"


def inputs(shape: Shape, protocol: Path, folder: Path) -> dict[str, object]:
    """Write the input files of the plugin to a folder; return the plugin arguments that name them."""
    (folder / MACHINE).write_text(shape.machine.resolved())
    shutil.copyfile(protocol, folder / PROTOCOL)
    shutil.copyfile(load_kernel(plain_folder()).plugin_file, folder / KERNEL)
    (folder / CLASSES).write_text(f'loadgen = ["{RELAY}"]\n')
    return {
        "machine": folder / MACHINE,
        "protocol": folder / PROTOCOL,
        "kernel": folder / KERNEL,
        "classes": folder / CLASSES,
        "out": folder,
        "low_ram": shape.low_ram,
        "sampling_interval": INTERVAL,
        "growth": GROWTH,
        "clock_shift": shape.machine.clock_shift,
    }


def write_memory(pid: int, ram: Path, offset: int, content: Path) -> None:
    """Write a file to an offset of the guest's RAM file. QEMU's mapping of the RAM file is private, so the file stays
    as it is.

    pid: QEMU's process. UserError: the system does not let this process write."""
    try:
        begin = next(begin for at, begin, _ in ram_parts(pid, ram) if at == 0)
        with Path(f"/proc/{pid}/mem").open("r+b", buffering=0) as memory, content.open("rb") as source:
            memory.seek(begin + offset)
            shutil.copyfileobj(source, memory, 1 << 22)
    except StopIteration:
        raise UserError(f"QEMU's process {pid} has no mapping of {ram}") from None
    except PermissionError:
        raise UserError(
            "the system does not allow s80lab to write into the memory of QEMU, which it started: allow ptrace of "
            "child processes (kernel.yama.ptrace_scope at most 1)"
        ) from None

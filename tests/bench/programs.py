# SPDX-License-Identifier: GPL-2.0-or-later
"""The speed of `s80lab exec` beside Cachegrind and beside QEMU with an empty call per access: `make bench`.

Every kind of run compresses the same text with `xz -T4 -1`, about 4 G instructions. All times are wall-clock seconds of
the whole command, as a user waits for it, except those of the guest without the model, which begin with the restored
guest. The host must be idle otherwise. Cachegrind runs where Debian's package valgrind is installed.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from s80lab.base import paths
from s80lab.base.programs import built
from s80lab.config.machine import load_machine
from s80lab.exec.added import Added
from s80lab.exec.run import write_memory
from s80lab.exec.shape import RANGE_OFFSET, Shape
from s80lab.exec.tree import Wanted, collect, write_image
from s80lab.experiment import checkpoint
from s80lab.guest.command import Session
from s80lab.guest.process import Guest, short_socket
from s80lab.guest.qemu import find_qemu

MACHINE = "desktop-8"
TEXT_BYTES = 20_000_000
ROUNDS = 3
LIMIT_S = 1800
XZ = ("xz", "-T4", "-1", "-k", "-f", "text.txt")
CACHEGRIND = "Cachegrind"
BARE, CALLED = "QEMU, short time slices", "QEMU, short time slices and an empty call per access"
COUNTS, NAMES = "exec --no-misses", "exec"
TRUE_COUNTS, TRUE_NAMES = "exec --no-misses -- true", "exec -- true"


@dataclass(frozen=True)
class Ended:
    """Seconds, and the largest resident memory of a process of the command in bytes (0: not measured)."""

    seconds: float
    memory: int = 0


def write_text(path: Path) -> None:
    """The same 20 MB on every host: words in an order without pattern, some frequent and many rare."""
    source = random.Random("s80lab")
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    words = ["".join(source.choices(letters, range(26, 0, -1), k=source.randint(2, 10))) for _ in range(20_000)]
    text = " ".join(source.choices(words, [1 / rank for rank in range(1, len(words) + 1)], k=TEXT_BYTES // 4))
    path.write_text(text[:TEXT_BYTES], encoding="ascii")


def command(words: Sequence[str], folder: Path) -> Ended:
    """Run a command in the folder. RuntimeError if it fails."""
    began = time.monotonic()
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(words)} failed:\n{said}")
    return Ended(time.monotonic() - began, used.ru_maxrss << 10)


def program(options: Sequence[str], words: Sequence[str], folder: Path) -> Ended:
    """`s80lab exec` with results in the folder."""
    s80lab = [sys.executable, "-m", "s80lab", "exec", "--machine", MACHINE, "--name", "bench", *options, "--", *words]
    return command(s80lab, folder)


def without_model(arguments: Mapping[str, object], folder: Path) -> Ended:
    """The guest without the model, from the same checkpoint with the same files."""
    shape, qemu = Shape(load_machine(MACHINE)), find_qemu()
    wanted = shape.wanted(qemu)
    found = checkpoint.find(wanted.name, wanted.key)
    assert found is not None
    files = Wanted(list(XZ), [Added(folder / "text.txt", "/work/text.txt")])
    image = write_image(collect(files), files, folder)
    return Ended(asyncio.run(_guest(shape, found, image, arguments, folder)))


async def _guest(
    shape: Shape, found: checkpoint.Checkpoint, image: Path, arguments: Mapping[str, object], folder: Path
) -> float:
    with tempfile.TemporaryDirectory(prefix="bench-", dir=paths.BUILD) as name:
        session = Session(
            Path(name),
            found.ram,
            shared=False,
            socket=Path(name),
            plugin=built(paths.SLICES_PLUGIN),
            plugin_arguments=arguments,
            incoming=True,
        )
        with short_socket(session) as session:
            async with Guest(find_qemu(), shape, session, "bench of a program") as guest:
                began = time.monotonic()
                await guest.restore(found.guest_state, lambda pid: write_memory(pid, found.ram, RANGE_OFFSET, image))
                await guest.event("exit", LIMIT_S, lambda: None)
                took = time.monotonic() - began
                await guest.quit()
    image.unlink()
    return took


def kinds(folder: Path) -> dict[str, Callable[[], Ended]]:
    """What is measured, by name."""
    clock = load_machine(MACHINE).clock
    bound = {"instructions": max(1, int(clock.epoch_cycles / clock.base_cpi))}
    added = ["--add", f"{folder / 'text.txt'}:/work/text.txt"]
    cachegrind = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null", *XZ]
    return {
        **({CACHEGRIND: partial(command, cachegrind, folder)} if shutil.which("valgrind") else {}),
        BARE: partial(without_model, bound, folder),
        CALLED: partial(without_model, {**bound, "accesses": "empty"}, folder),
        COUNTS: partial(program, ["--no-misses", *added], XZ, folder),
        NAMES: partial(program, added, XZ, folder),
        TRUE_COUNTS: partial(program, ["--no-misses"], ["true"], folder),
        TRUE_NAMES: partial(program, [], ["true"], folder),
    }


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="bench-", dir=paths.BUILD) as name:
        folder = Path(name)
        write_text(folder / "text.txt")
        measured = kinds(folder)
        measured[TRUE_NAMES]()  # builds the guest's checkpoint
        found: dict[str, list[Ended]] = {kind: [] for kind in measured}
        for number in range(1, ROUNDS + 1):
            for kind, measure in measured.items():
                found[kind].append(measure())
                print(f"round {number}, {kind}: {found[kind][-1].seconds:.2f} s", flush=True)
    print(f"`{' '.join(XZ)}` of {TEXT_BYTES / 1e6:.0f} MB of text, medians of {ROUNDS} rounds:")
    for kind, rounds in found.items():
        memory = max(one.memory for one in rounds)
        print(f"{kind}: {_median(rounds):.2f} s" + (f", at most {memory / 1e9:.2f} GB of memory" if memory else ""))
    for one, other in ((COUNTS, CACHEGRIND), (COUNTS, CALLED), (NAMES, COUNTS)):
        if other in found:
            pairs = zip(found[one], found[other], strict=True)
            ratio = statistics.median(first.seconds / second.seconds for first, second in pairs)
            print(f"{one}: {ratio:.2f} of the time of {other}")


def _median(rounds: Sequence[Ended]) -> float:
    return statistics.median(one.seconds for one in rounds)


if __name__ == "__main__":
    main()

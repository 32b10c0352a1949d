# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one stage of the mail server in gem5: gem5.fast -d OUT mail_server.py STAGE --machine FILE --job FILE ...

    boot     atomic processors, no caches: one segment (segment.py) of the way from the kernel to logged-in clients;
             begins with the kernel or with the checkpoint of the segment before; saves a checkpoint
    warm     as boot, from the last checkpoint of the boot through --instructions of the mix; saves a checkpoint
    measure  TimingSimpleCPU and Ruby's MOESI_hammer, from a checkpoint with empty caches; dumps and resets the
             statistics after every --interval instructions (region.py)

The checkpoints of boot and warm fit every cache geometry. `scripts/s80lab` writes the input files. It reads
OUT/progress.jsonl, OUT/board.pc.com_1.device (the console), OUT/stats.txt and, when the stage or the segment is
complete, OUT/facts.json.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import m5

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bare import Bare
from board import MailServerBoard
from calls import Calls, parse
from facts import write_facts
from gem5.components.memory.simple import SingleChannelSimpleMemory
from gem5.components.processors.base_cpu_core import BaseCPUCore
from gem5.components.processors.base_cpu_processor import BaseCPUProcessor
from gem5.components.processors.cpu_types import CPUTypes
from gem5.components.processors.simple_processor import SimpleProcessor
from gem5.isas import ISA
from hammer import HammerHierarchy
from m5.objects import X86NonCachingSimpleCPU
from machine_file import MachineError, MachineFile
from region import Region
from release import instantiate, this_release
from segment import Segment
from steps import Progress, proceed

TICKS_PER_S = 10**12
# Simulated time between two looks at the instructions: coarse where nothing ends by them.
BOOT_STEP = TICKS_PER_S // 1000
WARM_STEP = TICKS_PER_S // 1000

CONSOLE = "board.pc.com_1.device"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=("boot", "warm", "measure"))
    parser.add_argument("--machine", required=True, type=Path, help="resolved machine file")
    parser.add_argument("--job", required=True, type=Path, help="file that the guest reads as its job")
    parser.add_argument("--memory", required=True, type=int, help="size of the guest's memory in bytes")
    parser.add_argument("--kernel", required=True, type=Path, help="kernel, an ELF file")
    parser.add_argument("--initramfs", required=True, type=Path, help="uncompressed cpio archive")
    parser.add_argument("--command-line", required=True, help="command line of the kernel")
    parser.add_argument("--restore", type=Path, help="checkpoint to restore")
    parser.add_argument("--save", type=Path, help="folder for the checkpoint (boot, warm)")
    parser.add_argument("--instructions", type=int, default=0, help="instructions before the checkpoint (boot, warm)")
    parser.add_argument("--interval", type=int, default=0, help="sampling interval in instructions (measure)")
    parser.add_argument("--intervals", type=int, default=0, help="maximum number of dumps (measure)")
    parser.add_argument("--warm-intervals", type=int, default=0, help="dumps before the measured region (measure)")
    parser.add_argument("--calls", default="", help="kernel functions to count, NAME=ADDRESS,... (measure)")
    parser.add_argument("--transactions", type=int, default=0, help="transactions until the region ends (measure)")
    return parser.parse_args()


def build_board(options: argparse.Namespace, machine: MachineFile) -> MailServerBoard:
    timing = options.stage == "measure"
    processor = SimpleProcessor(CPUTypes.TIMING, machine.processors, ISA.X86) if timing else _without_caches(machine)
    board = MailServerBoard(
        machine.clock_hz,
        processor,
        # The directory's own latency stands for memory's (machine file).
        SingleChannelSimpleMemory("1ns", "0ns", "1000GiB/s", f"{options.memory}B"),
        HammerHierarchy(machine) if timing else Bare(),
    )
    board.exit_on_work_items = timing
    board.cache_line_size = machine.line_bytes
    board.readfile = str(options.job)
    board.boot_linux(options.kernel, options.initramfs, options.command_line, Path(m5.options.outdir))
    return board


def _without_caches(machine: MachineFile) -> BaseCPUProcessor:
    """Processors for a machine without caches. They reach memory without the bus where possible: no other processor
    has a cache that must see the accesses. The class derives from AtomicSimpleCPU; its checkpoints fit
    TimingSimpleCPU."""
    numbers = range(machine.processors)
    return BaseCPUProcessor([BaseCPUCore(X86NonCachingSimpleCPU(cpu_id=number), ISA.X86) for number in numbers])


def boot_segment(limit: int | None, ready: str, progress: Progress) -> bool:
    """Simulate one segment of the boot. Return whether the clients are logged in.

    limit: see Segment. ready: cause of the exit event that the load generator raises when they are.
    """
    segment = Segment(Path(m5.options.outdir) / CONSOLE, limit)
    while not segment.has_ended(progress.instructions()):
        event = m5.simulate(BOOT_STEP)
        progress.show(progress.instructions())
        if event.getCause() == ready:
            return True
        proceed(event, "the guest booted")
    return False


def until(expected: str, step: int, progress: Progress, what: str) -> None:
    """Simulate until the guest does what is expected."""
    while True:
        event = m5.simulate(step)
        progress.show(progress.instructions())
        if event.getCause() == expected:
            return
        proceed(event, what)


def run_instructions(count: int, step: int, progress: Progress, what: str) -> None:
    """Simulate `count` instructions."""
    begin = progress.instructions()
    while (done := progress.instructions() - begin) < count:
        progress.show(done)
        proceed(m5.simulate(step), what)


def main() -> None:
    options = arguments()
    machine = MachineFile.load(options.machine)
    board = build_board(options, machine)
    for note in machine.notes():
        print(f"note: {note}", flush=True)
    calls = Calls(board, parse(options.calls))
    instantiate(board, full_system=True, checkpoint=str(options.restore) if options.restore else None)
    began = time.monotonic()
    progress = Progress(board.get_processor())
    exits = this_release().exits

    more: dict[str, Any] = {}
    if options.stage == "boot":
        limit = options.instructions if options.restore else None
        more["ready"] = boot_segment(limit, exits.checkpoint, progress)
    elif options.stage == "warm":
        until(exits.exit, WARM_STEP, progress, "the clients started the mix")
        run_instructions(options.instructions, WARM_STEP, progress, "the mix warmed up")
    else:
        region = Region(options.interval, options.intervals, options.warm_intervals, options.transactions)
        more["sampling_intervals"] = region.measure(progress, calls)
    if options.save:
        m5.checkpoint(str(options.save))

    write_facts(
        machine,
        stage=options.stage,
        instructions=progress.instructions(),
        seconds=round(time.monotonic() - began, 1),
        **more,
    )


try:
    main()
except (MachineError, ValueError) as error:
    print(f"mail_server.py: {error}", file=sys.stderr)
    sys.exit(1)

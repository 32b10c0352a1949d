# SPDX-License-Identifier: GPL-2.0-or-later
"""Warm caches for Ruby: writes a state of the model as a checkpoint whose cache trace brings Ruby's caches into the
same state, with the order of replacement.

gem5 restores Ruby's caches by playing the records of a cache trace as requests, one after the other, in the order of
the file. gem5 itself writes one record per line, from which O, E and S do not come back exactly. The trace of this
module has as many records per line as the state needs. src/warm/plan.h describes the accesses.
docs/guides/warm-caches.md describes the method for users.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from s80lab.base.errors import UserError
from s80lab.base.files import whole
from s80lab.gem5.table import SYSTEM
from s80lab.trace import order as trace_order
from s80lab.trace import tool
from s80lab.trace.order import Op, Order
from s80lab.trace.setup import Setup
from s80lab.trace.tool import Begin

TRACE = "warm.cache.gz"
FIRST_CONTROLLER = 1
"""Ruby's number of the first core's controller: gem5 numbers controllers by name, and the directory comes before.
configs/gem5/replay.py refuses a gem5 with other numbers."""
TYPES = {Op.LOAD: 0, Op.STORE: 1, Op.IFETCH: 5}
"""RubyRequestType in 24.0 and in the development state of 25.0."""
LARGEST = (1 << 31) - 1
"""Bytes of the trace: gem5 reads it with a single call of gzread, whose result is an int."""
CURRENT_TICK = 10**15
"""The simulated time at which the accesses after the warm state begin. Ruby loads its caches from tick 0 on, and its
LRU compares ticks. So this time must lie after the loading."""
CHUNK = 1 << 16
"""Records that are converted at a time."""


@dataclass(frozen=True)
class Warm:
    """Files and facts of a warm state."""

    begin: Begin
    """The same contents for the model."""
    checkpoint: Path
    """The folder of the checkpoint for gem5."""
    order: Order
    """The accesses that rebuild the state. The column `processor` holds cores; the spare cores come last."""
    facts: Mapping[str, Any]
    """What `s80-step rebuild` printed."""

    def arguments(self) -> list[str]:
        """The options of configs/gem5/replay.py."""
        return [
            *("--warm", str(self.checkpoint), "--first-controller", str(FIRST_CONTROLLER)),
            *("--spares", str(self.facts["spare_cores"]), "--spare-sets", str(self.facts["spare_sets"])),
        ]


def prepare(begin: Begin, setup: Setup, folder: Path) -> Warm:
    """Plan the accesses that rebuild a state of the model, and write the checkpoint in `folder`.

    Lines that a device has read may have a state that no access of a core reaches. The state that is rebuilt, and that
    `Warm` names, then differs from the given one: memory assumes sharers of these lines.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rebuilt = folder / "warm.state"
    with tool.files(tool.STEP, None, setup.machine) as (order_file, machine_file):
        facts = json.loads(
            tool.call(
                tool.STEP,
                "rebuild",
                state=begin.state,
                machine=machine_file,
                protocol=setup.protocol,
                lines=begin.lines,
                out=order_file,
                assumed=rebuilt,
            )
        )
        order = trace_order.read(order_file)
    checkpoint = folder / "checkpoint"
    write_checkpoint(order, setup.machine.line_bytes, checkpoint)
    return Warm(Begin(rebuilt, begin.lines), checkpoint, order, facts)


def write_checkpoint(order: Order, line_bytes: int, folder: Path) -> None:
    """Write a checkpoint that holds nothing but a cache trace and the time. UserError: the trace is too long."""
    record = record_type(line_bytes)
    size = len(order) * record.itemsize
    if size > LARGEST:
        raise UserError(
            f"--warm: the trace that rebuilds the caches has {len(order):,} records of {record.itemsize} bytes, and "
            f"gem5 reads at most {LARGEST:,} bytes: use a machine with smaller caches"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with whole(folder / TRACE) as partial, partial.open("wb") as file:
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)  # 31: with the header of gzip, without a time
        for at in range(0, len(order), CHUNK):
            file.write(packer.compress(records(order[at : at + CHUNK], line_bytes).tobytes()))
        file.write(packer.flush())
    with whole(folder / "m5.cpt") as partial:
        partial.write_text(
            f"[root]\nFullSystem=false\n\n[root.globals]\ncurTick={CURRENT_TICK}\n\n[{SYSTEM.removesuffix('.')}]\nblock_size_bytes={line_bytes}\n"
            f"cache_trace_file={TRACE}\ncache_trace_size={size}\n",
            encoding="utf-8",
        )


def record_type(line_bytes: int) -> np.dtype[np.void]:
    """A record of Ruby's cache trace (TraceRecord in src/mem/ruby/system/CacheRecorder.hh). The data begin in the
    padding of the struct."""
    return np.dtype(
        {
            "names": ["controller", "time", "address", "pc", "type", "data"],
            "formats": ["<i4", "<u8", "<u8", "<u8", "<i4", f"V{line_bytes}"],
            "offsets": [0, 8, 16, 24, 32, 36],
            "itemsize": 40 + line_bytes,
        }
    )


def records(order: Order, line_bytes: int) -> np.ndarray[Any, np.dtype[np.void]]:
    """The records of accesses. The data are zero, like memory in a replay: loads write them, too."""
    found = np.zeros(len(order), record_type(line_bytes))
    found["controller"] = order["processor"].astype(np.int32) + FIRST_CONTROLLER
    found["time"] = np.arange(len(order))
    found["address"] = order["line"].astype(np.uint64) * np.uint64(line_bytes)
    found["type"] = np.select([order["op"] == op for op in TYPES], list(TYPES.values()))
    return found

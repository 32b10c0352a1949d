# SPDX-License-Identifier: GPL-2.0-or-later
"""Replays accesses through gem5's Ruby, which serves as the reference for the model."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import read_regular
from s80lab.config.machine import Machine
from s80lab.gem5.agree.warm import Warm
from s80lab.gem5.binary import complaint, log_text, read_facts
from s80lab.trace.formats import exchange
from s80lab.trace.formats.gem5 import GEM5
from s80lab.trace.order import Order

SCRIPT = paths.ROOT / "configs" / "gem5" / "replay.py"
MEMORY_STEP = 1 << 20
LARGEST_STATS = 64 << 20
"""Largest size of the statistics of a replay in bytes."""
TRANSITIONS = "transitions.gz"


@dataclass(frozen=True)
class Replay:
    """The result of a replay: Ruby's statistics as text, and facts about the run."""

    stats: str
    facts: dict[str, Any]


def spacing_ps(machine: Machine) -> int:
    """Time within which an access, its eviction and its writeback have ended: ten times the longest path, at least 1
    us."""
    latency = machine.latency
    cycles: int = latency.l2_hit + latency.memory + latency.cache + latency.upgrade
    clock_hz: int = machine.processors.clock_hz
    return max(10**6, 10 * cycles * 10**12 // clock_hz)


def spaced(order: Order, machine: Machine) -> Order:
    """The same accesses, spaced so that only one is under way at a time."""
    apart = order.copy()
    apart["tick"] = (np.arange(len(order), dtype=np.uint64) + np.uint64(1)) * np.uint64(spacing_ps(machine))
    return apart


def replay(
    order: Order,
    machine: Machine,
    gem5: Path,
    folder: Path,
    outstanding: int = 1,
    warm: Warm | None = None,
    transitions: bool = False,
) -> Replay:
    """Play the accesses at their ticks through the counterpart of the machine's protocol. All files stay in `folder`.

    warm: the contents of the caches before the first access; without it, they are cold. transitions: write each
    transition of the controllers after the loading of warm caches to `TRANSITIONS`; it needs gem5.opt or gem5.debug.
    """
    traces, out = folder / "traces", folder / "gem5"
    for old in (traces, out):
        shutil.rmtree(old, ignore_errors=True)
    exchange.export(order, GEM5, traces, machine.line_bytes)
    (folder / "machine.toml").write_text(machine.resolved(), encoding="utf-8")
    lines = int(order["line"].max()) + 1 if len(order) else 1
    if warm is not None:
        lines = max(lines, warm.facts["lines"])
    memory = -(-lines * machine.line_bytes // MEMORY_STEP) * MEMORY_STEP
    command = [str(gem5), "--outdir", str(out), *(["--debug-file", TRANSITIONS] if transitions else [])]
    command += [str(SCRIPT), "--machine", str(folder / "machine.toml")]
    command += ["--traces", str(traces), "--memory", str(memory), "--outstanding", str(outstanding)]
    command += warm.arguments() if warm is not None else []
    command += ["--transitions"] if transitions else []
    log = folder / "gem5.log"
    with log.open("w") as file:
        code = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode
    if code != 0 or not (out / "facts.json").is_file():
        raise UserError(f"gem5 ended with code {code}: {complaint(log_text(log))} (full log: {log})")
    stats = read_regular(out / "stats.txt", LARGEST_STATS, "repeat the command").decode(errors="replace")
    return Replay(stats, read_facts(out / "facts.json"))

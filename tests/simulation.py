# SPDX-License-Identifier: GPL-2.0-or-later
"""A small random machine that writes snapshots.jsonl, so that the conservation checks hold for a reason.

Four cores with a fully associative L2 of 48 lines each (LRU, MOESI) and one L1 of 8 lines run random
instructions over private and shared lines. It knows nothing of the real model: it is the other side.
"""

from __future__ import annotations

import json
import random
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from s80lab.config.machine import load_machine

CORES = 4
CLOCK_HZ = 450_000_000
L1_LINES = 8
L2_LINES = 48
SERVICES = {"l2": 10, "memory": 90, "cache": 70, "upgrade": 40}
TYPES = ["CRTE", "DELT", "RENM", "SRCH", "SELT", "COPY", "MOVE", "VIEW", "SEND", "MDEL"]
LABELS = {
    "privilege": ["user", "kernel"],
    "class": ["session", "delivery", "loadgen", "idle", "kernel", "other"],
    "entry": [
        *("user", "system_call", "fault", "tick", "interrupt", "soft_interrupt", "idle", "kernel_thread", "unknown"),
    ],
    "kind": ["ifetch", "load", "store", "walk"],
    "source": ["memory", "M", "O", "E", "S"],
    "state": ["M", "O", "E", "S"],
    "service": list(SERVICES),
    "instruction": ["load", "store", "load_store", "branch_conditional", "branch_unconditional", "other"],
    "transaction": TYPES,
    "outcome": ["good", "failed"],
}
CPT = ["core", "privilege", "class"]
DIMS = {
    "instructions": CPT,
    "instruction_class": ["privilege", "class", "instruction"],
    **{name: [*CPT, "kind"] for name in ("accesses", "l1_misses", "l2_accesses", "l2_misses")},
    "miss_source": [*CPT, "kind", "source"],
    "fills": ["core", "class", "kind", "state"],
    "upgrades": CPT,
    "stores_found_e": CPT,
    **{name: ["core", "class"] for name in ("e_to_m", "e_downgraded", "e_evicted", "e_invalidated", "e_resident")},
    **{
        name: ["core"]
        for name in (
            "l2_evictions",
            "l2_writebacks",
            "l2_invalidations",
            "interventions",
            "busy_cycles",
        )
    },
    "stall_cycles": [*CPT, "kind", "service"],
    "transactions": ["transaction", "outcome"],
    "entry_instructions": ["class", "entry"],
    "entry_miss_source": ["class", "entry", "source"],
    "entry_upgrades": ["class", "entry"],
    "entry_stall_cycles": ["class", "entry", "service"],
}

OTHER_INTERRUPTS = [
    *(f"interrupt.{name}" for name in ("reschedule", "call", "device")),
    *(f"softirq.{name}" for name in ("net_rx", "sched", "rcu", "tasklet")),
]


@dataclass
class Block:
    state: str
    entered_e: bool
    owner: int


@dataclass
class Machine:
    """Cores, caches and counters; `run` retires instructions, `line` renders a snapshot."""

    random: random.Random
    l2: list[OrderedDict[int, Block]] = field(default_factory=lambda: [OrderedDict() for _ in range(CORES)])
    l1: list[OrderedDict[int, bool]] = field(default_factory=lambda: [OrderedDict() for _ in range(CORES)])
    idle_ns: int = 0
    index: int = 0

    def __post_init__(self) -> None:
        extents = {dim: len(names) for dim, names in LABELS.items()} | {"core": CORES}
        self.counts = {name: np.zeros([extents[d] for d in dims], dtype=int) for name, dims in DIMS.items()}

    @property
    def clock_ns(self) -> int:
        return int(self.counts["busy_cycles"].max() * 1_000_000_000 // CLOCK_HZ) + self.idle_ns

    def run(self, instructions: int) -> None:
        for _ in range(instructions):
            core = self.random.randrange(CORES)
            where = (core, int(self.random.random() < 0.2), self.random.choices((0, 2, 5), (90, 2, 8))[0])
            name = self.random.choices(LABELS["instruction"], (28, 12, 3, 10, 4, 43))[0]
            self.counts["instructions"][where] += 1
            self.counts["entry_instructions"][entered(where)] += 1
            self.counts["instruction_class"][where[1], where[2], LABELS["instruction"].index(name)] += 1
            self.counts["busy_cycles"][core] += 1
            if self.random.random() < 0.2:
                self.access(where, "ifetch", 10_000 + int(self.random.paretovariate(0.5)) % 60)
            for kind in {"load": ["load"], "store": ["store"], "load_store": ["load", "store"]}.get(name, []):
                shared = self.random.random() < 0.1
                line = self.random.randrange(24) if shared else 100 * (core + 1) + self.random.randrange(70)
                self.access(where, kind, line)
            if self.random.random() < 0.01:
                self.access(where, "walk", 20_000 + self.random.randrange(30))

    def access(self, where: tuple[int, int, int], kind: str, line: int) -> None:
        core = where[0]
        at = (*where, LABELS["kind"].index(kind))
        self.counts["accesses"][at] += 1
        l1 = self.l1[core]
        if line in l1:
            l1.move_to_end(line)
            if kind != "store" or l1[line]:
                return
        else:
            self.counts["l1_misses"][at] += 1
        self.counts["l2_accesses"][at] += 1
        service = self.hit(where, kind, line) if line in self.l2[core] else self.miss(at, kind, line)
        l1[line] = kind == "store"
        l1.move_to_end(line)
        if len(l1) > L1_LINES:
            l1.popitem(last=False)
        self.counts["stall_cycles"][(*at, LABELS["service"].index(service))] += SERVICES[service]
        self.counts["entry_stall_cycles"][(*entered(where), LABELS["service"].index(service))] += SERVICES[service]
        self.counts["busy_cycles"][core] += SERVICES[service]

    def hit(self, where: tuple[int, int, int], kind: str, line: int) -> str:
        core = where[0]
        block = self.l2[core][line]
        self.l2[core].move_to_end(line)
        if kind != "store" or block.state == "M":
            return "l2"
        upgrade = block.state != "E"
        if upgrade:
            self.counts["upgrades"][where] += 1
            self.counts["entry_upgrades"][entered(where)] += 1
            self.invalidate_others(core, line)
        else:
            self.counts["stores_found_e"][where] += 1
            self.leave_e(core, block, "e_to_m")
        block.state = "M"
        return "upgrade" if upgrade else "l2"

    def miss(self, at: tuple[int, int, int, int], kind: str, line: int) -> str:
        core = at[0]
        self.counts["l2_misses"][at] += 1
        holders = [other for other in range(CORES) if other != core and line in self.l2[other]]
        suppliers = sorted(holders, key=lambda other: "MOES".index(self.l2[other][line].state))
        source = self.l2[suppliers[0]][line].state if suppliers else "memory"
        self.counts["miss_source"][(*at, LABELS["source"].index(source))] += 1
        self.counts["entry_miss_source"][(*entered(at), LABELS["source"].index(source))] += 1
        if suppliers:
            self.counts["interventions"][suppliers[0]] += 1
        if kind == "store":
            self.invalidate_others(core, line)
            state = "M"
        else:
            for other in holders:
                block = self.l2[other][line]
                self.leave_e(other, block, "e_downgraded")
                block.state = "O" if block.state in "MO" else "S"
                if line in self.l1[other]:
                    self.l1[other][line] = False
            state = "S" if holders else "E"
        self.counts["fills"][core, at[2], at[3], LABELS["state"].index(state)] += 1
        self.counts["e_resident"][core, at[2]] += state == "E"
        self.l2[core][line] = Block(state, state == "E", at[2])
        if len(self.l2[core]) > L2_LINES:
            victim, block = self.l2[core].popitem(last=False)
            self.leave_e(core, block, "e_evicted")
            self.counts["l2_evictions"][core] += 1
            self.counts["l2_writebacks"][core] += block.state in "MO"
            self.l1[core].pop(victim, None)
        return "memory" if source == "memory" else "cache"

    def invalidate_others(self, core: int, line: int) -> None:
        for other in range(CORES):
            if other != core and (block := self.l2[other].pop(line, None)):
                self.leave_e(other, block, "e_invalidated")
                self.counts["l2_invalidations"][other] += 1
                self.l1[other].pop(line, None)

    def leave_e(self, core: int, block: Block, fate: str) -> None:
        if block.entered_e and block.state == "E":
            self.counts[fate][core, block.owner] += 1
            self.counts["e_resident"][core, block.owner] -= 1
            block.entered_e = False

    def line(self, mark: str) -> dict[str, Any]:
        values = {name: counts.reshape(-1).tolist() for name, counts in self.counts.items()}
        line = {"mark": mark, "index": self.index, "instructions": int(self.counts["instructions"].sum())}
        self.index += 1
        return {**line, "clock_ns": self.clock_ns, "idle_ns": self.idle_ns, "values": values, "guest": self.guest()}

    def guest(self) -> dict[str, int]:
        """Counters of a kernel that ticks every 100 instructions and gives two of three nanoseconds to the servers."""
        instructions = int(self.counts["instructions"].sum())
        rare = ("page_faults", "page_activations", "pages_freed", "forks", *OTHER_INTERRUPTS)
        return {
            **{name: instructions // (300 + 10 * place) for place, name in enumerate(rare)},
            **{f"task_ns.{name}": instructions // 100 for name in ("imap-login", "lmtp", "smtpd", "s80-loadgen")},
            "interrupt.timer": instructions // 100,
            "softirq.timer": instructions // 200,
            "context_switches": instructions // 50,
            "waiting_ns": instructions // 2,
            "task_ns.imap": instructions * 2 // 3,
            "task_ns.kernel": instructions // 3,
            "task_ns.auth": 5,
            "task_migrations.imap": instructions // 1000,
            "task_migrations.kernel": instructions // 3000,
        }


def entered(where: tuple[int, ...]) -> tuple[int, int]:
    """Class and entry: the kernel is entered by system calls, but where the load generator runs."""
    _, privilege, owner = where[:3]
    return owner, 0 if privilege == 0 else 3 if owner == 2 else 1


def header() -> dict[str, Any]:
    stats = [
        {"name": name, "unit": "events", "dims": dims, "description": name, "gauge": name == "e_resident"}
        for name, dims in DIMS.items()
    ]
    machine = {"schema": 2, "cores": CORES, "line_bytes": 128, "clock_hz": CLOCK_HZ, "longest_lead_ns": 10_000}
    return {**machine, "dims": LABELS, "stats": stats}


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def transactions(machine: Machine, begin_ns: int, seed: int, mix: str) -> dict[str, Any]:
    """A load generator's result that obeys the interactive law: 40 clients that take 1.25 as long to
    think as to be served."""
    clients, completed = 40, int(machine.counts["transactions"].sum())
    length = machine.clock_ns - begin_ns
    cycle_ns = clients * length / completed
    draw = random.Random(seed)
    per_type = {}
    for name, (good, failed) in zip(TYPES, machine.counts["transactions"].tolist(), strict=True):
        mean = int(cycle_ns / 2.25 * (0.5 + draw.random()))
        latency = {"mean": mean, **{p: int(mean * f) for p, f in QUANTILES.items()}} if good else EMPTY
        per_type[name] = {
            "count": good,
            "started": good + failed,
            "failed": failed,
            "substituted": 0,
            "bytes_in": 2000 * good,
            "bytes_out": 150 * good,
            "latency_ns": latency,
            "histogram": histogram(mean, good),
        }
    return {
        "event": "result",
        "schema": 1,
        "mix": mix,
        "seed": seed,
        "driver": "chain",
        "clients": clients,
        "think_ms": cycle_ns * 1.25 / 2.25 / 1e6,
        "clock": "guest",
        "region": {"begin_ns": begin_ns, "end_ns": machine.clock_ns},
        "move": "MOVE",
        "errors": {"protocol": 0, "connection": 0, "missing": 0, "smtp": 0},
        "first_error": "",
        "incoming": {"messages": 3, "bytes": 9000},
        "transactions": per_type,
        "totals": {
            "count": completed,
            "throughput_per_s": completed / (length / 1e9),
            "response_ns_mean": cycle_ns / 2.25,
            "think_ns_mean": cycle_ns * 1.25 / 2.25,
            "in_flight_mean": clients / 2.25,
        },
    }


def histogram(mean: int, count: int) -> list[list[int]]:
    """Buckets that agree with QUANTILES: half of the counts up to 0.9 x the mean, and so on."""
    at_most = [(0.9, 0.50), (1.6, 0.90), (1.8, 0.95), (2.4, 0.99), (3.0, 1.0)]
    buckets, seen = [], 0
    for factor, share in at_most:
        upto = -int(-count * share // 1)
        buckets.append([int(mean * factor), upto - seen])
        seen = upto
    return [bucket for bucket in buckets if bucket[1]]


QUANTILES = {"p50": 0.9, "p90": 1.6, "p95": 1.8, "p99": 2.4, "max": 3.0}
EMPTY = {"mean": 0, "p50": 0, "p90": 0, "p95": 0, "p99": 0, "max": 0}


def write_run(run_dir: Path, seed: int = 1, mix: str = "imapb", *, warm: bool = True) -> Path:
    """A run folder as the pipeline leaves it, without stats.json; warm-up of 10 intervals or of 2."""
    run_dir.mkdir(parents=True)
    machine = Machine(random.Random(seed))
    warming = [machine.line("load_begin")]
    for _ in range(10 if warm else 2):
        machine.run(3000)
        warming.append(machine.line("sampling_interval"))
    write_lines(run_dir.parent / f"warm-{run_dir.name}.jsonl", [header(), *warming])

    begin_ns = machine.clock_ns
    measured = [machine.line("measure_begin")]
    weights = (1, 1, 1, 8, 40, 6, 20, 50, 49, 14)
    for _ in range(3):
        machine.run(3000)
        for kind in machine.random.choices(range(10), weights, k=60):
            machine.counts["transactions"][kind, 0] += 1
        machine.idle_ns += 10_000
        measured.append(machine.line("sampling_interval"))
    measured[-1]["mark"] = "measure_end"
    write_lines(run_dir / "snapshots.jsonl", [header(), *measured, machine.line("exit")])

    load = transactions(machine, begin_ns, seed, mix)
    (run_dir / "transactions.json").write_text(json.dumps(load))
    manifest = {
        "schema": 2,
        "run": run_dir.name,
        "experiment": mix,
        "engine": "qemu",
        "machine": "s80",
        "protocol": "moesi",
        "workload": mix,
        "scale": "tiny",
        "seed": seed,
        "status": "whole",
        "design": load_machine("s80").design(),
        "instructions": 9000,
        "simulated_ns": machine.clock_ns - begin_ns,
        "wall_s": 0.5,
        "mips": 0.018,
        "inputs": {"machine": "a" * 64, "kernel": "b" * 64},
        "versions": {"qemu": "10.0.2", "kernel": "6.1"},
        "warmup": {"instructions": 30000, "sampling_intervals": 10, "verdict": "steady", "drift_points": {}},
        "clients": 40,
        "think_ms": 4,
        "warm_snapshots": f"../warm-{run_dir.name}.jsonl",
    }
    (run_dir / "machine.toml").write_text("[guest]\nload_processors = 0\n")
    (run_dir / "manifest.json").write_text(json.dumps(manifest))
    return run_dir

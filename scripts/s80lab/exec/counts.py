# SPDX-License-Identifier: GPL-2.0-or-later
"""The counts of a program's run, as its report shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from s80lab.results.snapshots import IDLE, RELAY, Delta, program_of


@dataclass(frozen=True)
class Side:
    """User or kernel code of the program. misses: L2 misses by source. cpi: cycles per instruction by part; `base` and
    the services of stalls."""

    instructions: int
    accesses: int
    l1_misses: int
    l2_misses: int
    misses: Mapping[str, int]
    upgrades: int
    invalidations: int
    cycles: float
    cpi: Mapping[str, float]

    @property
    def transfers(self) -> int:
        """Misses that another cache serviced."""
        return sum(count for source, count in self.misses.items() if source != "memory")


@dataclass(frozen=True)
class Counts:
    """all: user and kernel code of the program, without idle processors and the relay of its output. relay, idle:
    their instructions. simulated_ns: length of the region. utilisation: busy share of all processors."""

    all: Side
    user: Side
    kernel: Side
    relay: int
    idle: int
    simulated_ns: int
    wait_error: float

    def record(self) -> dict[str, object]:
        return asdict(self)


def counts_of(region: Delta) -> Counts:
    """The counts of a measured region."""
    program = program_of(region)
    busy = region.total("busy_cycles")
    return Counts(
        all=_side(program),
        user=_side(program, privilege="user"),
        kernel=_side(program, privilege="kernel"),
        relay=region.total("instructions", **{"class": RELAY}),
        idle=region.total("instructions", **{"class": IDLE}),
        simulated_ns=region.clock_ns,
        wait_error=region.total("wait_error_cycles") / busy if busy else 0.0,
    )


def _side(program: Delta, **where: str) -> Side:
    labels = program.header.labels
    total = program.total
    instructions = total("instructions", **where)
    stalls = {service: total("stall_cycles", service=service, **where) for service in labels["service"]}
    base = instructions * program.header.base_cpi
    cycles = base + sum(stalls.values())
    parts = {"base": base, **{service: cost for service, cost in stalls.items() if cost or service != "issue"}}
    return Side(
        instructions=instructions,
        accesses=total("accesses", **where),
        l1_misses=total("l1_misses", **where),
        l2_misses=total("l2_misses", **where),
        misses={source: total("miss_source", source=source, **where) for source in labels["source"]},
        upgrades=total("upgrades", **where),
        invalidations=total("invalidations_sent", **where),
        cycles=cycles,
        cpi={name: cost / instructions if instructions else 0.0 for name, cost in parts.items()},
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the resolved machine file in gem5's embedded Python, and maps it to Ruby's parameters.

Format: docs/reference/interfaces/plugin-arguments.md.

This module runs inside gem5, so it uses the standard library only.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class MachineError(Exception):
    """MOESI_hammer cannot express this machine file. The message is one sentence for the user."""


@dataclass(frozen=True)
class Geometry:
    """One cache: bytes and ways."""

    size: int
    ways: int


@dataclass(frozen=True)
class Latency:
    """Stall cycles beyond the base cycle, by the place that services an access."""

    l2_hit: int
    memory: int
    cache: int
    upgrade: int


@dataclass(frozen=True)
class MachineFile:
    """The parameters of a machine that the memory system needs."""

    name: str
    processors: int
    threads_per_core: int
    clock_hz: int
    line_bytes: int
    l1i: Geometry
    l1d: Geometry
    l2: Geometry
    policy: str
    latency: Latency
    probe_filter: int
    bandwidth: bool

    @property
    def cores(self) -> int:
        """The number of private cache hierarchies. A core's hardware threads share one."""
        return self.processors // self.threads_per_core

    @classmethod
    def load(cls, path: str | Path) -> MachineFile:
        """Read the file. MachineError: MOESI_hammer cannot express the machine."""
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
            machine = cls(
                name=content["name"],
                processors=content["processors"]["count"],
                threads_per_core=content["processors"]["threads_per_core"],
                clock_hz=content["processors"]["clock_hz"],
                line_bytes=content["line_bytes"],
                l1i=_geometry(content["l1i"]),
                l1d=_geometry(content["l1d"]),
                l2=_geometry(content["l2"]),
                policy=content["replacement"]["policy"],
                latency=Latency(**content["latency"]),
                probe_filter=content.get("ruby", {}).get("probe_filter", 0),
                bandwidth="bandwidth" in content,
            )
            inclusion = content["l2"]["inclusion"]
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise MachineError(f"{path}: cannot be read ({error})") from None
        except (KeyError, TypeError) as error:
            raise MachineError(f"{path}: is not a resolved machine file ({error})") from None
        machine._refuse(str(path), inclusion)
        return machine

    def _refuse(self, path: str, inclusion: str) -> None:
        if inclusion != "exclusive":
            raise MachineError(
                f"{path}: l2.inclusion is {inclusion}, but MOESI_hammer's L2 is exclusive of its L1s; "
                "set l2.inclusion=exclusive"
            )
        for name, cache in (("l1i", self.l1i), ("l1d", self.l1d), ("l2", self.l2)):
            if cache.size // (cache.ways * self.line_bytes) < 2:
                raise MachineError(f"{path}: {name} has one set, but Ruby's caches need at least two")

    def notes(self) -> list[str]:
        """Sentences for the run's record: parameters that Ruby expresses in another way or not at all."""
        probed = (
            f"a probe filter for {self.probe_filter} bytes of memory: evicting an entry removes its block from all "
            "caches"
            if self.probe_filter
            else "no probe filter: every miss probes every cache"
        )
        notes = [
            probed,
            "latency.upgrade: unused; MOESI_hammer has no upgrade: a store in S or O is a GETX that waits for all acks",
            "latency.memory, latency.cache, latency.l2_hit: hold for uncontended paths; queueing adds to them",
            "clock.base_cpi, clock.quantum_cycles: processors are not part of the memory system",
        ]
        if self.bandwidth:
            notes.append("[bandwidth]: unused; Ruby's network and memory have their own queues")
        if self.policy == "plru":
            notes.append("replacement.policy plru: Ruby's tree points to an invalidated way, the model's does not")
        if self.policy == "random":
            notes.append("replacement.policy random: Ruby draws another random sequence, so only means can agree")
        return notes


def _geometry(table: dict[str, Any]) -> Geometry:
    return Geometry(table["size"], table["ways"])

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
    """Ruby cannot express this machine file. The message is one sentence for the user."""


@dataclass(frozen=True)
class Geometry:
    """One cache: bytes and ways. policy: the replacement policy, if the cache has one of its own."""

    size: int
    ways: int
    policy: str = ""


@dataclass(frozen=True)
class Latency:
    """Stall cycles beyond the base cycle, by the place that services an access."""

    l2_hit: int
    memory: int
    cache: int
    upgrade: int
    llc: int = 0


PROTOCOLS = {"hammer": ("MOESI_hammer", "exclusive"), "mesi-llc": ("MESI_Three_Level", "inclusive-gem5")}
"""Ruby's protocol and its organisation of the L2, by the table of the model's protocol."""
PROBE_FILTER_WAYS = 4
"""As in gem5's own configuration of the protocol."""


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
    protocol: str = "hammer"
    llc: Geometry | None = None
    directory: Geometry | None = None

    @property
    def ruby(self) -> str:
        """The name of Ruby's protocol."""
        return PROTOCOLS[self.protocol][0]

    @property
    def filtered(self) -> bool:
        """Whether MOESI_hammer has a probe filter, which is a directory with a bounded number of entries."""
        return self.directory is not None or self.probe_filter > 0

    @property
    def filter_geometry(self) -> Geometry:
        """The probe filter. Ruby needs its size even where the filter is off."""
        return self.directory or Geometry(self.probe_filter or PROBE_FILTER_WAYS * 1024, PROBE_FILTER_WAYS)

    @property
    def cores(self) -> int:
        """The number of private cache hierarchies. A core's hardware threads share one."""
        return self.processors // self.threads_per_core

    @classmethod
    def load(cls, path: str | Path) -> MachineFile:
        """Read the file. MachineError: Ruby cannot express the machine."""
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
            if "group" in content:
                raise MachineError(f"{path}: gem5's protocols have no group caches: remove [group]")
            line_bytes = content["line_bytes"]
            if entries := content.get("directory"):
                entries["size"] = entries["entries"] * line_bytes
            machine = cls(
                name=content["name"],
                processors=content["processors"]["count"],
                threads_per_core=content["processors"]["threads_per_core"],
                clock_hz=content["processors"]["clock_hz"],
                line_bytes=line_bytes,
                l1i=_geometry(content["l1i"]),
                l1d=_geometry(content["l1d"]),
                l2=_geometry(content["l2"]),
                policy=content["replacement"]["policy"],
                latency=Latency(**content["latency"]),
                probe_filter=content.get("ruby", {}).get("probe_filter", 0),
                bandwidth="bandwidth" in content,
                protocol=content["protocol"],
                llc=_shared(path, content, "llc"),
                directory=_shared(path, content, "directory"),
            )
            inclusion = content["l2"]["inclusion"]
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise MachineError(f"{path}: cannot be read ({error})") from None
        except (KeyError, TypeError) as error:
            raise MachineError(f"{path}: is not a resolved machine file ({error})") from None
        machine._refuse(str(path), inclusion)
        return machine

    def _refuse(self, path: str, inclusion: str) -> None:
        if self.protocol not in PROTOCOLS:
            raise MachineError(
                f"{path}: Ruby has no counterpart of protocol {self.protocol}; use {', '.join(PROTOCOLS)}"
            )
        ruby, needed = PROTOCOLS[self.protocol]
        if inclusion != needed:
            raise MachineError(
                f"{path}: l2.inclusion is {inclusion}, but the L2 of {ruby} is {needed}; set l2.inclusion={needed}"
            )
        for name, cache in (
            ("l1i", self.l1i),
            ("l1d", self.l1d),
            ("l2", self.l2),
            ("llc", self.llc),
            ("directory", self.directory),
        ):
            if cache and cache.size // (cache.ways * self.line_bytes) < 2:
                raise MachineError(f"{path}: {name} has one set, but Ruby's caches need at least two")

    def notes(self) -> list[str]:
        """Sentences for the run's record: parameters that Ruby expresses in another way or not at all."""
        if self.protocol == "hammer":
            notes = [
                f"a probe filter for {self.filter_geometry.size} bytes of memory: evicting an entry removes its block "
                "from all caches"
                if self.filtered
                else "no probe filter: every miss probes every cache",
                "latency.upgrade: unused; MOESI_hammer has no upgrade: a store in S or O is a GETX that waits for all "
                "acks",
                "latency.memory, latency.cache, latency.l2_hit: hold for uncontended paths; queueing adds to them",
            ]
        else:
            notes = [f"[latency]: unused; the controllers of {self.ruby} have gem5's own latencies"]
        notes += [
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


def _shared(path: str | Path, content: dict[str, Any], name: str) -> Geometry | None:
    """The last-level cache or the directory. Ruby chooses slices by bits of the address, the model by a hash."""
    table = content.get(name)
    if table is None:
        return None
    if table["slices"] != 1 or table["replacement"] not in ("lru", "plru", "random"):
        raise MachineError(
            f"{path}: [{name}] has slices = {table['slices']} and replacement = {table['replacement']}; Ruby can "
            "have one slice with lru, plru or random as the model has it"
        )
    return Geometry(table["size"], table["ways"], table["replacement"])

# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine: a file in configs/machines, with every value's provenance beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from s80lab.base import paths
from s80lab.base.strict import Size, Strict, find_or_file, load, parse_toml, read_toml, resolve

GIB = 1 << 30
# The model counts in 32 bits what one access costs.
MAXIMUM = (1 << 32) - 1
# What the model is made for (src/model/types.h, replacement.h, machine.cpp).
PROCESSORS, WAYS, CACHE_BYTES, LINE_BYTES = 32, 16, 64 * GIB, (32, 1024)
TLB_ENTRIES = 1024
SERVICE, BANKS = 1_000_000, 1024
Cycles = Annotated[int, Field(ge=0, le=MAXIMUM)]


class Processors(Strict):
    count: int = Field(ge=1, le=PROCESSORS)
    threads_per_core: PositiveInt = 1
    clock_hz: PositiveInt


class Cache(Strict):
    size: Annotated[Size, Field(le=CACHE_BYTES)]
    ways: int = Field(ge=1, le=WAYS)


class L2(Cache):
    inclusion: Literal["inclusive", "exclusive"] = "inclusive"


class Replacement(Strict):
    policy: Literal["lru", "plru", "random"] = "lru"


class Latency(Strict):
    """Stall cycles by where an access was serviced (an L1 hit stalls nothing)."""

    l2_hit: Cycles
    memory: Cycles
    cache: Cycles
    upgrade: Cycles


class Clock(Strict):
    """base_cpi: cycles an instruction without stalls; quantum_cycles: how far one core may run ahead;
    slice_instructions: for so long a processor's further accesses to a line that it has recorded are L1 hits;
    turn_instructions: after so many the plugin ends a turn of QEMU's (0: as long as it comes)."""

    base_cpi: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    quantum_cycles: int = Field(200, ge=1, le=MAXIMUM)
    slice_instructions: int = Field(200, ge=1, le=MAXIMUM)
    turn_instructions: int = Field(0, ge=0, le=MAXIMUM)

    @model_validator(mode="after")
    def _recorded_as_finely_as_played(self) -> Self:
        if self.slice_instructions * self.base_cpi > self.quantum_cycles:
            taken = self.slice_instructions * self.base_cpi
            raise ValueError(
                f"clock.slice_instructions = {self.slice_instructions} take {taken:g} cycles, more than "
                f"clock.quantum_cycles = {self.quantum_cycles}: accesses would be interleaved more finely than they "
                "are recorded"
            )
        return self


class Translation(Strict):
    """How the modelled processors find the page of a data access that their TLB does not hold.

    walks: `x86` loads the entries of the guest's own page tables, and the TLB is emptied when the address space
    changes; `hashed` looks into a table beside the guest's memory, as PowerPC's processors do: one group of eight
    entries (128 bytes) by the hash of address space and page, and entries of other address spaces stay in the TLB.
    entries: of the TLB, direct mapped, pages of 4 KB. page_table: bytes of the hashed table.
    """

    walks: Literal["x86", "hashed"] = "x86"
    entries: int = Field(TLB_ENTRIES, ge=16, le=TLB_ENTRIES)
    page_table: Annotated[Size, Field(ge=1 << 16, le=4 * GIB)] = 64 << 20

    @model_validator(mode="after")
    def _powers_of_two(self) -> Self:
        for key, value in (("entries", self.entries), ("page_table", self.page_table)):
            if value & (value - 1):
                raise ValueError(f"translation.{key} = {value} is no power of two")
        return self


class Bandwidth(Strict):
    """How many cycles a request keeps what it goes through; who comes meanwhile waits. 0: as many at once as come.

    bus: every miss, upgrade and write-back of an evicted block. memory: every line read from memory or written to it,
    in one of so many banks, by its number. A processor waits for what it asks for, not for what is written back.
    """

    bus: int = Field(0, ge=0, le=SERVICE)
    memory: int = Field(0, ge=0, le=SERVICE)
    banks: int = Field(1, ge=1, le=BANKS)


class Smt(Strict):
    """Two threads on a core share its caches and its issue slots: while the other one issues too (it neither sleeps nor
    stalls), an instruction of each takes base_cpi / issue_share cycles. 1: as if each thread issued alone; 0.5: every
    second slot of a core that issues one instruction at a time. Stalls overlap."""

    issue_share: Annotated[float, Field(gt=0, le=1)] = 1.0


class GuestPart(Strict):
    """What the guest sees; a change here, `tick_hz` aside, needs a new ready checkpoint.

    time_ratio: nanoseconds of QEMU's guest time in a modelled one while the machine is as busy as usual; tick_hz: timer
    interrupts a processor and modelled second (0: the kernel's own, 250 a second of guest time). load_processors: the
    last so many processors are the load generator's alone, and stand for the clients' machines.
    """

    cpu: str
    kernel_args: str
    time_ratio: PositiveFloat = 1.0
    tick_hz: NonNegativeFloat = 0.0
    load_processors: NonNegativeInt = 0


class Machine(Strict):
    name: str
    description: str
    protocol: str
    line_bytes: int = Field(ge=LINE_BYTES[0], le=LINE_BYTES[1])
    processors: Processors
    l1i: Cache
    l1d: Cache
    l2: L2
    replacement: Replacement = Replacement()
    latency: Latency
    clock: Clock = Clock()
    translation: Translation = Translation()
    bandwidth: Bandwidth = Bandwidth()
    smt: Smt = Smt()
    guest: GuestPart
    provenance: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _geometry(self) -> Self:
        if self.line_bytes & (self.line_bytes - 1):
            raise ValueError(f"line_bytes = {self.line_bytes} is no power of two")
        if self.processors.count % self.processors.threads_per_core:
            raise ValueError(
                f"processors.count = {self.processors.count} is no multiple of processors.threads_per_core = "
                f"{self.processors.threads_per_core}"
            )
        if self.smt.issue_share < 1 and self.processors.threads_per_core != 2:
            raise ValueError(
                f"smt.issue_share = {self.smt.issue_share:g} is for cores of two threads; "
                f"processors.threads_per_core = {self.processors.threads_per_core}"
            )
        apart, threads = self.guest.load_processors, self.processors.threads_per_core
        if apart >= self.processors.count or apart % threads:
            raise ValueError(
                f"guest.load_processors = {apart} leaves the server no whole cores: there are "
                f"{self.processors.count // threads} of {threads} threads"
            )
        for name, cache in (("l1i", self.l1i), ("l1d", self.l1d), ("l2", self.l2)):
            sets, rest = divmod(cache.size, cache.ways * self.line_bytes)
            if rest or sets == 0 or sets & (sets - 1):
                raise ValueError(
                    f"{name}.size = {cache.size} bytes in {cache.ways} ways of {self.line_bytes}-byte lines makes "
                    f"{cache.size / (cache.ways * self.line_bytes):g} sets; the number of sets must be a power of two"
                )
            if self.replacement.policy == "plru" and cache.ways & (cache.ways - 1):
                raise ValueError(f"{name}.ways = {cache.ways}: plru needs a power of two")
        return self

    @model_validator(mode="after")
    def _provenance(self) -> Self:
        known = set(_flat(self.model_dump(exclude={"name", "description", "provenance"})))
        for key, text in self.provenance.items():
            if key not in known:
                raise ValueError(f"provenance of `{key}`, which is no key of a machine")
            if not text.startswith(("stated: ", "assumed: ")):
                raise ValueError(f"provenance of `{key}` must begin with `stated: ` or `assumed: `")
        return self

    def pace(self) -> dict[str, float]:
        """What the load generator's job says of the machine's time (docs/reference/interfaces/job.md)."""
        return {
            "tick_hz": self.guest.tick_hz,
            "time_ratio": self.guest.time_ratio,
        }

    def kernel_args(self) -> str:
        """The guest's, with the processors that its scheduler leaves to the load generator (init)."""
        count, apart = self.processors.count, self.guest.load_processors
        return self.guest.kernel_args + (f" isolcpus={count - apart}-{count - 1}" if apart else "")

    def design(self) -> dict[str, Any]:
        """Every value of what is modelled, by its dotted key, sizes in bytes."""
        return _flat(self._dump({"name", "description", "guest", "provenance"}))

    def resolved(self) -> str:
        """The machine as TOML with all defaults written out and every size in bytes, for the plugin."""
        dump = self._dump({"provenance"})
        lines = [f"{key} = {_toml(value)}" for key, value in dump.items() if not isinstance(value, dict)]
        for table, values in dump.items():
            if isinstance(values, dict):
                lines += ["", f"[{table}]"] + [f"{key} = {_toml(value)}" for key, value in values.items()]
        return "\n".join(lines) + "\n"

    def _dump(self, without: set[str]) -> dict[str, Any]:
        """A machine says nothing of what it does not use: most have never heard of another way to translate, nor of
        queues, shared issue slots or processors of the load generator's own."""
        optional = {"translation": Translation(), "bandwidth": Bandwidth(), "smt": Smt()}
        unused = {name for name, default in optional.items() if getattr(self, name) == default}
        dump = self.model_dump(exclude=without | unused)
        if "guest" in dump and not self.guest.load_processors:
            del dump["guest"]["load_processors"]
        return dump


def _toml(value: object) -> str:
    """JSON's spelling but for its escapes: TOML has no surrogate pairs, and wants DEL escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _flat(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in content.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def load_machine(name: str, overrides: Mapping[str, object] | None = None) -> Machine:
    """The named machine, or the one in a .toml file, with overrides (`l2.size`: `4MiB`) over it."""
    return load(find_or_file("machine", paths.MACHINES, name), Machine, overrides)


def with_inclusion(protocol: Path, overrides: Mapping[str, object] | None = None) -> Mapping[str, object]:
    """The overrides with the L2 organisation that the protocol's table was made for, unless they choose one."""
    organisation = read_toml(protocol).get("l2_inclusion")
    return {**({"l2.inclusion": organisation} if organisation else {}), **(overrides or {})}


def load_machine_file(path: Path, overrides: Mapping[str, object] | None = None) -> Machine:
    """A machine from any file."""
    return load(path, Machine, overrides)


def load_machine_text(text: str, where: str, overrides: Mapping[str, object] | None = None) -> Machine:
    """A resolved machine out of a capture; `where` begins the sentence in which it is refused."""
    return resolve(parse_toml(text, where), Machine, where, overrides)


def low_ram(ram: int) -> int:
    """Bytes of RAM below the PCI hole of QEMU's `pc` machine (hw/i386/pc_piix.c: 3 GiB once RAM reaches 3.5 GiB)."""
    return ram if ram < 7 * GIB // 2 else 3 * GIB

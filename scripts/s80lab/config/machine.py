# SPDX-License-Identifier: GPL-2.0-or-later
"""Model of the files in configs/machines: the machine, with the provenance of its values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.numbers import COUNTED
from s80lab.base.strict import Size, Strict, find_or_file, load, parse_toml, read_toml, resolve, shortened

GIB = 1 << 30
# What the model is made for (src/base/core_set.h, types.h, replacement.h, machine.cpp).
PROCESSORS, L1_WAYS, WAYS, CACHE_BYTES, LINE_BYTES = 256, 16, 32, 64 * GIB, (32, 1024)
GUEST_PROCESSORS = 32  # of a guest in QEMU, with the plugin
TLB_ENTRIES = 1024
SERVICE, BANKS = 1_000_000, 1024
LARGEST_CLOCK_SHIFT = 10  # as in src/plugin/arguments.cpp
# The model stores cycles per instruction in units of 1/256 (src/timing/merger.cpp).
LEAST_CPI, MOST_CPI = 0.01, 1_000_000
LEAST_HZ, MOST_HZ = 1_000, 10**12
SLICES, COVERAGE = 1024, 1000
Cycles = Annotated[int, Field(ge=0, le=COUNTED)]


def _entries(value: object) -> int | str:
    """Entries of a directory: a number, or a text such as `1.5x`."""
    text = str(value)
    if re.fullmatch(r"[0-9]{1,12}", text) and not isinstance(value, bool) and int(text) > 0:
        return int(text)
    if re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6})?x", text) and 0 < float(text[:-1]) <= COVERAGE:
        return text
    raise ValueError(
        f"`{shortened(text)}` is not a number of entries: write a number, or a multiple of the lines in the private "
        "caches such as 1.5x"
    )


class Processors(Strict):
    """Number, threads per core and clock rate of the processors."""

    count: int = Field(ge=1, le=PROCESSORS)
    threads_per_core: int = Field(1, ge=1, le=GUEST_PROCESSORS)
    clock_hz: int = Field(ge=LEAST_HZ, le=MOST_HZ)


class Cache(Strict):
    """Size and associativity of one cache."""

    size: Annotated[Size, Field(le=CACHE_BYTES)]
    ways: int = Field(ge=1, le=L1_WAYS)


class L2(Cache):
    """The L2 of a core.

    inclusion: whether the L2 includes or excludes the blocks of the L1s. `exclusive`: in the order of gem5's
        MOESI_hammer, the victim of the L1 enters the L2 before the L2 is searched. `exclusive-textbook`: the L2 is
        searched first, and the block changes places with the victim.
    """

    ways: int = Field(ge=1, le=WAYS)
    inclusion: Literal["inclusive", "exclusive", "exclusive-textbook"] = "inclusive"


class Replacement(Strict):
    """The replacement policy of all caches."""

    policy: Literal["lru", "plru", "random"] = "lru"


class Llc(Strict):
    """The shared last-level cache (LLC). The protocol's [home] says which lines it keeps.

    size: of all slices together. A hash of the line selects the slice (src/cache/sliced_cache.h).
    ways: of each set of a slice. The number of sets of a slice is a power of two.
    """

    size: Annotated[Size, Field(le=CACHE_BYTES)]
    ways: int = Field(ge=1, le=WAYS)
    slices: int = Field(1, ge=1, le=SLICES)
    replacement: Literal["lru", "plru", "random", "srrip"] = "lru"


class Directory(Strict):
    """A directory with a bounded number of entries, one for each line that private caches may hold.

    entries: a number, or a multiple of the lines in the private caches such as "1.5x".
    ways, slices: as of the LLC.
    """

    entries: Annotated[int | str, BeforeValidator(_entries)]
    ways: int = Field(ge=1, le=WAYS)
    slices: int = Field(1, ge=1, le=SLICES)
    replacement: Literal["lru", "plru", "random", "srrip"] = "lru"


class Latency(Strict):
    """Stall cycles of an access, by what serviced it. An L1 hit does not stall. llc: of machines with [llc] only."""

    l2_hit: Cycles
    memory: Cycles
    cache: Cycles
    upgrade: Cycles
    llc: Cycles | None = None


class Clock(Strict):
    """The timing of instructions and of the timing merger.

    base_cpi: cycles per instruction without cache stalls.
    quantum_cycles: the cycles by which one core may run ahead of the others.
    filter_instructions: the filter interval, within which repeated accesses of a processor to one line count as L1
        hits.
    epoch_cycles: the simulated cycles of an epoch. A running processor executes in it what it can in these cycles. With
        shorter or longer epochs than allowed, processors that wait for each other wait wrongly
        (docs/background/clock.md).
    """

    base_cpi: float = Field(1.0, ge=LEAST_CPI, le=MOST_CPI)
    quantum_cycles: int = Field(200, ge=1, le=COUNTED)
    filter_instructions: int = Field(1_000, ge=1, le=COUNTED)
    epoch_cycles: int = Field(20_000, ge=5_000, le=50_000)


class Translation(Strict):
    """Address translation of data accesses that miss in the TLB.

    walks: the kind of page table walk. `x86` loads the entries of the guest's own page tables; the TLB is flushed when
        the address space changes. `hashed` reads a table outside the guest's memory, as PowerPC processors do: the hash
        of address space and page selects one group of eight entries (128 bytes). Entries of other address spaces stay
        in the TLB.
    entries: number of TLB entries (direct mapped, pages of 4 KB).
    page_table: size of the hashed table in bytes.
    """

    walks: Literal["x86", "hashed"] = "x86"
    entries: int = Field(TLB_ENTRIES, ge=16, le=TLB_ENTRIES)
    page_table: Annotated[Size, Field(ge=1 << 16, le=4 * GIB)] = 64 << 20

    @model_validator(mode="after")
    def _powers_of_two(self) -> Self:
        for key, value in (("entries", self.entries), ("page_table", self.page_table)):
            if value & (value - 1):
                raise ValueError(f"translation.{key} = {value} must be a power of two")
        return self


class Bandwidth(Strict):
    """Service time of each resource in cycles. Requests that arrive while a resource is busy queue up.

    A service time of 0 means unlimited bandwidth. A processor waits for its own requests, not for writebacks.

    bus: service time of each miss, upgrade and writeback of an evicted block.
    memory: service time of each line that is read from memory or written to it.
    banks: number of memory banks; the line number selects the bank.
    """

    bus: int = Field(0, ge=0, le=SERVICE)
    memory: int = Field(0, ge=0, le=SERVICE)
    banks: int = Field(1, ge=1, le=BANKS)


class Smt(Strict):
    """Issue slots of a core with two threads, which share the core's caches and issue slots. Stalls overlap.

    issue_share: share of the issue slots of each thread while both issue (neither sleeps nor stalls). An instruction
        then takes base_cpi / issue_share cycles. 1: each thread issues as if alone; 0.5: each thread has every second
        slot of a core that issues one instruction at a time.
    """

    issue_share: float = Field(1.0, ge=LEAST_CPI, le=1)


class GuestPart(Strict):
    """The machine as the guest sees it. A change needs a new ready checkpoint.

    cpu: the processor type for QEMU.
    kernel_args: the kernel's command line.
    load_processors: number of processors, the last ones, that run only the load generator and represent the clients'
        machines.
    """

    cpu: str
    kernel_args: str
    load_processors: int = Field(0, ge=0, le=GUEST_PROCESSORS)


class Machine(Strict):
    """A machine. provenance: for dotted keys, whether the value is `stated: ` by a source or `assumed: `."""

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
    llc: Llc | None = None
    directory: Directory | None = None
    guest: GuestPart
    provenance: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _geometry(self) -> Self:
        if self.line_bytes & (self.line_bytes - 1):
            raise ValueError(f"line_bytes = {self.line_bytes} must be a power of two")
        if self.processors.count % self.processors.threads_per_core:
            raise ValueError(
                f"processors.count = {self.processors.count} must be a multiple of processors.threads_per_core = "
                f"{self.processors.threads_per_core}"
            )
        if self.smt.issue_share < 1 and self.processors.threads_per_core != 2:
            raise ValueError(
                f"smt.issue_share = {self.smt.issue_share:g} needs cores with two threads, but "
                f"processors.threads_per_core = {self.processors.threads_per_core}: set it to 2, or remove "
                "[smt]"
            )
        if self.clock_shift > LARGEST_CLOCK_SHIFT:
            raise ValueError(
                f"clock.base_cpi = {self.clock.base_cpi:g} at processors.clock_hz = {self.processors.clock_hz} makes "
                f"an instruction shorter than 1/{1 << LARGEST_CLOCK_SHIFT} ns, the shortest that the guest's clock can "
                "show: raise clock.base_cpi or lower processors.clock_hz"
            )
        apart, threads = self.guest.load_processors, self.processors.threads_per_core
        if apart >= self.processors.count or apart % threads:
            raise ValueError(
                f"guest.load_processors = {apart} must leave at least one core, and only complete cores, to "
                f"the server: the machine has {self.processors.count // threads} cores (threads per core: "
                f"{threads})"
            )
        self._check_home()
        for name, cache in (("l1i", self.l1i), ("l1d", self.l1d), ("l2", self.l2)):
            sets, rest = divmod(cache.size, cache.ways * self.line_bytes)
            if rest or sets == 0 or sets & (sets - 1):
                raise ValueError(
                    f"{name}.size = {cache.size} bytes in {cache.ways} ways of {self.line_bytes}-byte lines makes "
                    f"{cache.size / (cache.ways * self.line_bytes):g} sets; the number of sets must be a power of two"
                )
            if self.replacement.policy == "plru" and cache.ways & (cache.ways - 1):
                raise ValueError(f"{name}.ways = {cache.ways} must be a power of two for the replacement policy `plru`")
        return self

    def _check_home(self) -> None:
        if self.llc is None and self.latency.llc is not None:
            raise ValueError(f"latency.llc = {self.latency.llc} needs a table [llc]: add the table, or remove the key")
        if self.llc is not None:
            if self.latency.llc is None:
                raise ValueError(
                    "[llc] needs a latency: set latency.llc, the stall cycles of a miss that the LLC services"
                )
            lines, rest = divmod(self.llc.size, self.line_bytes)
            if rest:
                raise ValueError(
                    f"llc.size = {self.llc.size} bytes is not a whole number of {self.line_bytes}-byte lines"
                )
            _check_slices("llc", f"size = {self.llc.size} bytes", lines, self.llc)
        if self.directory is not None:
            entries = self.directory_entries
            _check_slices("directory", f"entries = {self.directory.entries}", entries, self.directory)

    @property
    def directory_entries(self) -> int:
        """The entries of the directory as a number; 0: the directory knows every copy."""
        entries = self.directory.entries if self.directory else 0
        if isinstance(entries, int):
            return entries
        private = self.l2.size + (0 if self.l2.inclusion == "inclusive" else self.l1i.size + self.l1d.size)
        cores = self.processors.count // self.processors.threads_per_core
        return round(float(entries[:-1]) * (cores * (private // self.line_bytes)))

    @model_validator(mode="after")
    def _provenance(self) -> Self:
        if not self.provenance:
            return self
        known = set(_flat(self.model_dump(exclude={"name", "description", "provenance"})))
        for key, text in self.provenance.items():
            if key not in known:
                raise ValueError(
                    f"[provenance] has an entry for `{key}`, which is not a key of a machine file: correct or "
                    "remove the entry"
                )
            if not text.startswith(("stated: ", "assumed: ")):
                raise ValueError(
                    f"the entry for `{key}` in [provenance] must begin with `stated: ` (by a source) or `assumed: `"
                )
        return self

    @property
    def clock_shift(self) -> int:
        """See clock_shift()."""
        return clock_shift(self.clock.base_cpi, self.processors.clock_hz)

    def kernel_args(self) -> str:
        """The kernel's command line, with the processors that the scheduler leaves to the load generator."""
        count, apart = self.processors.count, self.guest.load_processors
        return self.guest.kernel_args + (f" isolcpus={count - apart}-{count - 1}" if apart else "")

    def design(self) -> dict[str, Any]:
        """All values of the modelled machine by dotted keys, sizes in bytes."""
        return _flat(self._dump({"name", "description", "guest", "provenance"}))

    def resolved(self) -> str:
        """The machine as TOML for the plugin, with all defaults and with sizes in bytes."""
        dump = self._dump({"provenance"})
        lines = [f"{key} = {_toml(value)}" for key, value in dump.items() if not isinstance(value, dict)]
        for table, values in dump.items():
            if isinstance(values, dict):
                lines += ["", f"[{table}]"] + [f"{key} = {_toml(value)}" for key, value in values.items()]
        return "\n".join(lines) + "\n"

    def _dump(self, without: set[str]) -> dict[str, Any]:
        """The values without `without` and without unused tables: translation, bandwidth, smt, llc, directory,
        latency.llc and load_processors appear only if they differ from their defaults."""
        unused = {name for name in _UNUSED if getattr(self, name) == Machine.model_fields[name].default}
        dump = self.model_dump(exclude=without | unused)
        if self.latency.llc is None:
            del dump["latency"]["llc"]
        if "guest" in dump and not self.guest.load_processors:
            del dump["guest"]["load_processors"]
        return dump


# Tables that a machine file may lack: with defaults, and in all.
_OPTIONAL = {"translation": Translation(), "bandwidth": Bandwidth(), "smt": Smt()}
_UNUSED = (*_OPTIONAL, "llc", "directory")


def default_tables() -> dict[str, Any]:
    """The values of the tables that a machine file may lack, by dotted keys."""
    return _flat({name: table.model_dump() for name, table in _OPTIONAL.items()})


def clock_shift(base_cpi: float, clock_hz: int) -> int:
    """The number k for which 2^k seconds of the guest's clock are one simulated second under QEMU.

    QEMU's virtual time advances by 1 ns per instruction at least. k is the smallest number from 0 for which no
    instruction of the machine is shorter than that on the guest's clock.
    """
    shift = 0
    while base_cpi * 1e9 * 2**shift < clock_hz:
        shift += 1
    return shift


def _check_slices(name: str, size: str, lines: int, part: Llc | Directory) -> None:
    """ValueError unless the lines make a power-of-two number of sets in each slice."""
    if lines < part.slices * part.ways:
        raise ValueError(
            f"{name}.{size} is less than one set of {part.ways} ways in each slice ({name}.slices = "
            f"{part.slices}): make {name} larger, or lower ways or slices"
        )
    each, rest = divmod(lines, part.slices)
    if rest:
        raise ValueError(f"{name}.{size} makes {lines} lines, which {name}.slices = {part.slices} does not divide")
    sets, rest = divmod(each, part.ways)
    if rest or sets & (sets - 1):
        raise ValueError(
            f"{name}.{size} with {name}.slices = {part.slices} and {part.ways} ways makes {each / part.ways:g} sets in "
            "a slice; the number of sets must be a power of two"
        )
    if part.replacement == "plru" and part.ways & (part.ways - 1):
        raise ValueError(f"{name}.ways = {part.ways} must be a power of two for the replacement policy `plru`")


def _toml(value: object) -> str:
    """A value in TOML: as in JSON, except that TOML has no surrogate pairs and needs DEL escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _flat(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in content.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def load_machine(name: str, overrides: Mapping[str, object] | None = None) -> Machine:
    """Read a machine by its name or by the path of a .toml file, with overrides such as `l2.size`: `4MiB`."""
    return load(find_or_file("machine", paths.MACHINES, name), Machine, overrides)


def load_guest_machine(name: str, overrides: Mapping[str, object] | None = None) -> Machine:
    """Read a machine as `load_machine` does. UserError if a guest cannot run on the machine."""
    machine = load_machine(name, overrides)
    if machine.processors.count > GUEST_PROCESSORS:
        raise UserError(
            f"{name}: key `processors.count`: `{machine.processors.count}` is not allowed for a guest; "
            f"write a number of at most {GUEST_PROCESSORS}. "
            f"Traces and captures play on machines with up to {PROCESSORS} processors"
        )
    return machine


def with_inclusion(protocol: Path, overrides: Mapping[str, object] | None = None) -> Mapping[str, object]:
    """The overrides, with the L2 inclusion that the protocol's table requires unless they set one."""
    organisation = read_toml(protocol).get("l2_inclusion")
    return {**({"l2.inclusion": organisation} if organisation else {}), **(overrides or {})}


def load_machine_file(path: Path, overrides: Mapping[str, object] | None = None) -> Machine:
    """Read a machine from any file, with overrides."""
    return load(path, Machine, overrides)


def load_machine_text(text: str, where: str, overrides: Mapping[str, object] | None = None) -> Machine:
    """Read a resolved machine from a text, for example of a capture. where: the source, for messages."""
    return resolve(parse_toml(text, where), Machine, where, overrides)


def low_ram(ram: int) -> int:
    """Bytes of RAM below the PCI hole of QEMU's `pc` machine (hw/i386/pc_piix.c: 3 GiB once RAM reaches 3.5 GiB)."""
    return ram if ram < 7 * GIB // 2 else 3 * GIB

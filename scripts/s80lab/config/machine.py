# SPDX-License-Identifier: GPL-2.0-or-later
"""Model of the files in configs/machines: the machine, with the provenance of its values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, create_model, model_validator

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.numbers import COUNTED
from s80lab.base.strict import Size, Strict, find_or_file, load, parse_toml, read_toml, resolve, shortened, size_text

GIB = 1 << 30
GUEST_PROCESSORS = 32  # of a guest in QEMU, with the plugin
LARGEST_CLOCK_SHIFT = 10  # as in src/plugin/arguments.cpp

KEYS_FILE = Path(__file__).with_name("machine_keys.json")
"""The keys of the model, as the parts of the model declare them: the output of `build/bin/s80-step machine-keys`."""
TABLES: Mapping[str, Mapping[str, Any]] = {
    table["table"]: table for table in json.loads(KEYS_FILE.read_text(encoding="utf-8"))
}
KEYS: Mapping[str, Mapping[str, Any]] = {
    f"{name}.{key['name']}".removeprefix("."): key for name, table in TABLES.items() for key in table["keys"]
}
OPTIONAL = tuple(name for name, table in TABLES.items() if table["optional"])
"""Tables that a resolved file has only if a value differs from its default."""
OPTIONAL_KEYS = tuple(key for key, declared in KEYS.items() if declared.get("optional"))
"""Such keys of other tables."""


def limits(key: str) -> tuple[int, int]:
    """The least and the largest value of a number in a machine file."""
    return KEYS[key]["least"], KEYS[key]["most"]


def allowed_values(key: str) -> str:
    """The values that a key may have, for people."""
    declared = KEYS[key]
    if declared["type"] == "name":
        return ", ".join(declared["names"])
    size = size_text if declared["type"] == "size" else str
    least, most = (size(number) for number in limits(key))
    several = "a power of two, " if declared.get("power_of_two") else ""
    multiple = (
        f", or a multiple of at most {declared['most_multiple']} such as 1.5x" if "most_multiple" in declared else ""
    )
    return several + (f"at least {least}" if declared["most"] == COUNTED else f"{least} to {most}") + multiple


def _multiple(key: Mapping[str, Any]) -> Any:
    """The type of a key whose value is a number or a multiple such as `1.5x`, for pydantic."""

    def parse(value: object) -> int | str:
        text = str(value)
        if re.fullmatch(r"-?[0-9]{1,18}", text) and not isinstance(value, bool):
            if fault := _limit_fault(key, int(text), text):
                raise ValueError(fault)
            return int(text)
        if re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6})?x", text) and 0 < float(text[:-1]) <= key["most_multiple"]:
            return text
        raise ValueError(
            f"`{shortened(text)}` is not allowed; write a whole number, or a multiple of at most "
            f"{key['most_multiple']} such as 1.5x"
        )

    return Annotated[int | str, BeforeValidator(parse)]


def _limit_fault(key: Mapping[str, Any], number: int, text: str) -> str:
    """What is wrong with a number that is not between the limits of the key. text: the number as the user wrote it."""
    if number < key["least"]:
        return f"`{text}` is not allowed; write a number of at least {key['least']}"
    return f"`{text}` is not allowed; write a number of at most {key['most']}" if number > key["most"] else ""


def _field(key: Mapping[str, Any]) -> Any:
    """Type and default of a declared key, for pydantic. An optional key without a default may be None."""
    kind = {"number": int, "size": int, "real": float, "name": str}[key["type"]]
    number: Any = Size if key["type"] == "size" else kind
    if key["type"] == "name":
        allowed: Any = Literal[tuple(key["names"])]
    elif "most_multiple" in key:
        allowed = _multiple(key)
    else:
        allowed = Annotated[number, Field(ge=kind(key["least"]), le=kind(key["most"]))]
    if "default" in key:
        return allowed, kind(key["default"])
    return (allowed | None, None) if key.get("optional") else (allowed, ...)


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


class MachineBase(Strict):
    """What Python uses of a machine, and the keys of Python alone.

    provenance: for dotted keys, whether the value is `stated: ` by a source or `assumed: `.
    """

    name: str
    description: str
    protocol: str
    line_bytes: int
    # Models of the tables, with the declared keys; group, llc and directory: None if the machine has none.
    processors: Any
    l1i: Any
    l1d: Any
    l2: Any
    replacement: Any
    latency: Any
    clock: Any
    translation: Any
    bandwidth: Any
    smt: Any
    group: Any
    llc: Any
    directory: Any
    guest: GuestPart
    provenance: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _geometry(self) -> Self:
        values = _flat(self.model_dump(exclude={"provenance"}))
        for key, declared in KEYS.items():
            if declared.get("power_of_two") and (value := values.get(key, 1)) & (value - 1):
                raise ValueError(f"{key} = {value} must be a power of two")
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
        self._check_groups()
        self._check_home()
        policy = self.replacement.policy
        caches = [("l1i", self.l1i, policy), ("l1d", self.l1d, policy), ("l2", self.l2, policy)]
        for name, cache, policy in [*caches, *([("group", self.group, self.group.replacement)] if self.group else [])]:
            sets, rest = divmod(cache.size, cache.ways * self.line_bytes)
            if rest or sets == 0 or sets & (sets - 1):
                raise ValueError(
                    f"{name}.size = {cache.size} bytes in {cache.ways} ways of {self.line_bytes}-byte lines makes "
                    f"{cache.size / (cache.ways * self.line_bytes):g} sets; the number of sets must be a power of two"
                )
            if policy == "plru" and cache.ways & (cache.ways - 1):
                raise ValueError(f"{name}.ways = {cache.ways} must be a power of two for the replacement policy `plru`")
        return self

    def _check_groups(self) -> None:
        if self.group is None:
            if self.latency.group is not None:
                raise ValueError(
                    f"latency.group = {self.latency.group} needs a table [group]: add the table, or remove the key"
                )
            return
        if self.latency.group is None:
            raise ValueError(
                "[group] needs a latency: set latency.group, the stall cycles of a miss that the group cache services"
            )
        if self.cores % self.group.cores:
            raise ValueError(
                f"group.cores = {self.group.cores} does not divide the {self.cores} cores of the machine: choose a "
                "divisor"
            )
        most = limits("processors.count")[1]
        if self.cores + self.groups > most:
            raise ValueError(
                f"group.cores = {self.group.cores} makes {self.groups} group caches on {self.cores} cores; at most "
                f"{most} cores and group caches together are supported: choose larger groups"
            )

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
            self._check_slices("llc", f"size = {self.llc.size} bytes", lines)
        if self.directory is not None:
            self._check_slices("directory", f"entries = {self.directory.entries}", self.directory_entries)

    def _check_slices(self, name: str, size: str, lines: int) -> None:
        """ValueError unless the lines make a power-of-two number of sets in each slice."""
        part = getattr(self, name)
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
                f"{name}.{size} with {name}.slices = {part.slices} and {part.ways} ways makes "
                f"{each / part.ways:g} sets in a slice; the number of sets must be a power of two"
            )
        if part.replacement == "plru" and part.ways & (part.ways - 1):
            raise ValueError(f"{name}.ways = {part.ways} must be a power of two for the replacement policy `plru`")

    @property
    def cores(self) -> int:
        """The number of cores."""
        count: int = self.processors.count // self.processors.threads_per_core
        return count

    @property
    def groups(self) -> int:
        """The number of group caches."""
        return self.cores // self.group.cores if self.group else 0

    @property
    def directory_entries(self) -> int:
        """The entries of the directory as a number; 0: the directory knows every copy. ValueError if that is not a
        number that the key may have."""
        entries: int | str = self.directory.entries if self.directory else 0
        if isinstance(entries, int):
            return entries
        inclusive = self.l2.inclusion.startswith("inclusive")
        private = self.l2.size + (0 if inclusive else self.l1i.size + self.l1d.size)
        in_groups = self.groups * (self.group.size // self.line_bytes) if self.group else 0
        number: int = round(float(entries[:-1]) * (self.cores * (private // self.line_bytes) + in_groups))
        if fault := _limit_fault(KEYS["directory.entries"], number, entries):
            raise ValueError(f"key `directory.entries`: {fault}")
        return number

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
        """All values of the modelled machine by dotted keys, sizes in bytes and entries as a number."""
        values = _flat(self._dump({"name", "description", "guest", "provenance"}))
        return values | ({"directory.entries": self.directory_entries} if self.directory else {})

    def resolved(self) -> str:
        """The machine as TOML for the plugin, with all defaults and with sizes in bytes."""
        dump = self._dump({"provenance"})
        lines = [f"{key} = {_toml(value)}" for key, value in dump.items() if not isinstance(value, dict)]
        for table, values in dump.items():
            if isinstance(values, dict):
                lines += ["", f"[{table}]"] + [f"{key} = {_toml(value)}" for key, value in values.items()]
        return "\n".join(lines) + "\n"

    def uses(self, table: str) -> bool:
        """Whether the machine has the optional table, and a value of the table differs from its default."""
        return bool(getattr(self, table) != type(self).model_fields[table].default)

    def _dump(self, without: set[str]) -> dict[str, Any]:
        """The values without `without` and without unused tables: optional tables, optional keys and load_processors
        appear only if they differ from their defaults."""
        dump = self.model_dump(exclude=without | {name for name in OPTIONAL if not self.uses(name)})
        for key in OPTIONAL_KEYS:
            table, _, name = key.partition(".")
            if name in dump.get(table, {}) and dump[table][name] == KEYS[key].get("default"):
                del dump[table][name]
        if "guest" in dump and not self.guest.load_processors:
            del dump["guest"]["load_processors"]
        return dump


def _table(name: str) -> Any:
    """Type and default of a table of a machine, for pydantic. The default is None if the machine may lack the table."""
    fields = {key["name"]: _field(key) for key in TABLES[name]["keys"]}
    model = create_model(name.title(), __base__=Strict, **fields)
    if all("default" in key or key.get("optional") for key in TABLES[name]["keys"]):
        return model, model()
    return (model | None, None) if TABLES[name]["optional"] else (model, ...)


if TYPE_CHECKING:

    class Machine(MachineBase):
        """A machine with all declared keys."""
else:
    Machine = create_model(
        "Machine",
        __base__=MachineBase,
        line_bytes=_field(KEYS["line_bytes"]),
        **{name: _table(name) for name in TABLES if name},
    )


def default_tables() -> dict[str, Any]:
    """The values of the tables and keys that a resolved file may lack, by dotted keys. Keys without a default are
    not among them."""
    tables = {name: Machine.model_fields[name].default for name in OPTIONAL}
    known = _flat({name: table.model_dump() for name, table in tables.items() if table is not None})
    known |= {key: KEYS[key].get("default") for key in OPTIONAL_KEYS}
    return {key: value for key, value in known.items() if value is not None}


def clock_shift(base_cpi: float, clock_hz: int) -> int:
    """The number k for which 2^k seconds of the guest's clock are one simulated second under QEMU.

    QEMU's virtual time advances by 1 ns per instruction at least. k is the smallest number from 0 for which no
    instruction of the machine is shorter than that on the guest's clock.
    """
    shift = 0
    while base_cpi * 1e9 * 2**shift < clock_hz:
        shift += 1
    return shift


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
            f"Traces and captures play on machines with up to {limits('processors.count')[1]} processors"
        )
    if machine.cores + machine.groups > GUEST_PROCESSORS:
        raise UserError(
            f"{name}: {machine.cores} cores and {machine.groups} group caches are too many for a guest, which has at "
            f"most {GUEST_PROCESSORS} of both together: choose a larger `group.cores`. Traces and captures play on "
            "such machines"
        )
    return machine


def with_inclusion(protocol: Path, overrides: Mapping[str, object] | None = None) -> Mapping[str, object]:
    """The overrides, with the L2 inclusion that the protocol's table requires unless they set one."""
    organisation = read_toml(protocol).get("l2_inclusion")
    return {**({"l2.inclusion": organisation} if organisation else {}), **(overrides or {})}


def load_machine_text(text: str, where: str, overrides: Mapping[str, object] | None = None) -> Machine:
    """Read a resolved machine from a text, for example of a capture. where: the source, for messages."""
    return resolve(parse_toml(text, where), Machine, where, overrides)


def low_ram(ram: int) -> int:
    """Bytes of RAM below the PCI hole of QEMU's `pc` machine (hw/i386/pc_piix.c: 3 GiB once RAM reaches 3.5 GiB)."""
    return ram if ram < 7 * GIB // 2 else 3 * GIB

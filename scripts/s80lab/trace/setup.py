# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine and protocol that play a trace. All commands decide here: options, then the header, then the default."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import check_name, write_file
from s80lab.base.hashing import text_hash
from s80lab.base.strict import find_or_file, parse_settings, short_path
from s80lab.base.suggest import names
from s80lab.config.differences import value_text
from s80lab.config.machine import (
    Machine,
    default_tables,
    load_machine,
    load_machine_text,
    with_inclusion,
)
from s80lab.results.run_folder import MANIFEST, PROTOCOL

DEFAULT_MACHINE = "s80"
_ACCESSES = ("line_bytes", "processors.count", "processors.threads_per_core")
"""Values of a machine that the accesses of a capture depend on, or that say which processors share a core."""


@dataclass(frozen=True)
class Named:
    """The name or .toml file of a machine or protocol.

    where: the line of the trace that names it; empty: an option. file: the file, if it is known already.
    """

    name: str
    where: str = ""
    file: Path | None = None

    @property
    def table_name(self) -> str:
        """The name without folder and suffix."""
        return Path(self.name).stem if self.name.endswith(".toml") else self.name

    def path(self, kind: str, folder: Path) -> Path:
        """The file. UserError, which begins with the place, if there is none."""
        if self.file is not None:
            return self.file
        try:
            return find_or_file(kind, folder, self.name)
        except UserError as error:
            raise UserError(f"{self.where}: {error}" if self.where else str(error)) from None


@dataclass(frozen=True)
class Header:
    """The machine, protocol and settings that a trace names."""

    machine: Named | None = None
    protocol: Named | None = None
    settings: Mapping[str, object] = field(default_factory=dict)

    def text(self) -> str:
        """Equal for headers that name the same."""
        named = [one.name if one else None for one in (self.machine, self.protocol)]
        return repr([*named, {str(key): value for key, value in self.settings.items()}])


@dataclass(frozen=True)
class Decision:
    """The chosen machine and protocol (None: the default) and the settings of both sources."""

    machine: Named | None
    protocol: Named | None
    settings: dict[str, object]


def decide(machine: str | None, protocol: str | None, settings: Mapping[str, object], header: Header) -> Decision:
    """The options first, then the header. A setting of the key `protocol` names the protocol."""
    chosen = dict(header.settings)
    of_header = chosen.pop("protocol", None)
    for key, value in settings.items():
        chosen.pop(key, None)  # the key of an option names the option as the source of its value
        chosen[key] = value
    of_options = protocol or chosen.pop("protocol", None)
    if of_options is not None:
        named: Named | None = Named(str(of_options))
    else:
        named = header.protocol or (Named(str(of_header)) if of_header is not None else None)
    return Decision(Named(machine) if machine else header.machine, named, chosen)


@dataclass(frozen=True)
class Setup:
    """The machine and protocol that play accesses. The machine has the L2 organisation that the protocol asks for.

    base: the name or file of the machine without its settings; empty for a machine that only a capture holds.
    defaults: which of `machine` and `protocol` neither an option nor the trace names.
    """

    machine: Machine
    protocol: Path
    base: str = ""
    defaults: frozenset[str] = frozenset()

    @classmethod
    def load(cls, machine: str, protocol: str | None, settings: Sequence[str]) -> Setup:
        """Loads both by name or file and applies KEY=VALUE settings. Without `protocol`, the machine names it."""
        return choose(decide(machine, protocol, parse_settings(settings), Header()))

    def same(self, other: Setup) -> bool:
        """Whether both play equal accesses equally."""
        return _values(self.machine) == _values(other.machine) and (
            self.protocol.read_bytes() == other.protocol.read_bytes()
        )

    def reference(self) -> tuple[str, tuple[str, ...]]:
        """A machine by its name or file, and the settings that make this machine of it."""
        base = self.base or (self.machine.name if self.machine.name in names(paths.MACHINES) else DEFAULT_MACHINE)
        usual = load_machine(base, with_inclusion(self.protocol))
        mine, other = _values(self.machine), _values(usual)
        return base, tuple(f"{key}={value_text(key, mine[key])}" for key in mine if mine[key] != other.get(key))

    def table(self) -> str:
        """The protocol's name, if the table of this name is equal; else the path of the table."""
        name = self.machine.protocol
        if name in names(paths.PROTOCOLS):
            known = find_or_file("protocol", paths.PROTOCOLS, name)
            if known.samefile(self.protocol) or known.read_bytes() == self.protocol.read_bytes():
                return name
        return str(self.protocol)

    def header(self, folder: Path) -> list[str]:
        """The lines with which a text trace in `folder` names machine, settings and protocol."""
        base, settings = self.reference()
        lines = [f"# machine: {from_folder(folder, base)}", f"# protocol: {from_folder(folder, self.table())}"]
        return [*lines, *([f"# set: {' '.join(settings)}"] if settings else [])]

    def options(self) -> list[str]:
        """The options with which every trace command uses this machine and protocol."""
        base, settings = self.reference()
        sets = [word for setting in settings for word in ("--set", setting)]
        return ["--machine", base, "--protocol", self.table(), *sets]

    def sentence(self) -> str:
        """Machine, settings and protocol in one line, which names a default as one."""
        base, settings = self.reference()
        machine = f"machine {self.machine.name}"
        if base not in (self.machine.name, self.base):
            machine += f" ({base} with {' '.join(settings)})"
        else:
            machine += " (default)" if "machine" in self.defaults else ""
            machine += f" with {' '.join(settings)}" if settings else ""
        default = " (the machine's default)" if "protocol" in self.defaults else ""
        return f"{machine}, protocol {self.machine.protocol}{default}"


def from_folder(folder: Path, name: str) -> str:
    """A name, or the path of a file relative to `folder`."""
    return os.path.relpath(name, folder) if name.endswith(".toml") else name


def _values(machine: Machine) -> dict[str, Any]:
    """All values that a setting can change, by dotted keys."""
    values = default_tables() | machine.design() | {"guest.load_processors": machine.guest.load_processors}
    return {key: value for key, value in values.items() if key != "protocol"}


def choose(decision: Decision) -> Setup:
    """The machine and protocol of a decision. UserError names the option or line of the trace with a wrong value."""
    machine = decision.machine or Named(DEFAULT_MACHINE)
    machine.path("machine", paths.MACHINES)  # names the line of the trace if there is no such machine
    base = machine.name
    protocol = decision.protocol or Named(load_machine(base, decision.settings).protocol)
    table = protocol.path("protocol", paths.PROTOCOLS)
    made = load_machine(base, {**with_inclusion(table, decision.settings), "protocol": protocol.table_name})
    return Setup(made, table, base, _defaults(decision))


def _defaults(decision: Decision) -> frozenset[str]:
    chosen = {"machine": decision.machine, "protocol": decision.protocol}
    return frozenset(name for name, value in chosen.items() if value is None)


_ORIGIN = {"protocol_named": bool, "settings": list, "protocol_table": str}
"""What an import writes into the origin of a capture, beside the machine, which has its settings already.

protocol_named: whether an option or the trace named the protocol. settings: differences from the machine's file, as
KEY=VALUE. protocol_table: the text of the protocol's table.
"""


def origin_of(setup: Setup) -> dict[str, Any]:
    """The keys of `_ORIGIN` for a trace that `setup` plays."""
    return {
        "protocol_named": "protocol" not in setup.defaults,
        "settings": list(setup.reference()[1]),
        "protocol_table": setup.protocol.read_text(encoding="utf-8"),
    }


def capture_header(path: Path, protocol: str, origin: Mapping[str, Any]) -> tuple[Path, Header]:
    """The capture's own table of the protocol, and what the import names for replays on another machine.

    path: the capture. protocol: the name in the machine of its header. origin: the origin in its header.
    """
    where = f"{short_path(path)}: origin in the header of the capture"
    known = {key: origin.get(key, kind()) for key, kind in _ORIGIN.items()}
    settings = known["settings"]
    well_formed = all(isinstance(known[key], kind) for key, kind in _ORIGIN.items())
    if not well_formed or not all(isinstance(one, str) for one in settings):
        raise UserError(f"{where}: {', '.join(_ORIGIN)} have other types than s80lab writes; use another copy")
    table = _own_table(path, protocol, known["protocol_table"])
    named = Named(protocol, file=table) if known["protocol_named"] else None
    return table, Header(protocol=named, settings=parse_settings(settings, source=where))


def _own_table(path: Path, name: str, text: str) -> Path:
    """The table that was recorded, because the table of that name may have changed since: as a text in the header, or
    beside the capture of a live run. Without a recorded table: the present one."""
    # The machine in the header of a capture may name any file of this host.
    where = f"{short_path(path)}: protocol of the machine in the header of the capture"
    check_name(name, where, "name a protocol with --protocol")
    if text:
        known = paths.own(paths.PROTOCOLS) / f"{name}.toml", paths.PROTOCOLS / f"{name}.toml"
        for table in known:
            if table.is_file() and table.read_bytes() == text.encode():
                return table
        table = paths.BUILD / "tables" / text_hash(text)[:16] / f"{name}.toml"
        if not table.is_file():
            write_file(table, text)
        return table
    beside = path.parent / PROTOCOL
    if (path.parent / MANIFEST).is_file() and beside.is_file():
        return beside
    return find_or_file("protocol", paths.PROTOCOLS, name)


def capture_setup(
    path: Path, info: Mapping[str, Any], machine: str | None, protocol: str | None, sets: Sequence[str]
) -> Setup:
    """The machine and protocol for a capture: by default those in its header. info: the contents of the header.

    Another machine gets the line size and the processors of the capture, because the accesses depend on them.
    """
    where = f"the machine in the header of {short_path(path)}"
    own = load_machine_text(info["machine"], where)
    table, header = capture_header(path, own.protocol, _json(info["origin"]))
    settings = parse_settings(sets)
    if machine is not None:
        decision = decide(machine, protocol, settings, header)
        kept = parse_settings(f"{key}={own.design()[key]}" for key in _ACCESSES)
        return choose(replace(decision, settings={**kept, **decision.settings}))
    decision = decide(None, protocol, settings, Header(protocol=Named(own.protocol, file=table)))
    assert decision.protocol is not None
    chosen = decision.protocol.path("protocol", paths.PROTOCOLS)
    overrides = {**with_inclusion(chosen, decision.settings), "protocol": decision.protocol.table_name}
    return Setup(load_machine_text(info["machine"], where, overrides), chosen)


def is_imported(info: Mapping[str, Any]) -> bool:
    """Whether a capture comes from `trace import`, by the contents of its header."""
    return "imported" in _json(info["origin"])


def origin_text(origin: str) -> str:
    """The origin of a capture for a reader, without the text of the table."""
    content = _json(origin)
    return json.dumps({**content, "protocol_table": "..."}) if "protocol_table" in content else origin


def _json(origin: str) -> Mapping[str, Any]:
    """The origin in the header of a capture; empty if another program wrote it in another form."""
    try:
        content = json.loads(origin or "{}")
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}

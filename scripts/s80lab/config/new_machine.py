# SPDX-License-Identifier: GPL-2.0-or-later
"""The commented file of a new machine, made from an existing machine and changed values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import find, find_or_file, shown, size_text
from s80lab.base.suggest import names
from s80lab.base.toml_lines import toml_comment, toml_key, toml_value
from s80lab.config.machine import Machine, default_tables, load_machine, with_inclusion

TEMPLATE = Path(__file__).with_name("templates") / "machine.toml"
"""Each `@` stands for the value of the key. Tables that the machine does not use become comments."""
_OPTIONAL = ("translation", "bandwidth", "smt")
_SIZES = (".size", ".page_table")


def new_machine(name: str, source: str, overrides: Mapping[str, object]) -> Machine:
    """The new machine. UserError if it cannot have these values.

    name: of the new machine. source: the machine that it is made from. overrides: changed values by dotted keys.
    """
    if "name" in overrides:
        raise UserError(f"--set name={overrides['name']}: the machine has the name of its file; omit the setting")
    base = load_machine(source)
    protocol = _protocol(overrides.get("protocol", base.protocol))
    named = {"protocol": protocol.stem} if "protocol" in overrides else {}
    machine = load_machine(source, with_inclusion(protocol, {**overrides, **named}))
    changed = [f"{key}={value}" for key, value in overrides.items() if key != "description"]
    described = f"{source} with {', '.join(changed)}" if changed else f"{source}, to be changed"
    update = {
        "name": name,
        "description": machine.description if "description" in overrides else described,
        "provenance": _provenance(name, base, machine),
    }
    return machine.model_copy(update=update)


def machine_text(machine: Machine, file: str, source: str) -> str:
    """The content of the machine's file. file: its path; source: the machine that it is made from; both for the
    comments."""
    values = {
        **default_tables(),
        **_values(machine),
        "name": machine.name,
        "description": machine.description,
    }
    unused = {table for table in _OPTIONAL if getattr(machine, table) == Machine.model_fields[table].default}
    comments = {"@FROM@": toml_comment(source), "@FILE@": toml_comment(file)}
    lines = []
    table = ""
    for line in TEMPLATE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            lines.append(re.sub("@[A-Z]+@", lambda found: comments[found[0]], line))
            continue
        if header := re.match(r"\[(\w+)\]", line):
            table = f"{header[1]}."
        if found := re.match(r"(\w+) = @( *)(.*)", line):
            key, blanks, comment = found.groups()
            value = _shown(f"{table}{key}", values[f"{table}{key}"])
            line = f"{key} = {value}" + (f"{blanks[len(value) - 1 :] or '  '}{comment}" if comment else "")
        lines.append(f"# {line}" if table[:-1] in unused and line else line)
    lines += [f"{toml_key(key)} = {toml_value(text)}" for key, text in machine.provenance.items()]
    return "\n".join(lines) + "\n"


def _protocol(name: object) -> Path:
    """The file of the protocol. UserError for a file outside of the folders of protocols: a machine file contains the
    name of a protocol, which would be another protocol there."""
    path = find_or_file("protocol", paths.PROTOCOLS, str(name))
    named = find("protocol", paths.PROTOCOLS, path.stem) if path.stem in names(paths.PROTOCOLS) else None
    if named is None or named.resolve() != path.resolve():
        folder = shown(paths.own(paths.PROTOCOLS))
        raise UserError(
            f"--set protocol={name}: a machine file contains the name of a protocol, not a path; copy the file to "
            f"{folder} under a name of its own, then write this name without .toml"
        )
    return named


def _values(machine: Machine) -> dict[str, Any]:
    """All values by dotted keys."""
    guest = {f"guest.{key}": value for key, value in machine.guest.model_dump().items()}
    return {**machine.design(), **guest, "protocol": machine.protocol}


def _shown(key: str, value: object) -> str:
    return toml_value(size_text(int(str(value))) if key.endswith(_SIZES) else value)


def _provenance(name: str, base: Machine, machine: Machine) -> dict[str, str]:
    """The origin of each value: that of the base, that which the user has set, or that the value was chosen for this
    machine."""
    before, after = _values(base), _values(machine)
    own = {key for key, text in machine.provenance.items() if base.provenance.get(key) != text}
    changed = [key for key in after if key != "protocol" and before.get(key) != after[key] and key not in own]
    kept = {key: text for key, text in machine.provenance.items() if key not in changed}
    return kept | dict.fromkeys(changed, f"assumed: chosen for {name}")

# SPDX-License-Identifier: GPL-2.0-or-later
"""The commented file of a new machine, made from an existing machine and changed values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from s80lab.base import paths
from s80lab.base.strict import find_or_file, size_text
from s80lab.base.toml_lines import toml_key, toml_value
from s80lab.config.machine import Machine, default_tables, load_machine, with_inclusion

TEMPLATE = Path(__file__).with_name("templates") / "machine.toml"
"""Each `@` stands for the value of the key. Tables that the machine does not use become comments."""
_OPTIONAL = ("translation", "bandwidth", "smt")
_SIZES = (".size", ".page_table")


def machine_text(name: str, file: str, source: str, overrides: Mapping[str, object]) -> str:
    """The content of the file.

    name: of the new machine. file: its path, for the comments. source: the machine that it is made from. overrides:
    changed values by dotted keys. UserError if the machine cannot have them.
    """
    base = load_machine(source)
    protocol = find_or_file("protocol", paths.PROTOCOLS, str(overrides.get("protocol", base.protocol)))
    machine = load_machine(source, with_inclusion(protocol, {**overrides, "protocol": protocol.stem}))
    changed = [f"{key}={value}" for key, value in overrides.items()]
    described = f"{source} with {', '.join(changed)}" if changed else f"{source}, to be changed"
    values = {**default_tables(), **_values(machine), "name": name, "description": described}
    unused = {table for table in _OPTIONAL if getattr(machine, table) == Machine.model_fields[table].default}
    text = TEMPLATE.read_text(encoding="utf-8").replace("@FROM@", source).replace("@FILE@", file)
    lines = []
    table = ""
    for line in text.splitlines():
        if header := re.match(r"\[(\w+)\]", line):
            table = f"{header[1]}."
        if found := re.match(r"(\w+) = @( *)(.*)", line):
            key, blanks, comment = found.groups()
            value = _shown(f"{table}{key}", values[f"{table}{key}"])
            line = f"{key} = {value}" + (f"{blanks[len(value) - 1 :] or '  '}{comment}" if comment else "")
        lines.append(f"# {line}" if table[:-1] in unused and line else line)
    lines += [f"{toml_key(key)} = {toml_value(text)}" for key, text in _provenance(name, base, machine).items()]
    return "\n".join(lines) + "\n"


def _values(machine: Machine) -> dict[str, Any]:
    """All values by dotted keys."""
    guest = {f"guest.{key}": value for key, value in machine.guest.model_dump().items()}
    return {**machine.design(), **guest, "protocol": machine.protocol}


def _shown(key: str, value: object) -> str:
    return toml_value(size_text(int(str(value))) if key.endswith(_SIZES) else value)


def _provenance(name: str, base: Machine, machine: Machine) -> dict[str, str]:
    """The origin of each value: that of the base, or that the value was chosen for this machine."""
    before, after = _values(base), _values(machine)
    changed = [key for key in after if key != "protocol" and before.get(key) != after[key]]
    kept = {key: text for key, text in base.provenance.items() if key not in changed}
    return kept | dict.fromkeys(changed, f"assumed: chosen for {name}")

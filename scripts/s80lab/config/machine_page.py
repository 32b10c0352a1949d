# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference page of machine keys, from the declarations of the model."""

from __future__ import annotations

from s80lab.base import paths
from s80lab.config.machine import KEYS, TABLES, allowed_values

PAGE = paths.HOME / "docs" / "reference" / "machine-keys.md"
_HEAD = """\
# Keys of a machine file
This page lists the keys of the modelled machine, for people who write a file in `configs/machines`. A file needs only
the keys without a default. If the column *default* contains "absent", a machine may lack the table or the key. The
command `s80lab machine show NAME` prints all values of a machine, and
[Add a machine](../guides/extending.md#add-a-machine) explains how to make one. The table `[guest]` and the keys `name`,
`description`, `protocol` and `[provenance]` are explained in the file that `s80lab machine new` writes.

The parts of the model declare the keys in C++; `python -m s80lab.commands.pages` writes this page.

| key | values | default | unit | meaning |
| --- | --- | --- | --- | --- |
"""


def machine_page() -> str:
    """The content of the page."""
    rows = []
    for name, table in TABLES.items():
        if name:
            needed = any("default" not in key and not key.get("optional") for key in table["keys"])
            default = " absent " if table["optional"] and needed else " "
            rows.append(f"| `[{name}]` | |{default}| | {table['text']} |")
        for word in table["keys"]:
            key = f"{name}.{word['name']}".removeprefix(".")
            default = KEYS[key].get("default", "absent" if word.get("optional") else "")
            rows.append(f"| `{key}` | {allowed_values(key)} | {default} | {word['unit']} | {word['text']} |")
    return _HEAD + "\n".join(rows) + "\n"

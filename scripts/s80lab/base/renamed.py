# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of older versions, each with the name that replaced it. s80lab refuses an old name with the new name.

After a rename, add the old name here and to the table in docs/guides/troubleshooting.md. No other code is necessary:
s80lab.base.suggest reads these tables for every unknown name.
"""

from __future__ import annotations

from collections.abc import Collection

METRICS = {"body_mbit_per_s": "body_mbit", "stream_mbit_per_s": "stream_mbit"}
PROGRAMS = {"s80-order count": "s80-step count", "s80-order step": "s80-step step"}
"""Commands of programs in C++; the old program itself prints the new name."""

RENAMED = {"metric": METRICS, "program": PROGRAMS}
"""The tables by kind of name: `command`, `option` (with its hyphens), `key`, `table`, `column`, `experiment`, ..."""


def rename_sentence(name: str, allowed: Collection[str]) -> str:
    """The sentence "`OLD` is now `NEW`" if `name` was renamed to one of the allowed names; else empty."""
    new = next((table[name] for table in RENAMED.values() if table.get(name) in allowed), None)
    return f"`{name}` is now `{new}`" if new else ""

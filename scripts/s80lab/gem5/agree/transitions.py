# SPDX-License-Identifier: GPL-2.0-or-later
"""Ruby's transition counts out of gem5's stats.txt: rows `...CONTROLLER.STATE.EVENT`, summed over the controllers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from s80lab.base.errors import UserError
from s80lab.gem5.stats import BEGIN, END

CONTROLLERS = ("L1Cache_Controller", "Directory_Controller")
# A vector over controllers prints STATE.EVENT once by controller behind it (| columns) or in rows with ::total.
_ROW = re.compile(rf"^\S*?({'|'.join(CONTROLLERS)})\.(\w+)\.(\w+)(?:::(\w+))?\s+(.*)$")


def parse(text: str, where: str) -> dict[str, int]:
    """Counts by `CONTROLLER.STATE.EVENT`; UserError where the text holds no whole dump of Ruby's statistics."""
    if BEGIN not in text or END not in text[text.rindex(BEGIN) :]:
        raise UserError(
            f"{where}: holds no whole dump of statistics (begin and end line): gem5 ended early, or it is truncated"
        )
    dump = text[text.rindex(BEGIN) :]
    rows: dict[str, int] = {}
    for line in dump.splitlines():
        match = _ROW.match(line)
        if match is None:
            continue
        controller, state, event, element, rest = match.groups()
        key = f"{controller}.{state}.{event}"
        count = _count(rest, line, where)
        if element == "total":
            rows[key] = count
        elif element is None:
            # One controller alone prints no vector.
            rows.setdefault(key, count)
    for controller in CONTROLLERS:
        if not any(key.startswith(controller) for key in rows):
            raise UserError(f"{where}: has no transition of {controller}: no replay through MOESI_hammer")
    return rows


def trim(text: str, keys: Iterable[str]) -> str:
    """The dump with the rows of these keys alone: what is kept as recorded output."""
    wanted = set(keys)
    kept = []
    for line in text[text.rindex(BEGIN) :].splitlines():
        match = _ROW.match(line)
        if line in (BEGIN, END) or (
            match and f"{match[1]}.{match[2]}.{match[3]}" in wanted and match[4] in (None, "total")
        ):
            kept.append(line)
    return "\n".join(kept) + "\n"


def _count(rest: str, line: str, where: str) -> int:
    """The last of a vector's columns is its total; a scalar has one."""
    words = rest.split("#")[0].replace("|", " ").split()
    numbers = [word for word in words if word.isdigit()]
    if not numbers:
        raise UserError(f"{where}: the row `{line.strip()}` has no count")
    return int(numbers[0])

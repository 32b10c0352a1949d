# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads Ruby's transition counts from gem5's stats.txt: rows `...CONTROLLER.STATE.EVENT`, summed over the
controllers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from s80lab.base.errors import UserError
from s80lab.gem5.stats import BEGIN, END, NOTHING, dumps_of

CONTROLLERS = ("L1Cache_Controller", "Directory_Controller")
# A vector over controllers has one row with a column a controller, or rows of its elements with one ::total.
_NAME = re.compile(rf"\S*?({'|'.join(CONTROLLERS)})\.(\w+)\.(\w+)(?:::(\w+))?")


def parse(text: str, where: str, renamed: Mapping[str, str] = NOTHING) -> dict[str, int]:
    """Counts of the last dump by `CONTROLLER.STATE.EVENT`. UserError: the text is cut short or has no such counts.
    renamed: as in read_dumps."""
    *_, last = dumps_of(text.splitlines(), where, renamed)
    rows: dict[str, int] = {}
    for name, values in last.rows.items():
        match = _NAME.fullmatch(name)
        if match is None:
            continue
        controller, state, event, element = match.groups()
        if element in (None, "total"):
            rows[f"{controller}.{state}.{event}"] = int(sum(values))
    for controller in CONTROLLERS:
        if not any(key.startswith(controller) for key in rows):
            raise UserError(
                f"{where}: the file has no transitions of {controller}, so it is not the output of a replay "
                "through MOESI_hammer: repeat the command"
            )
    return rows


def trim(text: str, keys: Iterable[str]) -> str:
    """The dump reduced to the rows of these keys. Recorded outputs are stored in this form."""
    wanted = set(keys)
    kept = []
    for line in text[text.rindex(BEGIN) :].splitlines():
        match = _NAME.match(line)
        if line in (BEGIN, END) or (
            match and f"{match[1]}.{match[2]}.{match[3]}" in wanted and match[4] in (None, "total")
        ):
            kept.append(line)
    return "\n".join(kept) + "\n"

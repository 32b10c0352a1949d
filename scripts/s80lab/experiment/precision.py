# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab run --until 2%`: how many seeds the named shares need until their intervals are narrow enough.

Seeds are independent starts, so the half-width of the 95% interval shrinks with the square root of their number, and
more seeds help where a longer region would only show the same start for longer. Runs that are no result do not count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from s80lab.base.errors import UserError
from s80lab.base.strict import hint
from s80lab.base.student import student_t
from s80lab.report.data import Group
from s80lab.report.interval import Estimate

# What `--of` calls the shares of the headline.
SHARES = {
    "memory": "miss_source.all.memory",
    "M": "miss_source.all.M",
    "O": "miss_source.all.O",
    "E": "miss_source.all.E",
    "S": "miss_source.all.S",
    "e": "e_share",
    "e-to-m": "e_to_m_share",
    "upgrades-saved": "upgrades_saved_share",
    "kernel": "kernel_share.cycles",
}
USUAL = "memory,e"


@dataclass(frozen=True)
class Wanted:
    """half_width: of the 95% interval, at most, as a share; names: of SHARES; most: seeds, in all."""

    half_width: float
    names: tuple[str, ...]
    most: int


def parse_wanted(until: str, of: str, most: int) -> Wanted:
    """The options --until, --of and --max-seeds; UserError says what may be written."""
    number = until.removesuffix("%")
    try:
        percent = float(number)
    except ValueError:
        percent = math.nan
    if number == until or not 0 < percent < 100:
        raise UserError(f"--until {until}: write points of percent, for example 2%")
    names = tuple(dict.fromkeys(of.split(",")))
    unknown = next((name for name in names if name not in SHARES), None)
    if unknown is not None:
        raise UserError(f"--of {of}: there is no share `{unknown}`: {hint(unknown, SHARES)}")
    return Wanted(percent / 100, names, most)


def missing_seeds(group: Group, wanted: Wanted) -> int:
    """How many more seeds it seems to take, at least 1 unless every share is reached, within the most that are
    allowed. 0 too where no run of several is a result: more of the same would be none either."""
    ran = len(group.runs) + len(group.excluded)
    hopeless = ran > 1 and bool(group.reasons)
    lacking = [_lacking(group.estimate(SHARES[name]), wanted.half_width) for name in wanted.names]
    return 0 if hopeless else max(0, min(max(lacking), wanted.most - ran))


def _lacking(found: Estimate | None, half_width: float) -> int:
    if found is None or found.half_width is None:
        return 1
    deviation = found.half_width * math.sqrt(found.n) / student_t(found.n - 1)
    needed = found.n
    while student_t(needed - 1) * deviation / math.sqrt(needed) > half_width and needed < 10 * found.n:
        needed += 1
    return needed - found.n


def reached(group: Group, wanted: Wanted) -> bool:
    """Whether every named share of results is known that well."""
    widths = [None if found is None else found.half_width for found in _estimates(group, wanted)]
    good = not group.reasons
    return good and all(width is not None and width <= wanted.half_width for width in widths)


def statement(group: Group, wanted: Wanted) -> str:
    """`imapb: memory 61.2 ± 1.9%, e 51.0 ± 1.2% with 4 seeds: within 2 points`."""
    shares = ", ".join(
        f"{name} {_shown(found)}" for name, found in zip(wanted.names, _estimates(group, wanted), strict=True)
    )
    verdict = "within" if reached(group, wanted) else "not within"
    counted = f"{len(group.runs)} seed{'s' * (len(group.runs) > 1)}"
    return f"{group.label}: {shares} with {counted}: {verdict} {100 * wanted.half_width:g} points"


def _estimates(group: Group, wanted: Wanted) -> Sequence[Estimate | None]:
    return [group.estimate(SHARES[name]) for name in wanted.names]


def _shown(found: Estimate | None) -> str:
    if found is None:
        return "-"
    return f"{100 * found.mean:.1f}" + ("%" if found.half_width is None else f" ± {100 * found.half_width:.1f}%")

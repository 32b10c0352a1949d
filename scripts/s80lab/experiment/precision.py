# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab run --until 2%`: number of seeds that the named shares need for narrow enough intervals.

The half-width of the 95% interval is taken to shrink with the square root of the number of seeds. Invalid runs do not
count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from s80lab.analysis.groups import Group
from s80lab.analysis.interval import Estimate
from s80lab.base.errors import UserError
from s80lab.base.student import student_t
from s80lab.base.suggest import hint
from s80lab.base.vocabulary import LABELS

# What `--of` calls the shares of the headline.
SHARES = {
    **{source: f"miss_source.all.{source}" for source in ("memory", *LABELS["state"])},
    "e": "e_share",
    "e-to-m": "e_to_m_share",
    "upgrades-saved": "upgrades_saved_share",
    "kernel": "kernel_share.cycles",
}
USUAL = "memory,e"


@dataclass(frozen=True)
class Wanted:
    """The wanted precision.

    half_width: largest half-width of the 95% interval, as a share.
    names: names of SHARES.
    most: largest number of seeds.
    """

    half_width: float
    names: tuple[str, ...]
    most: int


def parse_wanted(until: str, shares: str, most: int) -> Wanted:
    """Parse the options --until, --of and --max-seeds. UserError states the allowed values."""
    number = until.removesuffix("%")
    try:
        percent = float(number)
    except ValueError:
        percent = math.nan
    if number == until or not 0 < percent < 100:
        raise UserError(f"--until {until}: write a half-width in percentage points, for example 2%")
    names = tuple(dict.fromkeys(shares.split(",")))
    unknown = next((name for name in names if name not in SHARES), None)
    if unknown is not None:
        raise UserError(f"--of {shares}: there is no share `{unknown}`: {hint(unknown, SHARES)}")
    return Wanted(percent / 100, names, most)


def missing_seeds(group: Group, wanted: Wanted) -> int:
    """Estimated number of further seeds, within the limit; at least 1 unless every share is precise enough.

    The number is 0 if there are several runs and none is valid, because further runs would be invalid too.
    """
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
    """Whether all named shares of valid runs have the wanted precision."""
    widths = [None if found is None else found.half_width for found in _estimates(group, wanted)]
    good = not group.reasons
    return good and all(width is not None and width <= wanted.half_width for width in widths)


def statement(group: Group, wanted: Wanted) -> str:
    """One line of text: `imapb: memory 61.2 ± 1.9%, e 51.0 ± 1.2% with 4 seeds: within 2 points`."""
    shares = ", ".join(
        f"{name} {_percent_text(found)}" for name, found in zip(wanted.names, _estimates(group, wanted), strict=True)
    )
    verdict = "within" if reached(group, wanted) else "not within"
    counted = f"{len(group.runs)} seed{'s' * (len(group.runs) > 1)}"
    return f"{group.label}: {shares} with {counted}: {verdict} {100 * wanted.half_width:g} points"


def _estimates(group: Group, wanted: Wanted) -> Sequence[Estimate | None]:
    return [group.estimate(SHARES[name]) for name in wanted.names]


def _percent_text(found: Estimate | None) -> str:
    if found is None:
        return "-"
    return f"{100 * found.mean:.1f}" + ("%" if found.half_width is None else f" ± {100 * found.half_width:.1f}%")

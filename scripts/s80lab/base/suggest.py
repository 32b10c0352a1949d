# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of files in the configuration folders, and hints for names that do not exist. This module reads no file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from s80lab.base import paths
from s80lab.base.renamed import rename_sentence

MOST_NAMES = 40
"""Largest number of names that a hint lists; of more names, only the nearest are listed."""
SHORT_LIST = 72
"""Largest length in characters of a list that a hint adds to a name that is near."""
SIMILAR = 0.65
"""Least similarity of a name that is near, as difflib counts it: 1 for equal names."""


def names(folder: Path) -> list[str]:
    """The names of the TOML files in a shipped folder, and in the same folders of the lab and of the studies."""
    return sorted({path.stem for place in paths.places(folder) for path in place.glob("*.toml")})


def closest(name: str, allowed: Iterable[str]) -> str | None:
    """The allowed name that resembles `name` most; None if no name resembles it.

    Case and leading hyphens do not matter. A swap of two neighbouring letters ranks before any other mistake. A single
    allowed name that begins with `name`, or contains it, counts as similar.
    """
    lower = {one.lower().lstrip("-"): one for one in sorted(allowed)}
    wanted = name.lower().lstrip("-")
    near = difflib.get_close_matches(wanted, lower, n=1, cutoff=SIMILAR)
    for found in (
        near if near and near[0] == wanted else [],
        [one for one in lower if _is_swap(wanted, one)],
        [one for one in lower if wanted and one.startswith(wanted)],
        near,
        [one for one in lower if len(wanted) > 1 and wanted in one],
    ):
        if found:
            return lower[found[0]]
    return None


def nearest(name: str, allowed: Iterable[str], most: int = 3) -> list[str]:
    """The allowed names that resemble `name` most, the closest first, then names that contain it."""
    known = sorted({*allowed} - {name})
    wanted = name.lower()
    similar = difflib.get_close_matches(wanted, known, n=most, cutoff=SIMILAR)
    part = wanted.removesuffix("s")
    containing = [one for one in known if len(part) > 1 and part in one.lower()]
    first = closest(name, known)
    return list(dict.fromkeys([*([first] if first else []), *similar, *containing]))[:most]


def _is_swap(first: str, second: str) -> bool:
    """Whether two words differ only by a swap of two neighbouring letters."""
    differ = [place for place, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]]
    return (
        len(first) == len(second)
        and len(differ) == 2
        and differ[1] == differ[0] + 1
        and (first[differ[0]], first[differ[1]]) == (second[differ[1]], second[differ[0]])
    )


def suggestion(name: str, allowed: Iterable[str]) -> str:
    """A remark after a wrong name: ` (did you mean a?)`, or the new name if `name` was renamed; empty if neither."""
    known = sorted({*allowed} - {name})
    near = closest(name, known)
    remark = rename_sentence(name, known) or (f"did you mean {near}?" if near else "")
    return f" ({remark})" if remark else ""


def hint(name: str, allowed: Iterable[str]) -> str:
    """A hint for a wrong name: `did you mean a?`, or the new name if `name` was renamed. It never names `name` itself.

    `allowed are a, b` follows if the list is short, and stands alone if no name is near. Of many allowed names, only
    the nearest are listed.
    """
    known = sorted({*allowed} - {name})
    if sentence := rename_sentence(name, known):
        return sentence
    listed = f"allowed are {', '.join(known)}"
    if near := closest(name, known):
        return f"did you mean {near}?" + (f" ({listed})" if len(listed) <= SHORT_LIST else "")
    if len(known) > MOST_NAMES:
        near_names = difflib.get_close_matches(name, known, n=5, cutoff=0.5)
        return f"{len(known)} are allowed" + (f", the nearest: {', '.join(near_names)}" if near_names else "")
    return listed

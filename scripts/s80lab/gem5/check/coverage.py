# SPDX-License-Identifier: GPL-2.0-or-later
"""Which transitions of MOESI_hammer the traces of the check reach, and which exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from s80lab.gem5.check.traces import FOLDER

LIST = FOLDER / "transitions.txt"

Transitions = dict[str, list[str]]
"""STATE.EVENT by controller, sorted."""


def existing() -> Transitions:
    """The transitions of the releases on which s80lab was tried (configs/gem5/check/transitions.txt)."""
    found: Transitions = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            place, _, events = line.partition(": ")
            controller, state = place.split()
            found.setdefault(controller, []).extend(f"{state}.{event}" for event in events.split())
    return {controller: sorted(names) for controller, names in found.items()}


def reached(counts: Iterable[Mapping[str, int]]) -> Transitions:
    """The transitions CONTROLLER.STATE.EVENT that any of these counts has, by controller."""
    found: dict[str, set[str]] = {}
    for rows in counts:
        for row, count in rows.items():
            controller, _, transition = row.partition(".")
            if count:
                found.setdefault(controller, set()).add(transition)
    return {controller: sorted(names) for controller, names in sorted(found.items())}
